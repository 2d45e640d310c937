//! The trial of a long text: whether the model server reads all of it. Some servers cut a text to
//! the model's context without an error.

use refract_domain::limits::CHARS_PER_TOKEN;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{Model, ModelError};
use serde_json::json;

use crate::model::{ModelTrialError, TrialReport};

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
    pub(super) async fn ask(
        model: &Model,
        reports: &[TrialReport],
    ) -> Result<Self, ModelTrialError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use refract_domain::limits::FIELD_VALUE_CHARS;

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
