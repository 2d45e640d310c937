use proptest::prelude::*;

use super::*;

fn p(value: f64) -> Probability {
    Probability::from_f64(value).unwrap()
}

#[test]
fn cutoffs_part_no_unsure_and_yes() {
    let label = |no_below, yes_from, probability| {
        Cutoffs::new(no_below, yes_from)
            .unwrap()
            .label(p(probability))
            .key()
    };
    for (no_below, yes_from, probability, expected) in [
        (None, None, 0.499_999, "no"),
        (None, None, 0.5, "yes"),
        (Some(0.4), None, 0.399_999, "no"),
        (Some(0.4), None, 0.4, "yes"),
        (Some(0.4), Some(0.6), 0.4, "unsure"),
        (Some(0.4), Some(0.6), 0.599_999, "unsure"),
        (Some(0.4), Some(0.6), 0.6, "yes"),
        (None, Some(0.8), 0.499_999, "no"),
        (None, Some(0.8), 0.5, "unsure"),
        (None, Some(0.8), 0.8, "yes"),
        (Some(0.3), Some(1.0), 0.999_999, "unsure"),
        (Some(0.3), Some(1.0), 1.0, "yes"),
    ] {
        assert_eq!(
            label(no_below, yes_from, probability),
            expected,
            "{no_below:?} {yes_from:?} {probability}"
        );
    }
}

#[test]
fn a_cutoff_finer_than_a_probability_is_compared_exactly() {
    let cutoffs = Cutoffs::new(Some(0.300_000_1), None).unwrap();
    assert_eq!(cutoffs.label(p(0.3)), YesNoLabel::No);
    assert_eq!(cutoffs.label(p(0.300_001)), YesNoLabel::Yes);
    let tiny = Cutoffs::new(Some(1e-300), None).unwrap();
    assert_eq!(tiny.label(Probability::ZERO), YesNoLabel::No);
    assert_eq!(tiny.label(p(0.000_001)), YesNoLabel::Yes);
}

proptest! {
    #[test]
    fn a_cutoff_written_with_six_decimals_is_reached_from_itself_on(millionths in 1_u32..ONE) {
        let written: f64 = format!("0.{millionths:06}").parse().unwrap();
        let cutoffs = Cutoffs::new(Some(written), None).unwrap();
        let at = Probability::from_millionths(millionths).unwrap();
        let below = Probability::from_millionths(millionths - 1).unwrap();
        prop_assert_eq!(cutoffs.label(at), YesNoLabel::Yes);
        prop_assert_eq!(cutoffs.label(below), YesNoLabel::No);
    }

    #[test]
    fn millionths_are_rounded_up_from_the_written_decimal(
        any in 0.0_f64..=1.0, millionths in 1_u32..ONE,
    ) {
        let exact = p(f64::from(millionths) / f64::from(ONE)).to_f64();
        for value in [any, exact.next_down(), exact, exact.next_up()] {
            let written = value.to_string();
            let (whole, decimals) = written.split_once('.').unwrap_or((&written, ""));
            let first: u32 = format!("{whole}{decimals:0<6.6}").parse().unwrap();
            let has_more = decimals.bytes().skip(6).any(|digit| digit != b'0');
            prop_assert_eq!(ceil_millionths(value), first + u32::from(has_more), "{}", written);
        }
    }

    #[test]
    fn the_label_of_any_cutoffs_never_falls_as_the_probability_rises(
        no_below in 0.01_f64..0.98, band in 0.001_f64..1.0, low in 0..=ONE, high in 0..=ONE,
    ) {
        let yes_from = (no_below + band).min(1.0);
        let cutoffs = Cutoffs::new(Some(no_below), Some(yes_from)).unwrap();
        let rank = |millionths| match cutoffs.label(Probability::from_millionths(millionths).unwrap()) {
            YesNoLabel::No => 0,
            YesNoLabel::Unsure => 1,
            YesNoLabel::Yes => 2,
        };
        prop_assert!(rank(low.min(high)) <= rank(low.max(high)));
    }
}
