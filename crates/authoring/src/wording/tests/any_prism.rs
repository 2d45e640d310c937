//! Every valid prism file can be linted.

use proptest::prelude::*;

use super::*;

/// Texts of arbitrary characters, and texts of the words in the rules.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "Is",
        "is",
        "it",
        "not",
        "no",
        "never",
        "without",
        "isn't",
        "n't",
        "and",
        "or",
        "as",
        "well",
        "as well as",
        "what",
        "how",
        "the",
        "does",
        "that",
        "?",
        "??",
        "\"",
        "'",
        "-",
        ".",
        "/",
        "&",
        "Other",
        "none",
        "low",
        "high",
        "very",
        "1",
        "2.5",
        "%",
        "…",
        "注文",
        "🚲",
    ]);
    prop_oneof![
        "\\PC{1,30}",
        prop::collection::vec(words, 1..12).prop_map(|words| words.join(" ")),
    ]
}

fn outcome() -> impl Strategy<Value = Value> {
    (text(), prop::option::of(text())).prop_map(|(label, description)| match description {
        Some(description) => json!({ "label": label, "description": description }),
        None => json!({ "label": label }),
    })
}

fn question() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|text| json!({ "type": "yes_no", "text": text })),
        (text(), prop::collection::vec(outcome(), 2..30)).prop_map(
            |(text, options)| json!({ "type": "choice", "text": text, "options": options })
        ),
        (text(), prop::collection::vec(outcome(), 2..11))
            .prop_map(|(text, levels)| json!({ "type": "scale", "text": text, "levels": levels })),
    ]
}

proptest! {
    #[test]
    fn every_valid_file_is_linted_and_every_path_leads_into_it(
        mut questions in prop::collection::vec(question(), 1..6),
    ) {
        for (index, question) in questions.iter_mut().enumerate() {
            question["key"] = json!(format!("q{index}"));
        }
        let file = json!({
            "name": "Triage",
            "fields": [{ "key": "text", "label": "Message" }],
            "questions": questions,
        });
        let read = PrismFile::read(&serde_json::to_vec(&file).unwrap(), None);
        prop_assume!(read.is_ok());
        let warnings = lint(&read.unwrap().version);
        for warning in warnings {
            let pointer = format!("/{}", warning.path.replace('.', "/"));
            prop_assert!(file.pointer(&pointer).is_some(), "{}", warning.path);
            prop_assert!(!warning.message.is_empty());
        }
    }
}
