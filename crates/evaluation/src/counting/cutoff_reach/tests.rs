//! Bounds seen in stored probabilities, and the cutoffs beyond them.

use proptest::prelude::*;

use super::*;
use crate::counting::lens_preview::tests::{Sample, column};
use refract_domain::lens::YesNoLabel;

/// A label column with these cutoffs, after answers with these probabilities.
fn unreachable(
    cutoffs: (Option<f64>, Option<f64>),
    probabilities: impl IntoIterator<Item = f64>,
) -> Vec<UnreachableCutoff> {
    let mut reach = reach(cutoffs);
    let sample = Sample::new();
    for probability in probabilities {
        let answers = Sample::answers("billing", probability, "low");
        reach.add(sample.view(&answers).answers(), Some("m"));
    }
    reach.unreachable()
}

fn reach((no_below, yes_from): (Option<f64>, Option<f64>)) -> CutoffReach {
    let cutoffs = Cutoffs::new(no_below, yes_from).unwrap();
    CutoffReach::new(&[Column {
        output: Output::Label(cutoffs),
        ..column("angry", "label")
    }])
}

/// 120 answers of a server that clips to 0.01 and 0.99.
fn clipped() -> impl Iterator<Item = f64> + Clone {
    let clipped = |number: u32| (f64::from(number) / 100.0 - 0.1).clamp(0.01, 0.99);
    (0..120).map(clipped)
}

fn names(found: &[UnreachableCutoff]) -> Vec<(CutoffName, f64, ProbabilityBound)> {
    let found = found.iter();
    found
        .map(|it| (it.name, it.cutoff.value(), it.bound))
        .collect()
}

fn p(probability: f64) -> Probability {
    Probability::from_f64(probability).unwrap()
}

#[test]
fn a_cutoff_beyond_the_bound_is_found_with_the_bound() {
    let lowest = ProbabilityBound::Lowest(p(0.01));
    let highest = ProbabilityBound::Highest(p(0.99));
    for (cutoffs, expected) in [
        ((Some(0.5), Some(0.99)), vec![]),
        ((Some(0.010_001), None), vec![]),
        ((None, None), vec![]),
        (
            (Some(0.5), Some(0.995)),
            vec![(CutoffName::YesFrom, 0.995, highest)],
        ),
        (
            (Some(0.01), Some(0.6)),
            vec![(CutoffName::NoBelow, 0.01, lowest)],
        ),
        (
            (Some(0.005), Some(0.995)),
            vec![
                (CutoffName::YesFrom, 0.995, highest),
                (CutoffName::NoBelow, 0.005, lowest),
            ],
        ),
        // the other cutoff is beyond the bound too, and makes no difference
        (
            (Some(0.992), Some(0.995)),
            vec![(CutoffName::NoBelow, 0.992, highest)],
        ),
        (
            (Some(0.002), Some(0.005)),
            vec![(CutoffName::YesFrom, 0.005, lowest)],
        ),
        (
            (Some(0.995), None),
            vec![(CutoffName::NoBelow, 0.995, highest)],
        ),
    ] {
        let found = unreachable(cutoffs, clipped());
        assert_eq!(names(&found), expected, "{cutoffs:?}");
        assert!(
            found
                .iter()
                .all(|it| it.answers == 120 && it.column.as_str() == "angry")
        );
    }
}

#[test]
fn a_bound_needs_enough_answers_and_enough_of_them_on_it() {
    let beyond = (Some(0.005), Some(0.995));
    let count = usize::try_from(BOUND_ANSWERS).unwrap();
    let at_bounds = [0.01, 0.99].into_iter().cycle();
    assert_eq!(unreachable(beyond, at_bounds.clone().take(count)).len(), 2);
    assert!(unreachable(beyond, at_bounds.take(count - 1)).is_empty());
    // nine answers lie on the highest probability
    let spread = (0..200).map(|number| 0.01 + f64::from(number) / 400.0);
    let few = std::iter::repeat_n(0.99, 9).chain(spread);
    assert!(unreachable(beyond, few).is_empty());
    // every text is a sure yes or a sure no: the other end is no bound
    let sure = std::iter::repeat_n(0.97, 200);
    assert!(unreachable((Some(0.5), Some(0.6)), sure).is_empty());
    let sure = std::iter::repeat_n(0.03, 200);
    assert!(unreachable((Some(0.5), Some(0.6)), sure).is_empty());
    // probabilities beyond the bound come late
    let late = clipped().chain([0.0, 1.0]);
    assert!(unreachable(beyond, late).is_empty());
    assert!(unreachable(beyond, []).is_empty());
    let whole = [0.0, 1.0].into_iter().cycle().take(500);
    assert!(unreachable((Some(0.000_001), Some(1.0)), whole).is_empty());
}

