//! The trials of a model: one of every question type, one of 255 outcomes, and questions without an
//! obvious answer.

use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use refract_model_gateway::{
    Model, ModelEndpoint, ModelError, ModelGateway, ModelReply, ModelSettings, Protocol,
    ServerMessage,
};
use serde_json::{Value, json};

use crate::model::{LongText, ModelTrialError, TrialReport};

/// Number of outcomes that every choice has besides its options.
const BUILT_IN_OUTCOMES: usize = 2;
/// The largest number of outcomes that a question can have.
const MOST_OUTCOMES: usize = 255;

/// The name of the choice trial.
const FORWARD: &str = "choice of 4";
/// The name of the choice trial with its options in reverse order.
const REVERSED: &str = "choice of 4, reversed";

/// The results of the trials of a model.
pub struct ModelTrials {
    /// The trials that the model answered, in the order in which they were asked.
    pub reports: Vec<TrialReport>,
    /// The trial that the model did not answer; no trial was asked after it.
    pub failed: Option<FailedTrial>,
    /// How the server took a long text; `None` after a failed trial and for the built-in scorer,
    /// which has no limit.
    pub long_text: Option<LongText>,
}

/// A trial that was not answered.
pub struct FailedTrial {
    /// The trial's name.
    pub trial: &'static str,
    /// Why it was not answered.
    pub failure: ModelError,
    /// The server's message about the failure.
    pub message: Option<ServerMessage>,
}

/// A question about a text.
struct Trial {
    name: &'static str,
    question: Value,
    text: &'static str,
    /// The key of the outcome that is clearly correct; `yes` for Yes / No. `None` where all
    /// outcomes are equally good.
    right: Option<&'static str>,
}

impl ModelTrials {
    /// Asks a model the questions of its trials one after the other, until it fails to answer one.
    ///
    /// # Errors
    /// When a trial cannot be asked.
    pub async fn ask(
        gateway: &ModelGateway,
        settings: &ModelSettings,
    ) -> Result<Self, ModelTrialError> {
        let model = gateway.model();
        let mut reports = Vec::new();
        for trial in trials(settings) {
            let asked = trial.ask(&model).await?;
            match asked.outcome {
                Ok(answers) => {
                    let answer = answers.as_slice().first().map(|(_, answer)| answer);
                    let took_ms = asked.took.as_millis();
                    let (name, right) = (trial.name, trial.right);
                    let report = TrialReport::new(name, right, answer, asked.report, took_ms);
                    reports.push(report);
                }
                Err(failure) => {
                    let failed = Some(FailedTrial {
                        trial: trial.name,
                        failure,
                        message: asked.server_message,
                    });
                    return Ok(Self {
                        reports,
                        failed,
                        long_text: None,
                    });
                }
            }
        }
        let long_text = match settings.endpoint {
            ModelEndpoint::DemoScorer => None,
            ModelEndpoint::Servers(_) => Some(LongText::ask(&model, &reports).await?),
        };
        Ok(Self {
            reports,
            failed: None,
            long_text,
        })
    }

    /// How far the probability of the correct option moves when the options are reversed.
    pub fn moved_by_order(&self) -> Option<f64> {
        let of = |name| {
            let found = self.reports.iter().find(|report| report.trial == name);
            Some(found?.probability)
        };
        Some((of(FORWARD)? - of(REVERSED)?).abs())
    }
}

impl Trial {
    async fn ask(&self, model: &Model) -> Result<ModelReply, ModelTrialError> {
        let version =
            json!({"fields": [{"key": "text", "label": "Message"}], "questions": [self.question]});
        let version: PrismVersion = serde_json::from_value(version)?;
        let sent = SentFields(vec![("text".to_owned(), self.text.to_owned())]);
        let submission = Submission::new(sent, None, version.fields())?;
        Ok(model.answer(&version, &submission).await)
    }
}

/// The trials of a model, in the order in which they are asked.
///
/// A model that answers with codes also gets questions without an obvious answer: a confident
/// answer leaves nothing unread.
fn trials(settings: &ModelSettings) -> Vec<Trial> {
    let mut trials = Vec::from(easy_ones());
    if let (ModelEndpoint::Servers(_), Protocol::Chat) = (&settings.endpoint, settings.protocol) {
        trials.extend(draws());
    }
    trials
}

/// A question of every type, and one of 255 outcomes.
fn easy_ones() -> [Trial; 5] {
    let choice = |options: Value| json!({"key": "topic", "type": "choice", "text": "What is the message about?", "options": options});
    let billing =
        json!({"key": "billing", "label": "Billing", "description": "charges and invoices"});
    let delivery =
        json!({"key": "delivery", "label": "Delivery", "description": "parcels on their way"});
    let order = "My parcel was due on Monday and has not arrived. Where is my order?";
    [
        Trial {
            name: "yes_no",
            question: json!({"key": "late", "type": "yes_no", "text": "Does the writer wait for a parcel?"}),
            text: order,
            right: Some("yes"),
        },
        Trial {
            name: "scale of 3",
            question: json!({"key": "mood", "type": "scale", "text": "How content is the writer?",
                "levels": [{"key": "low", "label": "Not at all"}, {"key": "middle", "label": "Somewhat"},
                           {"key": "high", "label": "Very"}]}),
            text: "This is the best shop that I have ever known. I am delighted, thank you!",
            right: Some("high"),
        },
        Trial {
            name: FORWARD,
            question: choice(json!([billing, delivery])),
            text: order,
            right: Some("delivery"),
        },
        Trial {
            name: REVERSED,
            question: choice(json!([delivery, billing])),
            text: order,
            right: Some("delivery"),
        },
        Trial {
            name: "choice of 255",
            question: json!({"key": "parcel", "type": "choice", "text": "Which parcel is the message about?",
                "options": numbered("Parcel", MOST_OUTCOMES)}),
            text: "Parcel 137 is missing.",
            right: Some("parcel_137"),
        },
    ]
}

/// Draws of a ticket: questions of 20 outcomes (one-letter codes), of 62 and of 255 outcomes.
fn draws() -> [Trial; 3] {
    [
        ("draw from 20", 20),
        ("draw from 62", 62),
        ("draw from 255", MOST_OUTCOMES),
    ]
    .map(|(name, outcomes)| Trial {
        name,
        question: json!({"key": "ticket", "type": "choice", "text": "Which ticket is drawn?",
            "instructions": "Draw one of the tickets at random: each is as good as any other.",
            "options": numbered("Ticket", outcomes)}),
        text: "Please draw a ticket for me. I do not mind which one it is.",
        right: None,
    })
}

/// Options named with this noun and the numbers from 1 on, for a question with `outcomes` outcomes.
fn numbered(noun: &str, outcomes: usize) -> Vec<Value> {
    let numbers = 1..=outcomes - BUILT_IN_OUTCOMES;
    let option = |number| {
        let label = format!("{noun} {number}");
        let key = label.to_lowercase().replace(' ', "_");
        json!({"key": key, "label": label})
    };
    numbers.map(option).collect()
}
