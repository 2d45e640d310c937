//! The model: its settings, its reports, what its tokens cost, and trials of it, such as whether the
//! model server reads a long text whole: some cut it to the model's context without an error.
//!
//! What a process learns about the model servers is kept with the database, so that the next one need
//! not learn it again.

mod detection;
mod trial;
mod trials;

use refract_boxed_futures::boxed;
use std::convert::Infallible;
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;
use refract_domain::result::Cost;
use refract_domain::submission::{SentFields, Submission};
use refract_persistence::PersistenceError;
use serde_json::json;

use crate::Refract;

pub use self::detection::{DetectedModel, DetectionTry, ModelDetection, other_address};
pub use self::trial::{FailedTrial, ModelTrialError, TrialReport};
pub use self::trials::{
    DistanceBound, ModelTrials, SizeUnit, TakenSize, TrialEnd, TrialRun, TrialScope,
};
pub use refract_model_gateway::{
    CallPriority, CertificateFault, CertificateFileError, ChatPrompt, ClientCertificate,
    ConnectionSettings, CostEstimate, Estimator, Model, ModelApiKey, ModelEndpoint, ModelError,
    ModelGateway, ModelKeyHeader, ModelPrices, ModelReply, ModelReport, ModelSettings, ParsedCodes,
    ParsedOutcomes, Protocol, ProxyVariables, ServerMessage, ServerUse, SettingError,
    TrustedCertificates, Unreachable, WrittenInstead, tls_client_config,
};

/// What tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPrice {
    /// Nothing: the built-in scorer answers.
    Free,
    /// These prices, unless the host states a cost.
    Known(ModelPrices),
    /// What the host states, if it does.
    Unknown,
}

impl TokenPrice {
    /// What is said where no cost is known.
    pub const NONE_KNOWN: &str =
        "no price is known (unless the host states one, set REFRACT_MODEL_PRICES)";

    /// What reading this many tokens costs, in words; `None` if it costs nothing.
    pub fn of_reading(self, tokens: u64) -> Option<String> {
        match self {
            Self::Free => None,
            Self::Unknown | Self::Known(_) if tokens == 0 => None,
            Self::Unknown => Some(Self::NONE_KNOWN.to_owned()),
            Self::Known(prices) => Some(format!(
                "about {:.4} to read them, by REFRACT_MODEL_PRICES",
                prices.of_reading(tokens).to_f64()
            )),
        }
    }

    /// What saved results cost, in words; `None` if the built-in scorer answered.
    pub fn of_results(self, cost: Option<Cost>) -> Option<String> {
        match (cost, self) {
            (Some(cost), _) => Some(cost.to_string()),
            (None, Self::Free) => None,
            (None, Self::Known(_) | Self::Unknown) => Some(Self::NONE_KNOWN.to_owned()),
        }
    }
}

impl Refract {
    /// What tokens of the model cost.
    pub fn token_price(&self) -> TokenPrice {
        if self.is_for_trying_only() {
            return TokenPrice::Free;
        }
        let prices = self.model.as_ref().and_then(Model::prices);
        prices.map_or(TokenPrice::Unknown, TokenPrice::Known)
    }
}

/// Sentences of the text. By its tokens, a server whose context has 4,096, a common default, is
/// seen to cut it.
const SENTENCES: usize = 700;
/// The most seconds that the trial may take, by the speed of the trials before it.
const MOST_SECONDS: u128 = 10;

/// How a model server took a long text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LongTextOutcome {
    /// It was not asked: the server reports no tokens, so a cut would not be seen.
    NotCounted,
    /// It was not asked: it would take this many seconds.
    TooSlow(u128),
    /// The server read as many tokens as the text can have.
    Whole,
    /// The server read only this many tokens.
    Truncated(u64),
    /// The server gave no answer.
    Failed(ModelError),
}

/// A long text and the outcome of sending it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongText {
    /// The estimated tokens of the text, four characters each.
    pub tokens: usize,
    /// How the server took the text.
    pub outcome: LongTextOutcome,
}

impl LongText {
    /// Asks a model about a long text, unless that would show nothing or take too long by the
    /// reports of earlier trials.
    async fn ask(model: &Model, reports: &[TrialReport]) -> Result<Self, ModelTrialError> {
        let text = text();
        let tokens = text.len() / CHARS_PER_TOKEN;
        let outcome = match seconds(tokens, reports) {
            None => LongTextOutcome::NotCounted,
            Some(seconds) if seconds > MOST_SECONDS => LongTextOutcome::TooSlow(seconds),
            Some(_) => send(model, text).await?,
        };
        Ok(Self { tokens, outcome })
    }
}

