//! One trial: questions about a fixed text, asked once.

use std::time::Duration;

use refract_domain::prism::PrismVersion;
use refract_domain::submission::model_input::{State, json_chars};
use refract_domain::submission::{FieldMismatch, SentFields, Submission};
use refract_model_gateway::{Model, ModelError, ModelReply, ServerMessage, SettingError};
use serde_json::{Value, json};

use crate::model::TrialReport;

/// A trial that was not answered.
pub struct FailedTrial {
    /// The trial's name.
    pub trial: &'static str,
    /// Why it was not answered.
    pub failure: ModelError,
    /// The server's message about the failure.
    pub message: Option<ServerMessage>,
}

/// Why a trial cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelTrialError {
    /// The trial's question is invalid, which is a bug.
    #[error(transparent)]
    Question(#[from] serde_json::Error),
    /// The trial's text does not have the question's fields, which is a bug.
    #[error(transparent)]
    Text(#[from] FieldMismatch),
    /// A setting of the model cannot be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

/// Questions about a text.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) questions: Vec<Value>,
    pub(super) text: &'static str,
    /// The key of the outcome of the first question that is clearly correct; `yes` for Yes / No.
    /// `None` where all outcomes are equally good.
    pub(super) right: Option<&'static str>,
}

/// How a trial ended.
pub(super) struct AskedTrial {
    pub(super) took: Duration,
    pub(super) outcome: Result<TrialReport, FailedTrial>,
    /// Whether it took more requests than the settings ask for: the server refused the first one.
    pub(super) is_split: bool,
}

impl Trial {
    /// Asks the questions in one call.
    pub(super) async fn reply(&self, model: &Model) -> Result<ModelReply, ModelTrialError> {
        let (version, submission) = self.call()?;
        Ok(model.answer(&version, &submission).await)
    }

    /// Asks the questions in one call and reads what it shows.
    pub(super) async fn ask(&self, model: &Model) -> Result<AskedTrial, ModelTrialError> {
        let (version, submission) = self.call()?;
        let state = State {
            prism_context: None,
            submission: &submission,
        };
        let estimate = model.estimator(&version).estimate(json_chars(&state));
        let reply = model.answer(&version, &submission).await;
        let requests = usize::try_from(reply.report.requests).unwrap_or(usize::MAX);
        let outcome = match reply.outcome {
            Ok(answers) => {
                let answer = answers.as_slice().first().map(|(_, answer)| answer);
                let took_ms = reply.took.as_millis();
                let report = TrialReport::new(self.name, self.right, answer, reply.report, took_ms);
                Ok(report)
            }
            Err(failure) => Err(FailedTrial {
                trial: self.name,
                failure,
                message: reply.server_message,
            }),
        };
        Ok(AskedTrial {
            took: reply.took,
            outcome,
            is_split: requests > estimate.requests,
        })
    }

    fn call(&self) -> Result<(PrismVersion, Submission), ModelTrialError> {
        let version =
            json!({"fields": [{"key": "text", "label": "Message"}], "questions": self.questions});
        let version: PrismVersion = serde_json::from_value(version)?;
        let sent = SentFields::new(vec![("text".to_owned(), self.text.to_owned())]);
        let submission = Submission::new(sent, None, version.fields())?;
        Ok((version, submission))
    }
}
