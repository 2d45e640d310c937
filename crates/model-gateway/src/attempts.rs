//! Sends one model request in up to two attempts. The second attempt follows an overloaded or
//! failing server, or a refused API key that was renewed since.
//!
//! An attempt's timeout covers sending, waiting and reading. It starts when the server's pace and the
//! concurrency limit let the request pass, so that a full node is not mistaken for a slow model.
//!
//! With several servers, all requests of a call go to one server and share its prefix cache. The
//! second attempt goes to another server. A server that cannot be reached is skipped: nothing was
//! sent, so no model was asked.

pub(crate) mod admission;
pub(crate) mod attempt_end;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use refract_traces::{CallTrace, ModelAttempt};
use tokio::time::{sleep, timeout};

use self::admission::{ConcurrencyLimit, RequestSeries};
use crate::connection::renewable_key::RenewableKey;
use crate::connection::request_body::RequestBody;
use crate::connection::{ModelConnections, ServerReply};
use crate::error::ModelError;
use crate::priority_queue::CallPriority;
use crate::report::ReportRecorder;
use crate::servers::{
    AskedServer, CatchUp, ChosenServer, EachServer, ServerPlace, ServerPool, ServerSet,
};
use crate::settings::ModelSettings;

/// Sends one thread's model requests.
#[derive(Clone)]
pub(crate) struct RequestSender {
    pub(crate) connections: EachServer<ModelConnections>,
    pub(crate) pool: Arc<ServerPool>,
    pub(crate) limit: Arc<ConcurrencyLimit>,
    pub(crate) settings: Arc<ModelSettings>,
    pub(crate) renewable_key: Option<Arc<RenewableKey>>,
}

impl RequestSender {
    /// A clone of this sender with connections that it shares with no other.
    pub(crate) fn with_own_connections(&self) -> Self {
        Self {
            connections: self.connections.map(ModelConnections::with_none_open),
            ..self.clone()
        }
    }
}

/// Sends the requests of one call, each in up to two attempts.
pub(crate) struct CallSender<'a> {
    sender: &'a RequestSender,
    pub(crate) recorder: &'a ReportRecorder,
    trace: &'a CallTrace,
    priority: CallPriority,
    /// The server to which the call's requests go first; `None` until one is sent.
    home: Cell<Option<ServerPlace>>,
}

/// Which servers a request may be sent to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestReach {
    /// Any server of the list.
    AnyServer,
    /// Only the server that answered the series' last request: no other server understands this
    /// one.
    SameServer,
}

/// How an attempt ended.
struct EndedAttempt {
    reply: ServerReply,
    has_system_message: bool,
}

impl<'a> CallSender<'a> {
    pub(crate) fn new(
        sender: &'a RequestSender,
        recorder: &'a ReportRecorder,
        trace: &'a CallTrace,
        priority: CallPriority,
    ) -> Self {
        Self {
            sender,
            recorder,
            trace,
            priority,
            home: Cell::new(None),
        }
    }

    /// Whether a row of a file is asked about, among others.
    pub(crate) fn is_for_row(&self) -> bool {
        self.priority == CallPriority::Batch
    }

    /// Starts a series of requests.
    pub(crate) fn series(&self) -> RequestSeries {
        RequestSeries::new(self.sender.settings.timeout)
    }

    /// Sends a request and returns the body of the answer with status 200. `write` makes the body
    /// for the chosen server.
    pub(crate) async fn post(
        &self,
        write: impl Fn(ServerPlace) -> RequestBody,
        series: &mut RequestSeries,
    ) -> Result<Bytes, ModelError> {
        self.send(write, RequestReach::AnyServer, series).await
    }

    /// Sends a request to the server that answered the series' last request, and to no other.
    pub(crate) async fn post_to_same(
        &self,
        body: RequestBody,
        series: &mut RequestSeries,
    ) -> Result<Bytes, ModelError> {
        let write = |_| body.clone();
        self.send(write, RequestReach::SameServer, series).await
    }

