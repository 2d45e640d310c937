//! The trials of a model: one of every question type, and one of 255 outcomes.

use serde_json::{Value, json};

/// The number of options of the largest question.
const MOST_OPTIONS: usize = 253;

/// The name of the choice trial.
pub(super) const FORWARD: &str = "choice of 4";
/// The name of the choice trial whose options stand in reverse order.
pub(super) const REVERSED: &str = "choice of 4, reversed";

/// A question about a text, with an answer that is beyond doubt.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) question: Value,
    pub(super) text: &'static str,
    /// The key of the right outcome; `yes` for Yes / No.
    pub(super) right: &'static str,
}

/// All trials, in the order in which the model is asked.
pub(super) fn all() -> [Trial; 5] {
    let choice = |options: Value| json!({"key": "topic", "type": "choice", "text": "What is the message about?", "options": options});
    let billing =
        json!({"key": "billing", "label": "Billing", "description": "charges and invoices"});
    let delivery =
        json!({"key": "delivery", "label": "Delivery", "description": "parcels on their way"});
    let parcels = (1..=MOST_OPTIONS).map(
        |number| json!({"key": format!("parcel_{number}"), "label": format!("Parcel {number}")}),
    );
    let order = "My parcel was due on Monday and has not arrived. Where is my order?";
    [
        Trial {
            name: "yes_no",
            question: json!({"key": "late", "type": "yes_no", "text": "Does the writer wait for a parcel?"}),
            text: order,
            right: "yes",
        },
        Trial {
            name: "scale of 3",
            question: json!({"key": "mood", "type": "scale", "text": "How content is the writer?",
                "levels": [{"key": "low", "label": "Not at all"}, {"key": "middle", "label": "Somewhat"},
                           {"key": "high", "label": "Very"}]}),
            text: "This is the best shop that I have ever known. I am delighted, thank you!",
            right: "high",
        },
        Trial {
            name: FORWARD,
            question: choice(json!([billing, delivery])),
            text: order,
            right: "delivery",
        },
        Trial {
            name: REVERSED,
            question: choice(json!([delivery, billing])),
            text: order,
            right: "delivery",
        },
        Trial {
            name: "choice of 255",
            question: json!({"key": "parcel", "type": "choice", "text": "Which parcel is the message about?",
                "options": parcels.collect::<Vec<_>>()}),
            text: "Parcel 137 is missing.",
            right: "parcel_137",
        },
    ]
}
