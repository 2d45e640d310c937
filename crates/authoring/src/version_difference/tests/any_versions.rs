//! Arbitrary pairs of versions: a difference is reported exactly when there is one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{custom, differences, version};
use refract_domain::lens::Lens;

/// Some of these keys, in any order.
fn keys(pool: &'static [&'static str], least: usize) -> impl Strategy<Value = Vec<&'static str>> {
    let some = prop::sample::subsequence(pool, least..=pool.len());
    some.prop_shuffle()
}

fn words() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["one", "another", "a third"])
}

fn optional() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(words())
}

fn outcomes() -> impl Strategy<Value = Vec<Value>> {
    let pool = &["a", "b", "c", "d"];
    (
        keys(pool, 2),
        prop::collection::vec((words(), optional()), 4),
    )
        .prop_map(|(keys, words)| {
            let outcomes = keys.into_iter().zip(words);
            outcomes
                .map(|(key, (label, description))| {
                    json!({ "key": key, "label": label, "description": description })
                })
                .collect()
        })
}

fn question(key: &'static str) -> impl Strategy<Value = Value> {
    (words(), optional(), outcomes()).prop_map(move |(text, instructions, outcomes)| {
        let mut question = json!({ "key": key, "text": text, "instructions": instructions });
        let (question_type, list) = match key {
            "topic" | "kind" => ("choice", Some("options")),
            "urgency" => ("scale", Some("levels")),
            _ => ("yes_no", None),
        };
        question["type"] = json!(question_type);
        if let Some(list) = list {
            question[list] = json!(outcomes);
        }
        question
    })
}

fn file() -> impl Strategy<Value = Value> {
    let questions = keys(&["topic", "kind", "urgency", "angry", "rude"], 1)
        .prop_flat_map(|keys| keys.into_iter().map(question).collect::<Vec<_>>());
    let fields = (
        keys(&["text", "subject", "body"], 1),
        prop::collection::vec(words(), 3),
    );
    (fields, optional(), questions).prop_map(|((keys, labels), context, questions)| {
        let fields = keys.into_iter().zip(labels);
        let fields: Vec<_> = fields
            .map(|(key, label)| json!({ "key": key, "label": label }))
            .collect();
        json!({ "fields": fields, "context": context, "questions": questions })
    })
}

fn lens() -> impl Strategy<Value = Lens> {
    prop_oneof![
        Just(Lens::Automatic),
        Just(custom(&json!([
            { "name": "mood", "question": "angry", "output": "label" },
            { "question": "topic", "output": "all" }]))),
    ]
}

/// The file with another value at one place, and the path that must be reported; `None` when the
/// file has no such place or already has the value.
fn changed_at(file: &Value, place: usize) -> Option<(Value, String)> {
    let mut changed = file.clone();
    let question = file.pointer("/questions/0/key")?.as_str()?;
    let list = ["options", "levels"];
    let list = list
        .into_iter()
        .find(|list| file["questions"][0].get(list).is_some());
    let in_list = |pointer: &str| list.map(|list| format!("/questions/0/{list}{pointer}"));
    let outcome = list.and_then(|list| file["questions"][0][list][0]["key"].as_str());
    let path_in_list =
        |last: &str| Some(format!("questions.{question}.{}.{}{last}", list?, outcome?));
    let (pointer, path) = match place {
        0 => ("/context".to_owned(), "context".to_owned()),
        1 => (
            "/fields/0/label".to_owned(),
            format!("fields.{}.label", file["fields"][0]["key"].as_str()?),
        ),
        2 => (
            "/questions/0/text".to_owned(),
            format!("questions.{question}.text"),
        ),
        3 => (
            "/questions/0/instructions".to_owned(),
            format!("questions.{question}.instructions"),
        ),
        4 => (in_list("/0/label")?, path_in_list(".label")?),
        5 => (in_list("/0/description")?, path_in_list(".description")?),
        _ => (in_list("/0/key")?, path_in_list("")?),
    };
    *changed.pointer_mut(&pointer)? = json!("new");
    Some((changed, path))
}

proptest! {
    #[test]
    fn a_version_differs_from_another_exactly_when_something_is_reported(
        before in file(), after in file(), lens in lens(),
    ) {
        let (before, after) = (version(&before), version(&after));
        let found = differences(&before, &after, &lens);
        prop_assert_eq!(found.is_empty(), before == after);
        prop_assert!(differences(&before, &before, &lens).is_empty());
        prop_assert!(differences(&after, &after, &lens).is_empty());
    }

    #[test]
    fn one_changed_word_is_reported_at_its_path(file in file(), lens in lens(), place in 0_usize..7) {
        let Some((changed, path)) = changed_at(&file, place) else {
            return Ok(());
        };
        let found = differences(&version(&file), &version(&changed), &lens);
        prop_assert!(found.iter().any(|found| found.path == path), "{} in {:?}", path, found);
        // a changed key removes its outcome and adds another
        prop_assert!(place == 6 || found.len() == 1, "{:?}", found);
    }

    #[test]
    fn what_one_version_adds_the_way_back_removes(
        before in file(), after in file(), lens in lens(),
    ) {
        let (before, after) = (version(&before), version(&after));
        let keys = |one, other, ending: &str| {
            let found = differences(one, other, &lens).into_iter();
            let mut keys: Vec<_> = found
                .filter(|found| found.text.contains(ending) && !found.path.starts_with("lens"))
                .map(|found| found.path)
                .collect();
            keys.sort();
            keys
        };
        prop_assert_eq!(keys(&before, &after, "is new: "), keys(&after, &before, "is gone: "));
    }
}