    async fn send(
        &self,
        write: impl Fn(ServerPlace) -> RequestBody,
        reach: RequestReach,
        series: &mut RequestSeries,
    ) -> Result<Bytes, ModelError> {
        self.recorder.request_begins();
        let renewable_key = self.sender.renewable_key.as_ref();
        let sent_key = renewable_key.map(|key| key.generation());
        let first = self.attempt(&write, reach, ServerSet::default(), series);
        let first = first.await?;
        let has_system_message = first.has_system_message;
        let refusal = match first.reply {
            ServerReply::Answer(answer) => return Ok(answer),
            ServerReply::CallError(refusal) => refusal,
        };
        let has_another_key = || {
            let renewed = renewable_key.zip(sent_key);
            refusal.is_about_the_key()
                && renewed.is_some_and(|(key, sent)| key.is_renewed_since(sent))
        };
        if !refusal.deserves_second_attempt(has_system_message) && !has_another_key() {
            return Err(refusal.failure(has_system_message));
        }
        let pause = admission::pause(refusal.retry_after);
        let pause = pause.min(series.pauses);
        series.pauses -= pause;
        tracing::debug!(
            status = refusal.status,
            ?pause,
            "one more attempt at the model server"
        );
        sleep(pause).await;
        let refused_by = ServerSet::default().with(series.server());
        let second = self.attempt(&write, reach, refused_by, series).await?;
        match second.reply {
            ServerReply::Answer(answer) => Ok(answer),
            ServerReply::CallError(refusal) => Err(refusal.failure(second.has_system_message)),
        }
    }

    /// Makes one attempt, if possible at a server that has not refused the request yet.
    async fn attempt(
        &self,
        write: &impl Fn(ServerPlace) -> RequestBody,
        reach: RequestReach,
        refused_by: ServerSet,
        series: &mut RequestSeries,
    ) -> Result<EndedAttempt, ModelError> {
        let pool = &self.sender.pool;
        let whole_time = &self.sender.settings.timeout;
        let mut chosen = self.first_choice(reach, refused_by, series);
        let limit = &self.sender.limit;
        let admitted = admission::admit(pool, limit, self.priority, chosen.place, write).await?;
        self.recorder.attempt_begins();
        let head = Cell::default();
        let begin = Instant::now();
        // what follows in a series may itself have been answered late: it has no more time
        let is_first = series.sent_to.is_none();
        let grace = if is_first {
            admitted.turn.grace
        } else {
            Duration::ZERO
        };
        let time = series.attempts.min(*whole_time) + grace;
        let catch_up = pool.catch_up();
        let mut time_left = time;
        let mut unreachable = ServerSet::default();
        let (reply, has_system_message) = loop {
            let ChosenServer { place, .. } = chosen;
            series.sent_to = Some(place);
            let body = write(place);
            let has_system_message = body.has_system_message();
            let asked = pool.ask(chosen);
            let sent_at = catch_up.map(CatchUp::now).unwrap_or_default();
            let span = self
                .trace
                .begin_attempt(|| self.described(place, refused_by));
            let connections = self.sender.connections.of(place);
            let exchange = connections.exchange(body, span.headers(), &head);
            let reply = timeout(time_left, exchange).await;
            let had_time = time_left >= *whole_time / 2;
            let reply = reply.unwrap_or(Err(ModelError::TimedOut(*whole_time)));
            if span.is_recording() {
                span.end(attempt_end::of(&reply));
            }
            // a timeout is no evidence against the server if the attempt had little time left
            tell(asked, &reply, had_time);
            let reply = match catch_up {
                Some(catch_up) => {
                    let is_quick = begin.elapsed() < *whole_time / 4;
                    let is_row = self.is_for_row();
                    tell_catch_up(catch_up, reply, sent_at, had_time, is_quick, is_row)
                }
                None => reply,
            };
            let reply = reply.map_err(|failure| self.held_up(failure, place, had_time));
            admission::keep_pace(pool, place, admitted.paced, &reply);
            if let Ok(ServerReply::Answer(_)) = reply {
                pool.note_answer(place);
            }
            if reach == RequestReach::AnyServer
                && let Err(ModelError::Unreachable(_)) = reply
            {
                unreachable = unreachable.with(place);
                let other = pool.choose(unreachable.and(refused_by));
                if let Some(other) = other.or_else(|| pool.choose(unreachable)) {
                    self.move_home(place, other);
                    time_left = time.saturating_sub(begin.elapsed());
                    chosen = other;
                    continue;
                }
            }
            break (reply, has_system_message);
        };
        // the time of a probe that the server spent on other requests is not the series' own
        let spent = begin.elapsed().min(*whole_time);
        series.attempts = series.attempts.saturating_sub(spent);
        self.recorder.attempt_ended(head.take());
        let reply = reply?;
        self.recorder.answered(reply.body().clone());
        Ok(EndedAttempt {
            reply,
            has_system_message,
        })
    }

