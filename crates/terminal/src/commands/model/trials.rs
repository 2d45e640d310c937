//! The trials of a model: one of every question type, one of 255 outcomes, and questions without an
//! obvious answer.

use refract_service::model::{ModelEndpoint, ModelSettings, Protocol};
use serde_json::{Value, json};

/// Outcomes that every choice has besides its options.
const BUILT_IN_OUTCOMES: usize = 2;
/// The largest number of outcomes of a question.
const MOST_OUTCOMES: usize = 255;

/// The name of the choice trial.
pub(super) const FORWARD: &str = "choice of 4";
/// The name of the choice trial whose options stand in reverse order.
pub(super) const REVERSED: &str = "choice of 4, reversed";

/// A question about a text.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) question: Value,
    pub(super) text: &'static str,
    /// The key of the outcome that is right beyond doubt; `yes` for Yes / No. `None` where every
    /// outcome is as good as any other.
    pub(super) right: Option<&'static str>,
}

/// The trials of a model, in the order in which it is asked.
///
/// A model that is asked for codes gets questions without an obvious answer too: a sure answer
/// leaves nothing unread.
pub(super) fn of(settings: &ModelSettings) -> Vec<Trial> {
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

/// Draws of a ticket: questions of 20 outcomes, which have codes of one letter, of 62 and of 255.
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

/// The options of a question with so many outcomes: this noun with the numbers from 1 on.
fn numbered(noun: &str, outcomes: usize) -> Vec<Value> {
    let numbers = 1..=outcomes - BUILT_IN_OUTCOMES;
    let option = |number| {
        let label = format!("{noun} {number}");
        let key = label.to_lowercase().replace(' ', "_");
        json!({"key": key, "label": label})
    };
    numbers.map(option).collect()
}
