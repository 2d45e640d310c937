//! Finds out what a model server speaks: a list of its models, then one tiny question in each
//! protocol, those with the best probabilities first.

mod candidates;

use std::collections::BTreeSet;
use std::time::Duration;

use refract_model_gateway::{
    ModelEndpoint, ModelError, ModelGateway, ModelKeyHeader, ModelReply, ModelSettings, Protocol,
    ServerMessage, SettingError,
};

use self::candidates::Candidate;
use crate::model::trial::ModelTrialError;
use crate::model::trials::yes_no;

/// How long a server that has not answered anything yet is waited for.
const FIRST_WAIT: Duration = Duration::from_secs(3);
/// After this many tries without an answer in time, no other is made.
const MOST_TIMEOUTS: usize = 2;
/// Google's model for decisions: its list begins with models that take none.
const GOOGLE_MODEL: &str = "gemini-decision-1";
/// Headers in which hosts expect a key, the usual ones first.
const KEY_HEADERS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// What a server speaks.
pub struct DetectedModel {
    /// The settings with which it answered.
    pub settings: ModelSettings,
    /// The models that the server lists.
    pub listed: Vec<String>,
}

/// One question in one protocol.
#[derive(Clone)]
pub struct DetectionTry {
    /// Where it was asked.
    pub address: String,
    /// The protocol.
    pub protocol: Protocol,
    /// Sent as `model`.
    pub model: String,
    /// Why it was not answered.
    pub failure: Option<ModelError>,
    /// The server's message about the failure.
    pub message: Option<ServerMessage>,
}

impl DetectionTry {
    /// Whether the server has no such endpoint.
    fn is_absent(&self) -> bool {
        matches!(self.failure, Some(ModelError::Status(404 | 405 | 501)))
    }
}

/// The search for what one server speaks.
pub struct ModelDetection<'a> {
    given: &'a ModelSettings,
    /// The model's name, if it is set.
    name: Option<&'a str>,
    listed: Vec<String>,
    /// The header that was found to carry the key.
    header: Option<ModelKeyHeader>,
    has_searched_header: bool,
    /// Whether the server has answered anything.
    is_alive: bool,
    timeouts: usize,
    is_unreachable: bool,
    /// Endpoints that the server does not have.
    absent: BTreeSet<String>,
    tries: Vec<DetectionTry>,
}

impl<'a> ModelDetection<'a> {
    /// Begins a search at the server of these settings, whose protocol and name do not count.
    pub fn new(given: &'a ModelSettings, name: Option<&'a str>) -> Self {
        Self {
            given,
            name,
            listed: Vec::new(),
            header: None,
            has_searched_header: false,
            is_alive: given.endpoint.is_whole(),
            timeouts: 0,
            is_unreachable: false,
            absent: BTreeSet::new(),
            tries: Vec::new(),
        }
    }

    /// Asks until the server answers; `None` if it answers nothing.
    ///
    /// # Errors
    /// When nothing can be asked.
    pub async fn run(&mut self) -> Result<Option<DetectedModel>, ModelTrialError> {
        self.list_models().await?;
        for candidate in candidates::of(&self.given.endpoint) {
            if self.is_unreachable || self.timeouts >= MOST_TIMEOUTS {
                break;
            }
            let answered = self.ask_candidate(&candidate).await?;
            if let Some(settings) = answered {
                return Ok(Some(DetectedModel {
                    settings,
                    listed: std::mem::take(&mut self.listed),
                }));
            }
        }
        Ok(None)
    }

    /// The failure that says most about the server: the first of an endpoint that it has.
    pub fn best_failure(&self) -> Option<&DetectionTry> {
        self.tries.iter().find(|tried| !tried.is_absent())
    }

    /// The try of each protocol that says most about the server: its answer, else the first failure
    /// of an endpoint that it has, else the first.
    pub fn best_tries(&self) -> impl Iterator<Item = &DetectionTry> {
        Protocol::ALL.into_iter().filter_map(|protocol| {
            let tries = self.tries.iter();
            let tries = tries.filter(move |tried| tried.protocol == protocol);
            tries.min_by_key(|tried| (tried.failure.is_some(), tried.is_absent()))
        })
    }

    /// The models that the server lists.
    pub fn listed(&self) -> &[String] {
        &self.listed
    }

    /// Reads the list of models below the first base address that has one.
    async fn list_models(&mut self) -> Result<(), SettingError> {
        for endpoint in candidates::bases(&self.given.endpoint) {
            let settings = self.settings(Protocol::Chat, &endpoint, String::new());
            let model = ModelGateway::new(settings)?.model();
            match model.listed_models(self.wait()).await {
                Ok(names) => {
                    self.is_alive = true;
                    if !names.is_empty() {
                        self.listed = names;
                        return Ok(());
                    }
                }
                Err(failure) => tracing::debug!(%failure, "no list of models"),
            }
        }
        Ok(())
    }

    /// Asks at one place in one protocol; returns the settings with which it answered.
    async fn ask_candidate(
        &mut self,
        candidate: &Candidate,
    ) -> Result<Option<ModelSettings>, ModelTrialError> {
        let Candidate { protocol, endpoint } = candidate;
        let Some(address) = endpoint.asked_by(*protocol) else {
            return Ok(None);
        };
        let is_asked =
            |tried: &DetectionTry| tried.protocol == *protocol && tried.address == address;
        if self.absent.contains(&address) || self.tries.iter().any(is_asked) {
            return Ok(None);
        }
        let mut is_absent = true;
        for model in self.models(*protocol) {
            let settings = self.settings(*protocol, endpoint, model.clone());
            let (settings, reply) = self.ask_with_key(settings).await?;
            let tried = DetectionTry {
                address: address.clone(),
                protocol: *protocol,
                model,
                failure: reply.outcome.as_ref().err().cloned(),
                message: reply.server_message,
            };
            is_absent &= tried.is_absent();
            self.tries.push(tried);
            match reply.outcome {
                Ok(_) => return Ok(Some(settings)),
                // the next model may be the right one
                Err(ModelError::Status(400 | 404 | 422)) => {}
                Err(_) => break,
            }
        }
        if is_absent {
            self.absent.insert(address);
        }
        Ok(None)
    }