    /// The failure, as that of a row that was held up if it timed out at a server that had answered
    /// others.
    fn held_up(&self, failure: ModelError, place: ServerPlace, had_time: bool) -> ModelError {
        let is_row = had_time && self.is_for_row();
        if let ModelError::TimedOut(time) = failure
            && is_row
            && self.sender.pool.has_answered(place)
        {
            ModelError::HeldUp(time)
        } else {
            failure
        }
    }

    /// Describes an attempt at this server for the trace.
    fn described(&self, place: ServerPlace, refused_by: ServerSet) -> ModelAttempt<'_> {
        let settings = &self.sender.settings;
        let (host, port) = self.sender.connections.of(place).host_and_port();
        ModelAttempt {
            operation: settings.protocol.operation(),
            provider: settings.protocol.provider(),
            model: &settings.name,
            host,
            port,
            resends: refused_by.count(),
        }
    }

    /// Chooses the server for the first exchange of an attempt.
    fn first_choice(
        &self,
        reach: RequestReach,
        refused_by: ServerSet,
        series: &RequestSeries,
    ) -> ChosenServer {
        let pool = &self.sender.pool;
        let known = series.sent_to.or_else(|| self.home.get());
        let stays = ChosenServer {
            place: known.unwrap_or_default(),
            is_probe: false,
        };
        if reach == RequestReach::SameServer {
            return stays;
        }
        let may_stay = known.is_some_and(|place| !pool.is_ejected(place));
        if refused_by.is_empty() && may_stay {
            return stays;
        }
        let chosen = pool.choose(refused_by).unwrap_or(stays);
        // the call's other requests go there too, but do not join a probe
        if refused_by.is_empty() && !chosen.is_probe {
            self.home.set(Some(chosen.place));
        }
        chosen
    }

    /// Makes `other` the call's home if the home is the unreachable server.
    fn move_home(&self, unreachable: ServerPlace, other: ChosenServer) {
        if self.home.get() == Some(unreachable) {
            self.home.set(Some(other.place));
        }
    }
}

/// Reports the end of a request to its server's health, if the end is evidence about the server.
fn tell(asked: AskedServer<'_>, reply: &Result<ServerReply, ModelError>, had_time: bool) {
    match reply {
        Ok(ServerReply::CallError(refusal)) if refusal.is_by_failing_server() => asked.failed(),
        Ok(_) | Err(ModelError::TooLarge | ModelError::Compressed) => asked.answered(),
        Err(ModelError::TimedOut(_)) if !had_time => {}
        Err(_) => asked.failed(),
    }
}

/// Lets the server's catching up learn from the end of a request that was sent at `sent_at`. A row that
/// waited behind another request may be asked about again.
fn tell_catch_up(
    catch_up: &CatchUp,
    reply: Result<ServerReply, ModelError>,
    sent_at: Duration,
    had_time: bool,
    is_quick: bool,
    is_row: bool,
) -> Result<ServerReply, ModelError> {
    match reply {
        Err(ModelError::TimedOut(time)) if had_time => {
            let is_behind = catch_up.timed_out(sent_at) && is_row;
            Err(if is_behind {
                ModelError::TimedOutBehind(time)
            } else {
                ModelError::TimedOut(time)
            })
        }
        Ok(ServerReply::CallError(refusal)) if refusal.is_by_failing_server() => {
            Ok(ServerReply::CallError(refusal))
        }
        Ok(reply) => {
            catch_up.answered(is_quick);
            Ok(reply)
        }
        Err(error) => Err(error),
    }
}
