//! The calls that a model is tried with: one of every question type, and one of 255 outcomes.

use serde_json::{Value, json};

/// Options of the largest question.
const MOST_OPTIONS: usize = 253;

/// The name of the choice, and of the same one with its options the other way round.
pub(super) const FORWARD: &str = "choice of 4";
pub(super) const REVERSED: &str = "choice of 4, reversed";

/// A call whose right answer nobody doubts.
pub(super) struct Trial {
    pub(super) name: &'static str,
    pub(super) question: Value,
    pub(super) text: &'static str,
    /// Key of the right outcome; `yes` for Yes / No.
    pub(super) right: &'static str,
}

/// All calls, in the order in which they are made.
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
