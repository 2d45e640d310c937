use chrono::DateTime;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::ids::{PersonId, ResultId};
use crate::key::{OutcomeKey, QuestionKey};
use crate::prism::PrismVersion;
use crate::result::mark::Marker;

fn version() -> PrismVersion {
    serde_json::from_str(
        r#"{ "fields": [{ "key": "text", "label": "T" }], "questions": [
            { "key": "topic", "type": "choice", "text": "?", "options": [
                { "key": "a", "label": "b" }, { "key": "b", "label": "Bills" },
                { "key": "c", "label": "Other" }] },
            { "key": "angry", "type": "yes_no", "text": "?" },
            { "key": "urgency", "type": "scale", "text": "?", "levels": [
                { "key": "low", "label": "Low" }, { "key": "high", "label": "High" }] }] }"#,
    )
    .unwrap()
}

fn named(question: usize, cell: &str) -> Option<String> {
    let outcome = outcome_named(&version().questions()[question], cell);
    outcome.map(|key| key.to_string())
}

#[test]
fn an_outcome_is_named_by_its_key_and_else_by_its_label() {
    for (question, cell, expected) in [
        (0, "a", Some("a")),
        (0, "b", Some("b")),
        (0, " Bills\n", Some("b")),
        (0, "Other", Some("c")),
        (0, "other", Some("other")),
        (
            0,
            "Not enough information",
            Some("insufficient_information"),
        ),
        (0, "bills", None),
        (0, "yes", None),
        (1, "yes", Some("yes")),
        (1, "No", Some("no")),
        (1, "TRUE", Some("yes")),
        (1, "false", Some("no")),
        (1, "1.0", Some("yes")),
        (1, "0", Some("no")),
        (0, "true", None),
        (1, "Unsure", None),
        (1, "other", None),
        (2, "High", Some("high")),
        (2, "1", None),
        (2, "", None),
    ] {
        let found = named(question, cell);
        assert_eq!(found.as_deref(), expected, "{question} {cell}");
    }
}

#[test]
fn a_mark_is_shown_with_the_label_of_the_version() {
    let version = version();
    let shown = |question: usize, outcome: &str| {
        let outcome = OutcomeKey::parse(outcome).unwrap();
        let shown = value(&version.questions()[question], &outcome);
        if let Value::Outcome { key, label } = shown {
            return Some((key.to_owned(), label.to_owned()));
        }
        assert!(matches!(shown, Value::Null), "{shown:?}");
        None
    };
    let pair = |key: &str, label: &str| Some((key.to_owned(), label.to_owned()));
    assert_eq!(shown(0, "b"), pair("b", "Bills"));
    assert_eq!(shown(0, "other"), pair("other", "Other"));
    assert_eq!(shown(1, "no"), pair("no", "No"));
    assert_eq!(shown(2, "high"), pair("high", "High"));
    assert_eq!(shown(1, "unsure"), None);
    assert_eq!(shown(2, "gone"), None);
}

#[test]
fn the_longest_key_has_a_column_of_marks() {
    let key = QuestionKey::parse(&"a".repeat(64)).unwrap();
    let name = column_name(&key).unwrap();
    assert_eq!(name.as_str(), format!("{key}_marked"));
}

#[test]
fn a_marker_has_a_name() {
    assert_eq!(Marker::parse(" Ada ").unwrap().as_str(), "Ada");
    assert!(Marker::parse(" ").is_err());
    assert!(Marker::parse(&"a".repeat(201)).is_err());
}

#[test]
fn sources_and_choices_are_found_by_name() {
    for source in MarkSource::ALL {
        assert_eq!(MarkSource::named(source.name()), Some(source));
    }
    for from in MarksFrom::ALL {
        assert_eq!(MarksFrom::named(from.name()), Some(from));
    }
    assert_eq!(MarkSource::named("Random"), None);
    assert_eq!(MarksFrom::named(""), None);
}

#[test]
fn random_and_imported_marks_count_by_default() {
    let counted = MarkSource::ALL.map(|source| MarksFrom::default().counts(Some(source)));
    assert_eq!(counted, [true, false, false, false, true]);
    assert!(!MarksFrom::Random.counts(None) && MarksFrom::All.counts(None));
}

fn mark(name: &str, outcome: &str, second: i64) -> Mark {
    Mark {
        result: ResultId::new(Uuid::nil()),
        question: QuestionKey::parse("angry").unwrap(),
        outcome: OutcomeKey::parse(outcome).unwrap(),
        marked_by: Annotator {
            person: None,
            name: Marker::parse(name).ok(),
        },
        marked_at: DateTime::from_timestamp(second, 0).unwrap(),
        source: None,
        note: None,
        is_adjudicated: false,
    }
}

