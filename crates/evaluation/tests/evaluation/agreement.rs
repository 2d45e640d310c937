//! Agreement of people, against published figures, and in any order of marks and people.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::Question;
use refract_evaluation::measures::{Agreement, AgreementCounts, UndefinedAgreement};
use serde_json::json;

use crate::material::key;

/// A question with five outcomes, as a choice or as a scale.
fn question(is_scale: bool) -> Question {
    let outcomes: Vec<_> = (1..=5)
        .map(|number| json!({ "key": format!("o{number}"), "label": number.to_string() }))
        .collect();
    let question = if is_scale {
        json!({ "key": "q", "type": "scale", "text": "?", "levels": outcomes })
    } else {
        json!({ "key": "q", "type": "choice", "text": "?", "options": outcomes })
    };
    serde_json::from_value(question).unwrap()
}

/// The agreement by marks, each a text, a person and the number of an outcome.
fn agreement(is_scale: bool, marks: &[(usize, usize, usize)]) -> Agreement {
    let question = question(is_scale);
    let mut texts: BTreeMap<usize, Vec<(usize, OutcomeKey)>> = BTreeMap::new();
    for (text, person, outcome) in marks {
        let marks = texts.entry(*text).or_default();
        if marks.iter().all(|(other, _)| other != person) {
            marks.push((*person, key(&format!("o{outcome}"))));
        }
    }
    let mut counts = AgreementCounts::new(question.question_type());
    for marks in texts.values() {
        let marks: Vec<_> = marks
            .iter()
            .map(|(person, outcome)| (*person, outcome))
            .collect();
        counts.add(&question, &marks);
    }
    counts.agreement()
}

/// Rows of people, with a gap where somebody did not mark a text.
fn rows(rows: &[&str]) -> Vec<(usize, usize, usize)> {
    let people = rows.iter().enumerate().flat_map(|(person, row)| {
        let marks = row.bytes().enumerate().filter(|(_, mark)| *mark != b'.');
        marks.map(move |(text, mark)| (text, person, usize::from(mark - b'0')))
    });
    people.collect()
}

fn thousandths(figure: Option<f64>) -> Option<f64> {
    figure.map(|figure| (figure * 1e3).round() / 1e3)
}

/// The example of K. Krippendorff, "Computing Krippendorff's alpha-reliability" (2011).
#[test]
fn alpha_is_that_of_the_published_example() {
    let marks = rows(
        &[
            "12332141 2...",
            "12332241 25.3",
            ".3332342 251.",
            "12332441 251.",
        ]
        .map(|row| row.replace(' ', ""))
        .each_ref()
        .map(String::as_str),
    );
    let nominal = agreement(false, &marks);
    assert_eq!((nominal.people, nominal.texts), (4, 11));
    assert_eq!(thousandths(nominal.alpha), Some(0.743));
    assert_eq!(nominal.kappa, None);
    assert_eq!(nominal.undefined, Some(UndefinedAgreement::MoreThanTwo));
    assert_eq!(thousandths(agreement(true, &marks).alpha), Some(0.815));
}

#[test]
fn kappa_of_two_people_is_that_of_a_manual_count() {
    // 20 both the first, 5 and 10 differ, 15 both the second: 0.7 observed, 0.5 by chance
    let mut people = [String::new(), String::new()];
    for (first, second, count) in [
        ("1", "1", 20),
        ("1", "2", 5),
        ("2", "1", 10),
        ("2", "2", 15),
    ] {
        people[0] += &first.repeat(count);
        people[1] += &second.repeat(count);
    }
    let found = agreement(false, &rows(&[&people[0], &people[1]]));
    assert_eq!((found.pairs.count, found.pairs.of), (35, 50));
    assert_eq!(thousandths(found.kappa), Some(0.4));
    assert_eq!((found.quadratic_kappa, found.undefined), (None, None));
}

#[test]
fn what_is_not_defined_has_a_reason() {
    for (people, undefined) in [
        (&["111", "..."][..], Some(UndefinedAgreement::NoPair)),
        (&["12.", "..1"], Some(UndefinedAgreement::NoPair)),
        (&["111", "111"], Some(UndefinedAgreement::AllAlike)),
        (&["1", "1", "1"], Some(UndefinedAgreement::AllAlike)),
        (&["112", "112"], None),
    ] {
        for is_scale in [false, true] {
            let found = agreement(is_scale, &rows(people));
            assert_eq!(found.undefined, undefined, "{people:?}");
            let is_full = undefined.is_none().then_some(1.0);
            assert_eq!((found.alpha, found.kappa), (is_full, is_full), "{people:?}");
        }
    }
    assert_eq!(agreement(false, &[]).pairs.value(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn no_order_of_marks_or_people_changes_a_figure(
        marks in vec((0..12_usize, 0..4_usize, 1..=5_usize), 0..40)
            .prop_map(|mut marks| {
                // one mark of each person for a text
                marks.sort_unstable();
                marks.dedup_by_key(|(text, person, _)| (*text, *person));
                marks
            })
            .prop_flat_map(|marks| (Just(marks.clone()), Just(marks).prop_shuffle())),
        people in Just([0, 1, 2, 3]).prop_shuffle(),
        texts in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(),
    ) {
        let (in_order, shuffled) = marks;
        let renamed: Vec<_> = shuffled
            .into_iter()
            .map(|(text, person, outcome)| (texts[text], people[person], outcome))
            .collect();
        for is_scale in [false, true] {
            let found = agreement(is_scale, &in_order);
            prop_assert_eq!(&found, &agreement(is_scale, &renamed));
            for figure in [found.kappa, found.alpha, found.quadratic_kappa].into_iter().flatten() {
                prop_assert!(figure.is_finite() && figure <= 1.0, "{figure}");
            }
        }
    }
}
