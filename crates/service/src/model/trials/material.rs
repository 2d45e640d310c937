//! The texts and questions of the trials. None is a caller's.

use serde_json::{Value, json};

use crate::model::trial::Trial;

/// Number of outcomes that every choice has besides its options.
const BUILT_IN_OUTCOMES: usize = 2;

/// The name of the choice trial.
pub(super) const FORWARD: &str = "choice of 4";
/// The name of the choice trial with its options in reverse order.
pub(super) const REVERSED: &str = "choice of 4, reversed";

/// A message about a delivery.
const ORDER: &str = "My parcel was due on Monday and has not arrived. Where is my order?";

/// The smallest trial.
pub(in crate::model) fn yes_no() -> Trial {
    Trial {
        name: "yes_no",
        questions: vec![
            json!({"key": "late", "type": "yes_no", "text": "Does the writer wait for a parcel?"}),
        ],
        text: ORDER,
        right: Some("yes"),
    }
}

/// A scale of three levels.
pub(super) fn scale() -> Trial {
    Trial {
        name: "scale of 3",
        questions: vec![
            json!({"key": "mood", "type": "scale", "text": "How content is the writer?",
            "levels": [{"key": "low", "label": "Not at all"}, {"key": "middle", "label": "Somewhat"},
                       {"key": "high", "label": "Very"}]}),
        ],
        text: "This is the best shop that I have ever known. I am delighted, thank you!",
        right: Some("high"),
    }
}

/// A choice of two options.
pub(super) fn choice() -> Trial {
    choice_of(FORWARD, &[billing(), delivery()])
}

/// The choice with its options in reverse order.
pub(super) fn reversed_choice() -> Trial {
    choice_of(REVERSED, &[delivery(), billing()])
}

fn choice_of(name: &'static str, options: &[Value]) -> Trial {
    Trial {
        name,
        questions: vec![
            json!({"key": "topic", "type": "choice", "text": "What is the message about?", "options": options}),
        ],
        text: ORDER,
        right: Some("delivery"),
    }
}

fn billing() -> Value {
    json!({"key": "billing", "label": "Billing", "description": "charges and invoices"})
}

fn delivery() -> Value {
    json!({"key": "delivery", "label": "Delivery", "description": "parcels on their way"})
}

/// A choice of this many outcomes.
pub(super) fn many_outcomes(name: &'static str, outcomes: usize) -> Trial {
    let (noun, text, right) = if outcomes > 200 {
        ("Parcel", "Parcel 137 is missing.", "parcel_137")
    } else {
        ("Box", "Box 13 is missing.", "box_13")
    };
    let question = format!("Which {} is the message about?", noun.to_lowercase());
    Trial {
        name,
        questions: vec![json!({"key": "parcel", "type": "choice", "text": question,
                   "options": numbered(noun, outcomes)})],
        text,
        right: Some(right),
    }
}

/// This many Yes / No questions.
pub(super) fn many_questions(name: &'static str, questions: usize) -> Trial {
    let question = |number| {
        let text = format!("Is parcel {number} missing?");
        json!({"key": format!("parcel_{number}"), "type": "yes_no", "text": text})
    };
    Trial {
        name,
        questions: (1..=questions).map(question).collect(),
        text: "Parcel 1 is missing.",
        right: Some("yes"),
    }
}

/// Draws of a ticket: questions of 20 outcomes (one-letter codes), of 62 and of 255 outcomes, each
/// with its number of outcomes.
pub(super) fn draws() -> [(usize, Trial); 3] {
    [
        (20, "draw from 20"),
        (62, "draw from 62"),
        (255, "draw from 255"),
    ]
    .map(|(outcomes, name)| {
        let trial = Trial {
            name,
            questions: vec![
                json!({"key": "ticket", "type": "choice", "text": "Which ticket is drawn?",
                "instructions": "Draw one of the tickets at random: each is as good as any other.",
                "options": numbered("Ticket", outcomes)}),
            ],
            text: "Please draw a ticket for me. I do not mind which one it is.",
            right: None,
        };
        (outcomes, trial)
    })
}

/// Options named with this noun and the numbers from 1 on, for a question with `outcomes` outcomes.
fn numbered(noun: &str, outcomes: usize) -> Vec<Value> {
    let numbers = 1..=outcomes.saturating_sub(BUILT_IN_OUTCOMES);
    let option = |number| {
        let label = format!("{noun} {number}");
        let key = label.to_lowercase().replace(' ', "_");
        json!({"key": key, "label": label})
    };
    numbers.map(option).collect()
}