fn person(number: u128, mut mark: Mark) -> Mark {
    mark.marked_by.person = Some(PersonId::new(Uuid::from_u128(number)));
    mark
}

fn of(marks: &[Mark]) -> QuestionMarks {
    let mut all = QuestionMarks::default();
    for mark in marks {
        all.add(mark.clone());
    }
    all
}

fn counting(marks: &[Mark]) -> (String, String) {
    let mark = of(marks).split().0.unwrap();
    let name = mark
        .marked_by
        .name
        .map_or_else(String::new, |it| it.to_string());
    (name, mark.outcome.to_string())
}

fn pair(name: &str, outcome: &str) -> (String, String) {
    (name.to_owned(), outcome.to_owned())
}

#[test]
fn the_latest_counts_unless_all_agree_or_somebody_settled_it() {
    let (ada, olga) = (mark("Ada", "yes", 1), mark("Olga", "no", 2));
    let settled = Mark {
        is_adjudicated: true,
        ..mark("Ada", "yes", 3)
    };
    assert_eq!(counting(&[ada.clone(), olga.clone()]), pair("Olga", "no"));
    let agreed = [ada.clone(), mark("Olga", "yes", 2)];
    assert_eq!(counting(&agreed), pair("Ada", "yes"));
    let later = mark("Rob", "no", 9);
    let all = [ada, olga, settled.clone(), later];
    assert!(of(&all[..2]).differ() && !of(&all).differ());
    assert_eq!(counting(&all), pair("Ada", "yes"));
    let again = Mark {
        is_adjudicated: true,
        ..mark("Rob", "no", 10)
    };
    assert_eq!(counting(&[settled, again]), pair("Rob", "no"));
    // of equal moments the later row of a file
    assert_eq!(
        counting(&[mark("Ada", "no", 1), mark("Olga", "yes", 1)]),
        pair("Olga", "yes")
    );
}

#[test]
fn people_of_one_name_are_distinguished_by_their_ids() {
    let first = person(1, mark("Ada", "yes", 1));
    let mut marks = of(&[first.clone(), person(2, mark("Ada", "no", 2))]);
    assert_eq!(marks.marks().len(), 2);
    // a mark that has only a name belongs to the first who has that name
    assert!(!marks.add(mark("Ada", "yes", 3)));
    let mut old = of(&[mark("Ada", "no", 1)]);
    assert!(old.add(person(1, mark("Ada", "yes", 2))));
    assert_eq!(old.marks(), [person(1, mark("Ada", "yes", 2))]);
    marks.withdraw(&first.marked_by, false);
    assert_eq!(marks.marks(), [person(2, mark("Ada", "no", 2))]);
}

#[test]
fn a_mark_of_nobody_stands_beside_unless_it_is_what_counts() {
    let mut marks = of(&[mark("Ada", "yes", 1)]);
    assert!(!marks.add(mark("", "yes", 2)));
    assert!(marks.add(mark("", "no", 2)));
    assert_eq!(marks.marks().len(), 2);
    let rob = Annotator::named(Marker::parse("Rob").unwrap());
    marks.withdraw(&rob, false);
    assert_eq!(marks.marks(), [mark("Ada", "yes", 1)]);
}

#[test]
fn a_drawn_result_stays_in_the_sample_when_others_mark_it_or_its_mark_is_corrected() {
    let drawn = Mark {
        source: Some(MarkSource::Random),
        ..mark("Ada", "yes", 1)
    };
    for later in [mark("Olga", "no", 2), mark("Ada", "no", 2)] {
        let counting = of(&[drawn.clone(), later]).split().0.unwrap();
        assert_eq!(counting.outcome.as_str(), "no");
        assert_eq!(counting.source, Some(MarkSource::Random));
    }
}

proptest! {
    #[test]
    fn what_counts_stays_when_it_is_saved_and_read_again(
        made in prop::collection::vec((0u128..4, 0usize..3, 0i64..4, any::<bool>()), 1..8),
    ) {
        let made = made.into_iter().map(|(who, outcome, second, is_adjudicated)| {
            let mark = mark("Ada", ["yes", "no", "other"][outcome], second);
            Mark { is_adjudicated, ..person(who, mark) }
        });
        let marks = of(&made.collect::<Vec<_>>());
        let (counting, beside) = marks.clone().split();
        prop_assert_eq!(beside.len() + 1, marks.marks().len());
        let again = QuestionMarks::new(counting.clone(), beside.clone());
        prop_assert_eq!(again.differ(), marks.differ());
        prop_assert_eq!(again.split(), (counting, beside));
    }
}
