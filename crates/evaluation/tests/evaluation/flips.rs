//! How many answers flip when texts are asked again, and towards what.

use proptest::prelude::*;
use refract_evaluation::flips::{FlipCounts, FlipDirection, sureness};
use refract_evaluation::measures::Proportion;

use crate::material::{assert_close, choice, key, p, scale, yes_no};

/// The counts of pairs of outcomes, each with a mark or without.
fn counted(pairs: &[(Option<&str>, Option<&str>, Option<&str>)]) -> FlipCounts {
    let mut counts = FlipCounts::default();
    for (before, after, mark) in pairs {
        let [before, after, mark] = [before, after, mark].map(|outcome| outcome.map(key));
        counts.add(before.as_ref(), after.as_ref(), mark.as_ref());
    }
    counts
}

#[test]
fn flips_are_listed_by_their_two_outcomes_the_most_frequent_first() {
    let measures = counted(&[
        (Some("a"), Some("a"), None),
        (Some("b"), Some("a"), None),
        (Some("a"), Some("c"), None),
        (Some("b"), Some("a"), None),
        (None, Some("a"), None),
        (None, None, None),
    ])
    .measures();
    assert_eq!(measures.flip_rate, Proportion { count: 4, of: 6 });
    let direction = |from: Option<&str>, to: Option<&str>, count| FlipDirection {
        from: from.map(key),
        to: to.map(key),
        count,
    };
    assert_eq!(
        measures.towards,
        [
            direction(Some("b"), Some("a"), 2),
            direction(None, Some("a"), 1),
            direction(Some("a"), Some("c"), 1),
        ]
    );
    assert_eq!((measures.marked, measures.mcnemar_p()), (None, None));
}

#[test]
fn marked_texts_for_which_both_name_an_outcome_are_compared() {
    let measures = counted(&[
        (Some("a"), Some("b"), Some("b")),
        (Some("a"), Some("b"), Some("b")),
        (Some("a"), Some("b"), Some("a")),
        (Some("a"), Some("a"), Some("a")),
        (Some("a"), Some("b"), Some("c")),
        (None, Some("a"), Some("a")),
        (Some("a"), Some("b"), None),
    ])
    .measures();
    let marked = measures.marked.unwrap();
    assert_eq!(marked.rows, 5);
    assert_eq!((marked.only_a_right, marked.only_b_right), (1, 2));
    // three tosses of a coin split 1 to 2 or less evenly always
    assert_close(measures.mcnemar_p(), 1.0);
}

#[test]
fn a_flip_is_as_sure_as_the_less_sure_answer() {
    assert_eq!(sureness(&yes_no(0.95), &yes_no(0.25)), p(0.5));
    assert_eq!(sureness(&yes_no(0.25), &yes_no(0.95)), p(0.5));
    // two of four outcomes share the rest: (0.7 - 1/4) / (1 - 1/4)
    let topic = choice(Some("a"), &[("a", 0.7), ("b", 0.3), ("c", 0.0), ("d", 0.0)]);
    assert_eq!(sureness(&topic, &topic), p(0.6));
    let even = scale(&[("low", 0.5), ("high", 0.5)]);
    assert_eq!(sureness(&topic, &even), p(0.0));
}

proptest! {
    #[test]
    fn every_flip_has_one_direction_and_the_way_back_has_as_many(
        pairs in proptest::collection::vec((0_usize..4, 0_usize..4, 0_usize..4), 0..60),
    ) {
        let outcomes = [None, Some("a"), Some("b"), Some("c")];
        let there: Vec<_> = pairs
            .iter()
            .map(|&(before, after, mark)| (outcomes[before], outcomes[after], outcomes[mark]))
            .collect();
        let back: Vec<_> = there.iter().map(|&(before, after, mark)| (after, before, mark)).collect();
        let (there, back) = (counted(&there).measures(), counted(&back).measures());
        let listed: u64 = there.towards.iter().map(|direction| direction.count).sum();
        prop_assert_eq!(listed, there.flip_rate.count);
        prop_assert!(there.towards.iter().all(|direction| direction.from != direction.to));
        prop_assert_eq!(there.flip_rate, back.flip_rate);
        prop_assert_eq!(there.mcnemar_p(), back.mcnemar_p());
    }
}
