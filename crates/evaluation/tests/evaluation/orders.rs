//! How much answers depend on the order in which options are listed.

use refract_evaluation::flips::{AnswerSensitivity, SensitivityMeasures};
use refract_evaluation::marked::NotComparable;
use refract_evaluation::measures::Proportion;

use crate::material::{assert_close, choice, scale, yes_no};

fn compared(
    pairs: &[(
        refract_domain::answer::Answer,
        refract_domain::answer::Answer,
    )],
) -> SensitivityMeasures {
    let mut sensitivity = AnswerSensitivity::default();
    for (first, other) in pairs {
        sensitivity.add(first, other).unwrap();
    }
    sensitivity.measures()
}

#[test]
fn probabilities_are_compared_by_outcome_wherever_it_is_listed() {
    let first = choice(Some("a"), &[("a", 0.7), ("b", 0.3)]);
    let moved = choice(Some("a"), &[("b", 0.3), ("a", 0.7)]);
    let other = choice(Some("b"), &[("b", 0.6), ("a", 0.4)]);
    let measures = compared(&[(first.clone(), moved), (first, other)]);
    assert_eq!(measures.comparisons, 2);
    assert_eq!(measures.flip_rate, Proportion { count: 1, of: 2 });
    assert_close(measures.mean_total_variation, 0.15);
    assert_close(measures.largest_total_variation, 0.3);
}

#[test]
fn an_outcome_that_one_answer_lacks_has_probability_0_there() {
    let first = choice(Some("a"), &[("a", 1.0)]);
    let other = choice(Some("b"), &[("b", 1.0)]);
    let measures = compared(&[(first, other)]);
    assert_close(measures.largest_total_variation, 1.0);
}

#[test]
fn a_value_flips_to_none_a_level_to_another_and_a_yes_no_over_one_half() {
    let named = || choice(Some("a"), &[("a", 0.5)]);
    let unnamed = || choice(None, &[("a", 0.5)]);
    let low = || scale(&[("low", 0.6), ("high", 0.4)]);
    let high = || scale(&[("low", 0.4), ("high", 0.6)]);
    for (first, other, flips, variation) in [
        (named(), unnamed(), 1, 0.0),
        (unnamed(), unnamed(), 0, 0.0),
        (low(), high(), 1, 0.2),
        (low(), low(), 0, 0.0),
        (yes_no(0.5), yes_no(0.4), 1, 0.1),
        (yes_no(0.9), yes_no(0.6), 0, 0.3),
    ] {
        let measures = compared(&[(first, other)]);
        let expected = Proportion {
            count: flips,
            of: 1,
        };
        assert_eq!(measures.flip_rate, expected, "{measures:?}");
        assert_close(measures.mean_total_variation, variation);
    }
}

#[test]
fn answers_of_two_types_are_not_compared() {
    let mut sensitivity = AnswerSensitivity::default();
    let refused = sensitivity.add(&yes_no(0.5), &scale(&[("low", 1.0)]));
    let error = NotComparable::Type {
        expected: "yes_no",
        found: "scale",
    };
    assert_eq!(refused, Err(error));
    assert_eq!(sensitivity.measures().comparisons, 0);
    assert_eq!(sensitivity.measures().mean_total_variation, None);
}