    /// Asks once; where the key is refused, also with the key in the other usual headers.
    async fn ask_with_key(
        &mut self,
        settings: ModelSettings,
    ) -> Result<(ModelSettings, ModelReply), ModelTrialError> {
        let reply = self.ask(&settings).await?;
        let Some(key) = self.given.api_key.clone() else {
            return Ok((settings, reply));
        };
        let may_search = key.header().is_none() && !self.has_searched_header;
        if !is_about_the_key(&reply) || !may_search {
            return Ok((settings, reply));
        }
        self.has_searched_header = true;
        let usual = ModelKeyHeader::of_protocol(settings.protocol).to_string();
        for name in KEY_HEADERS.into_iter().filter(|name| *name != usual) {
            let header: ModelKeyHeader = name.parse()?;
            let settings = ModelSettings {
                api_key: Some(key.clone().sent_in(header.clone())),
                ..settings.clone()
            };
            let other = self.ask(&settings).await?;
            if !is_about_the_key(&other) {
                self.header = Some(header);
                return Ok((settings, other));
            }
        }
        Ok((settings, reply))
    }

    /// Asks the tiny question.
    async fn ask(&mut self, settings: &ModelSettings) -> Result<ModelReply, ModelTrialError> {
        let model = ModelGateway::new(settings.clone())?.model();
        let reply = yes_no().reply(&model).await?;
        match &reply.outcome {
            Err(ModelError::TimedOut(_) | ModelError::TimedOutBehind(_)) => self.timeouts += 1,
            Err(ModelError::Unreachable(_)) => self.is_unreachable = true,
            Ok(_) | Err(_) => self.is_alive = true,
        }
        Ok(reply)
    }

    /// The settings for one try.
    fn settings(
        &self,
        protocol: Protocol,
        endpoint: &ModelEndpoint,
        name: String,
    ) -> ModelSettings {
        let api_key = self.given.api_key.clone();
        let api_key = match (api_key, &self.header) {
            (Some(key), Some(header)) => Some(key.sent_in(header.clone())),
            (key, _) => key,
        };
        ModelSettings {
            endpoint: endpoint.clone(),
            protocol,
            name,
            api_key,
            timeout: self.wait(),
            ..self.given.clone()
        }
    }

    /// Upper bound on the time of an attempt.
    fn wait(&self) -> Duration {
        if self.is_alive {
            self.given.timeout
        } else {
            self.given.timeout.min(FIRST_WAIT)
        }
    }

    /// The models to ask for: the one that is set, else the protocol's, else the first that the
    /// server lists.
    fn models(&self, protocol: Protocol) -> Vec<String> {
        if let Some(name) = self.name {
            return vec![name.to_owned()];
        }
        let usual = match protocol {
            Protocol::Gemini => GOOGLE_MODEL,
            Protocol::SystemOne | Protocol::Decisions | Protocol::Chat | Protocol::Stated => {
                protocol.default_model()
            }
        };
        let first = self.listed.first().filter(|first| *first != usual);
        let is_listed = self.listed.iter().any(|listed| listed == usual);
        match (protocol, first) {
            (Protocol::Decisions | Protocol::Chat | Protocol::Stated, Some(first))
                if !is_listed =>
            {
                vec![first.clone()]
            }
            (Protocol::SystemOne, Some(first)) => vec![usual.to_owned(), first.clone()],
            (_, _) => vec![usual.to_owned()],
        }
    }
}

fn is_about_the_key(reply: &ModelReply) -> bool {
    matches!(
        reply.outcome,
        Err(ModelError::Status(401 | 403) | ModelError::KeyRefused(_))
    )
}

/// The address with `/v1` instead of without, or the other way round, if the server has the
/// protocol's endpoint there.
///
/// # Errors
/// When nothing can be asked.
pub async fn other_address(
    settings: &ModelSettings,
) -> Result<Option<ModelEndpoint>, ModelTrialError> {
    let Some(endpoint) = settings.endpoint.with_or_without_v1() else {
        return Ok(None);
    };
    let other = ModelSettings {
        endpoint: endpoint.clone(),
        timeout: settings.timeout.min(FIRST_WAIT),
        ..settings.clone()
    };
    let reply = yes_no().reply(&ModelGateway::new(other)?.model()).await?;
    let is_there = match reply.outcome {
        Ok(_) => true,
        // the endpoint is there, whatever it dislikes
        Err(ModelError::Status(status)) => {
            matches!(status, 400..=499) && !matches!(status, 404 | 405)
        }
        Err(failure) => matches!(
            failure,
            ModelError::ContextTooSmall(_)
                | ModelError::CreditUsedUp(_)
                | ModelError::Loading(_)
                | ModelError::ParameterRefused { .. }
                | ModelError::ReportedError
                | ModelError::Unanswered(_)
                | ModelError::OffCodes { .. }
        ),
    };
    Ok(is_there.then_some(endpoint))
}