#[test]
fn only_answers_of_the_newest_model_count() {
    let sample = Sample::new();
    let mut reach = reach((Some(0.5), Some(0.995)));
    let mut add = |probability, model| {
        let answers = Sample::answers("billing", probability, "low");
        reach.add(sample.view(&answers).answers(), model);
    };
    for probability in clipped() {
        add(probability, Some("new"));
        add(1.0, Some("old"));
        add(1.0, None);
    }
    let found = reach.unreachable();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].answers, 120);
}

#[test]
fn the_sentence_names_cutoff_bound_and_answers() {
    let sentences = |cutoffs| -> Vec<String> {
        let found = unreachable(cutoffs, clipped()).into_iter();
        let sentence = |it: UnreachableCutoff| {
            let cutoff = format!("{} {}", it.name.key(), it.cutoff.value());
            it.describe(&cutoff, &it.bound.probability().to_string())
        };
        found.map(sentence).collect()
    };
    let highest = "0.99, the highest probability of yes in 120 answers of the present model";
    let lowest = "0.01, the lowest probability of yes in 120 answers of the present model";
    assert_eq!(
        sentences((Some(0.005), Some(0.995))),
        [
            format!("angry is never Yes: yes_from 0.995 is above {highest}"),
            format!("angry is never No: no_below 0.005 is not above {lowest}"),
        ]
    );
    assert_eq!(
        sentences((Some(0.992), Some(0.995))),
        [format!(
            "angry is always No: no_below 0.992 is above {highest}"
        )]
    );
    assert_eq!(
        sentences((Some(0.005), Some(0.01))),
        [format!(
            "angry is always Yes: yes_from 0.01 is not above {lowest}"
        )]
    );
}

#[test]
fn a_lens_without_labels_has_no_cutoffs() {
    assert!(CutoffReach::new(&[column("angry", "probability"), column("topic", "top")]).is_empty());
    assert!(!CutoffReach::new(&[column("angry", "label")]).is_empty());
}

/// Probabilities of a server that clips to 0.01 and 0.99.
fn stored() -> impl Strategy<Value = Vec<f64>> {
    let probability = prop::sample::select(vec![0.01, 0.02, 0.5, 0.97, 0.99]);
    prop::collection::vec(probability, 80..200)
}

/// Cutoffs in millionths, most of them near 0 or 1.
fn cutoff() -> impl Strategy<Value = u32> {
    prop_oneof![1..30_000_u32, 970_000..ONE, 1..ONE]
}

proptest! {
    #[test]
    fn a_cutoff_that_is_found_gives_every_stored_probability_one_side(
        stored in stored(), cutoffs in (cutoff(), cutoff()),
    ) {
        let (low, high) = (cutoffs.0.min(cutoffs.1), cutoffs.0.max(cutoffs.1));
        prop_assume!(low < high);
        let number = |millionths: u32| f64::from(millionths) / f64::from(ONE);
        let pair = (Some(number(low)), Some(number(high)));
        let cutoffs = Cutoffs::new(pair.0, pair.1).unwrap();
        let labels = |label| stored.iter().all(|it| cutoffs.label(p(*it)) == label);
        let never = |label| stored.iter().all(|it| cutoffs.label(p(*it)) != label);
        for found in unreachable(pair, stored.iter().copied()) {
            let is_so = match (found.name, found.bound) {
                (CutoffName::NoBelow, ProbabilityBound::Highest(_)) => labels(YesNoLabel::No),
                (CutoffName::YesFrom, ProbabilityBound::Highest(_)) => never(YesNoLabel::Yes),
                (CutoffName::NoBelow, ProbabilityBound::Lowest(_)) => never(YesNoLabel::No),
                (CutoffName::YesFrom, ProbabilityBound::Lowest(_)) => labels(YesNoLabel::Yes),
            };
            prop_assert!(is_so, "{found:?}");
        }
    }
}