async fn send(model: &Model, text: String) -> Result<LongTextOutcome, ModelTrialError> {
    let question = json!({"key": "damaged", "type": "yes_no", "text": "Is any parcel damaged?"});
    let version = json!({"fields": [{"key": "text", "label": "Message"}], "questions": [question]});
    let version: PrismVersion = serde_json::from_value(version)?;
    let sent = SentFields::new(vec![("text".to_owned(), text)]);
    let submission = Submission::new(sent, None, version.fields())?;
    let asked = model.answer(&version, &submission).await;
    Ok(match (asked.outcome, asked.report.truncated_to) {
        (Err(failure), _) => LongTextOutcome::Failed(failure),
        (Ok(_), Some(tokens)) => LongTextOutcome::Truncated(tokens),
        (Ok(_), None) => LongTextOutcome::Whole,
    })
}

/// The seconds that so many tokens take by the speed of the trial with the most tokens; `None` if
/// no trial has any.
fn seconds(tokens: usize, reports: &[TrialReport]) -> Option<u128> {
    let counted = reports.iter().filter_map(|report| {
        let read = report.input_tokens.filter(|read| *read > 0)?;
        Some((u128::from(read), report.took_ms))
    });
    let (read, took_ms) = counted.max()?;
    let tokens = u128::try_from(tokens).unwrap_or(u128::MAX);
    Some(took_ms.saturating_mul(tokens) / read / 1_000)
}

fn text() -> String {
    let sentences = (1..=SENTENCES).map(|number| {
        format!("Parcel {number} was sent on a Monday and came on the Friday, without any damage. ")
    });
    sentences.collect()
}

/// How long what was learned is trusted: meanwhile another server may have taken the address.
const TRUSTED: TimeDelta = TimeDelta::days(1);
/// The pause between two rounds.
const ROUND: Duration = Duration::from_secs(10);

#[boxed]
impl Refract {
    /// Sets the model of a gateway, which begins with what any process over this database learned
    /// about its servers within the last day.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn with_gateway(self, gateway: &mut ModelGateway) -> Result<Self, PersistenceError> {
        if let Some(servers) = gateway.servers_name() {
            let since = Utc::now() - TRUSTED;
            let facts = self.database.find_server_facts(servers, since).await?;
            if let Some(facts) = facts {
                gateway.recall(&facts);
            }
        }
        Ok(self.with_model(gateway.model()))
    }

    /// Keeps what was learned about the model servers so far. A failure is logged only: the
    /// next process learns it again.
    pub async fn keep_server_facts(&self) {
        self.keep(self.learned()).await;
    }

    /// Keeps what this node learns about the model servers until it is dropped.
    pub(crate) async fn keep_server_facts_in_rounds(&self) -> Infallible {
        let mut kept = None;
        loop {
            tokio::time::sleep(ROUND).await;
            let learned = self.learned();
            if learned != kept {
                self.keep(learned.clone()).await;
                kept = learned;
            }
        }
    }

    fn learned(&self) -> Option<(String, String)> {
        self.model.as_ref().and_then(Model::learned)
    }

    async fn keep(&self, learned: Option<(String, String)>) {
        let Some((servers, facts)) = learned else {
            return;
        };
        let now = Utc::now();
        let database = &self.database;
        let saving = database.save_server_facts(servers, facts, now, now - TRUSTED);
        if let Err(error) = saving.await {
            tracing::debug!(%error, "what was learned about the model servers is not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::limits::FIELD_VALUE_CHARS;

    use super::*;

    #[test]
    fn a_number_of_tokens_has_its_cost_beside_it() {
        let known = TokenPrice::Known("0.00015,0.00007,0.0006".parse().unwrap());
        let words = known.of_reading(41_170).unwrap();
        assert_eq!(words, "about 0.0062 to read them, by REFRACT_MODEL_PRICES");
        let unknown = TokenPrice::Unknown.of_reading(1).unwrap();
        assert!(unknown.contains("set REFRACT_MODEL_PRICES"), "{unknown}");
        assert_eq!(known.of_reading(0), None);
        assert_eq!(TokenPrice::Free.of_reading(41_170), None);
    }

    fn report(input_tokens: Option<u64>, took_ms: u128) -> TrialReport {
        TrialReport {
            server: None,
            trial: "yes_no",
            answer: String::new(),
            right: None,
            probability: 0.0,
            outcomes: 2,
            readable: 2,
            code_tokens: None,
            tokens_before: None,
            on_codes: None,
            unread: None,
            sum: None,
            names_another: false,
            model: None,
            input_tokens,
            output_tokens: None,
            requests: 1,
            attempts: 1,
            took_ms,
        }
    }

    #[test]
    fn the_text_is_one_that_callers_may_send_and_a_small_context_cannot_hold() {
        let text = text();
        assert!(text.is_ascii() && text.len() < FIELD_VALUE_CHARS);
        // ten characters a token, as the gateway judges
        assert!(text.len() > 12 * 4_096, "{}", text.len());
    }

    #[test]
    fn the_time_follows_from_the_longest_trial() {
        let reports = [
            report(Some(100), 5_000),
            report(Some(2_000), 1_000),
            report(None, 9_000),
        ];
        assert_eq!(seconds(12_000, &reports), Some(6));
        assert_eq!(
            seconds(12_000, &[report(Some(0), 1), report(None, 1)]),
            None
        );
        assert_eq!(seconds(12_000, &[]), None);
    }
}
