//! Asks the model, a server or the built-in scorer, about one submission, and reads the names of the
//! models that a server lists at `GET /models` below its base address.
//!
//! Sources: OpenAI's `{"data": [{"id"}]}`; `{"models": [{"name"}]}` of Jev's host and Google.

use refract_boxed_futures::boxed;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_traces::CallTrace;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::attempts::{CallSender, RequestSender};
use crate::connection::request_body::RequestBody;
use crate::error::{ModelError, ServerMessage};
use crate::estimate::Estimator;
use crate::json::{list, nested, object, string};
use crate::priority_queue::CallPriority;
use crate::protocols::{ServerProtocol, demo_scorer};
use crate::report::usage::kept_name;
use crate::report::{ModelReport, ReportRecorder, ReportedUsage, truncated_to};
use crate::servers::ServerPlace;
use crate::settings::{ModelEndpoint, ModelPrices, ModelSettings, PROMPT_VERSION};

/// One thread's handle for asking the model. Clones share the thread's connections.
#[derive(Clone)]
pub struct Model {
    /// `None` for the built-in scorer.
    pub(crate) server: Option<ServerModel>,
    pub(crate) settings: Arc<ModelSettings>,
    /// The trace of the request that asks; off outside of requests.
    pub(crate) trace: CallTrace,
    pub(crate) priority: CallPriority,
}

/// A model behind one or several servers.
#[derive(Clone)]
pub(crate) struct ServerModel {
    pub(crate) protocol: ServerProtocol,
    pub(crate) sender: RequestSender,
}

/// The outcome of asking the model about one submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// An answer to each question, in the version's order, or the reason for the failure.
    pub outcome: Result<Answers, ModelError>,
    /// Time from the start of the first attempt to the last answer, pauses included (readings).
    pub took: Duration,
    /// Counts of requests, attempts and tokens.
    pub report: ModelReport,
    /// The server's message about the failure. Only for the terminal of `refract model check`: it
    /// may repeat a text or a key.
    pub server_message: Option<ServerMessage>,
}

#[boxed(local)]
impl Model {
    /// Traces each attempt as part of one request, and sends the trace's headers to the server.
    pub fn traced(self, trace: CallTrace) -> Self {
        Self { trace, ..self }
    }

    /// Requests a minute that the model's servers are seen to take together; `None` unless each of
    /// them has refused some of late.
    pub fn learned_per_minute(&self) -> Option<u64> {
        let mut servers = self.server.as_ref()?.sender.pool.uses();
        servers.try_fold(0, |sum: u64, server| {
            Some(sum.saturating_add(server.learned_per_minute?))
        })
    }

    /// What was learned about the servers so far, and the name under which to keep it; `None` for the
    /// built-in scorer.
    pub fn learned(&self) -> Option<(String, String)> {
        let server = self.server.as_ref()?;
        let learned = server.protocol.learned().to_string();
        Some((self.settings.servers_name(), learned))
    }

    /// Asks with this priority: who goes first where a server's pace or the concurrency limit holds
    /// requests back.
    #[must_use]
    pub fn with_priority(self, priority: CallPriority) -> Self {
        Self { priority, ..self }
    }

    /// The name of the model that is asked for.
    pub fn name(&self) -> &str {
        match self.server {
            None => demo_scorer::NAME,
            Some(_) => &self.settings.name,
        }
    }

    /// Asks the same servers for the model of another name, with the same connections, pace and
    /// limits. The built-in scorer has no other name.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let ModelEndpoint::Servers(addresses) = &self.settings.endpoint else {
            return self;
        };
        if name == self.settings.name {
            return self;
        }
        let settings = Arc::new(ModelSettings {
            name: name.to_owned(),
            ..ModelSettings::clone(&self.settings)
        });
        let server = self.server.map(|server| ServerModel {
            // what was learned of one model may not be true of another
            protocol: ServerProtocol::new(&settings, addresses),
            sender: RequestSender {
                settings: Arc::clone(&settings),
                ..server.sender
            },
        });
        Self {
            server,
            settings,
            ..self
        }
    }

    /// A model for the calling thread; only its clones share its connections.
    #[must_use]
    pub fn with_own_connections(&self) -> Self {
        let server = self.server.as_ref().map(|server| ServerModel {
            protocol: server.protocol.clone(),
            sender: server.sender.with_own_connections(),
        });
        Self {
            server,
            ..self.clone()
        }
    }

    /// Whether the built-in scorer answers. Every surface that shows its answers must say so.
    pub fn is_for_trying_only(&self) -> bool {
        self.server.is_none()
    }

    /// What tokens cost where the host does not say so, if prices are set.
    pub fn prices(&self) -> Option<ModelPrices> {
        self.settings.prices
    }

    /// An estimator for the cost of asking this version's questions.
    pub fn estimator(&self, version: &PrismVersion) -> Estimator {
        Estimator::new(&self.settings, version)
    }

    /// Asks all of a version's questions about one submission.
    ///
    /// Once the pace and the concurrency limit let the requests pass, this takes at most two attempts and
    /// the pause between them, for any number of questions. Dropping the future abandons requests
    /// in flight.
    pub async fn answer(&self, version: &PrismVersion, submission: &Submission) -> ModelReply {
        let recorder = self.recorder();
        let outcome = match &self.server {
            None => answer_by_demo_scorer(version, submission, &recorder),
            Some(ServerModel { protocol, sender }) => {
                let call = CallSender::new(sender, &recorder, &self.trace, self.priority);
                protocol.ask(&call, version, submission).await
            }
        };
        let took = recorder.took();
        let server_message = match &outcome {
            Err(failure) if failure.is_reported_by_server() => {
                ServerMessage::in_body(&recorder.take_last_body())
            }
            Ok(_) | Err(_) => None,
        };
        let most_read = recorder.most_read();
        let mut report = recorder.into_report();
        report.truncated_to = truncated_to(most_read, version, submission);
        if let Err(ModelError::TooBusy(_)) = outcome {
            // the failing request was never sent
            report.host_request_id = None;
        }
        warn(&report, outcome.as_ref().err(), took);
        ModelReply {
            outcome,
            took,
            report,
            server_message,
        }
    }

    fn recorder(&self) -> ReportRecorder {
        match &self.server {
            None => ReportRecorder::new(demo_scorer::PROTOCOL, None, None),
            Some(_) => ReportRecorder::new(
                self.settings.protocol.name(),
                Some(PROMPT_VERSION),
                self.settings.prices,
            ),
        }
    }
}

/// Logs a failure, and a text that the server cut.
fn warn(report: &ModelReport, failure: Option<&ModelError>, took: Duration) {
    if let Some(failure) = failure {
        tracing::warn!(
            kind = failure.kind(),
            protocol = report.protocol,
            model = report.model,
            host_request_id = report.host_request_id,
            requests = report.requests,
            attempts = report.attempts,
            ?took,
            %failure,
            "a call to the model failed"
        );
    }
    if let Some(tokens) = report.truncated_to {
        tracing::warn!(
            protocol = report.protocol,
            model = report.model,
            host_request_id = report.host_request_id,
            tokens,
            "the model server cut a text without an error: it read far fewer tokens than the text \
             has"
        );
    }
}

fn answer_by_demo_scorer(
    version: &PrismVersion,
    submission: &Submission,
    recorder: &ReportRecorder,
) -> Result<Answers, ModelError> {
    recorder.start_clock();
    recorder.add_usage(&ReportedUsage {
        model: Some(demo_scorer::NAME.to_owned()),
        ..ReportedUsage::default()
    });
    demo_scorer::answer(version, submission)
}

#[boxed(local)]
impl Model {
    /// The names of the models that the first server lists, in its order. Empty if it lists none,
    /// and for the built-in scorer and the whole address of an endpoint, which are not asked.
    ///
    /// # Errors
    /// No answer came within `wait`.
    pub async fn listed_models(&self, wait: Duration) -> Result<Vec<String>, ModelError> {
        let ModelEndpoint::Servers(addresses) = &self.settings.endpoint else {
            return Ok(Vec::new());
        };
        let first = ServerPlace::default();
        let path = addresses.of(first).path_below("models");
        let (Some(server), Some(path)) = (&self.server, path) else {
            return Ok(Vec::new());
        };
        let connections = server.sender.connections.of(first);
        let head = Cell::default();
        let exchange = connections.exchange(RequestBody::none(&path), None, &head);
        let reply = timeout(wait, exchange).await;
        let reply = reply.map_err(|_| ModelError::TimedOut(wait))??;
        Ok(names_in(reply.body()))
    }
}

/// The names in the body of an answer with any status.
fn names_in(body: &[u8]) -> Vec<String> {
    let listing: ListingJson<'_> = object(body).unwrap_or_default();
    let lists = [listing.data, listing.models].into_iter().flatten();
    let mut names = lists.map(|raw| {
        let entries = list(raw).unwrap_or_default();
        entries.into_iter().filter_map(name).collect::<Vec<_>>()
    });
    let names = names.find(|names| !names.is_empty());
    names.unwrap_or_default()
}

fn name(entry: &RawValue) -> Option<String> {
    let entry: ListedModelJson<'_> = nested(entry)?;
    let name = entry.id.and_then(string);
    let name = name.or_else(|| entry.name.and_then(string))?;
    kept_name(&name)
}

#[derive(Default, Deserialize)]
struct ListingJson<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    models: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ListedModelJson<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_servers_list_them() {
        for (body, names) in [
            (
                r#"{"object":"list","data":[{"id":"qwen","object":"model"},{"id":"gemma"}]}"#,
                &["qwen", "gemma"][..],
            ),
            (
                r#"{"models":[{"name":"jev-latest","description":"…"},{"name":"jev-1.13.0"}]}"#,
                &["jev-latest", "jev-1.13.0"],
            ),
            // llama.cpp has both lists
            (
                r#"{"models":[{"name":"a","model":"a"}],"data":[{"id":"a.gguf"}]}"#,
                &["a.gguf"],
            ),
            (r#"{"data":[],"models":[{"name":"m"}]}"#, &["m"]),
            (r#"{"data":[7,{},{"id":" "},{"id":7,"name":"m"}]}"#, &["m"]),
            (r#"{"data":{"id":"m"}}"#, &[]),
            (r#"{"detail":"Not Found"}"#, &[]),
            ("<html>", &[]),
            ("", &[]),
        ] {
            assert_eq!(names_in(body.as_bytes()), names, "{body}");
        }
    }
}
