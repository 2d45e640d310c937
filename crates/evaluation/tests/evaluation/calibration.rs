//! Calibration of probabilities: Brier score, log loss, reliability.

use crate::material::{
    assert_close, choice, choice_question, marked, p, scale, scale_question, yes_no_answers,
};

#[test]
fn scores_of_a_choice_are_over_all_outcomes_of_the_distribution() {
    let question = choice_question(&["a", "b"]);
    let stated = [("a", 0.5), ("b", 0.3), ("other", 0.2)];
    let measures = marked(&question, &[(choice(None, &stated), "b")]).measures();
    assert_close(measures.brier, 0.25 + 0.49 + 0.04);
    assert_close(measures.log_loss, -(0.3_f64.ln()));
}

#[test]
fn scores_of_a_yes_no_are_those_of_the_probability_of_yes() {
    let measures = yes_no_answers(&[(0.8, true), (0.7, false)]).measures();
    assert_close(measures.brier, f64::midpoint(0.04, 0.49));
    assert_close(
        measures.log_loss,
        -f64::midpoint(0.8_f64.ln(), 0.3_f64.ln()),
    );
}

#[test]
fn log_loss_takes_a_millionth_for_0_where_no_rounding_shows() {
    let most = -(1e-6_f64.ln());
    let sure_of_yes = yes_no_answers(&[(1.0, false)]).measures();
    assert_close(sure_of_yes.log_loss, most);
    assert_close(sure_of_yes.brier, 1.0);
    let stated = [("a", 1.0), ("b", 0.0)];
    let question = choice_question(&["a", "b"]);
    let sure_of_a = marked(&question, &[(choice(Some("a"), &stated), "b")]).measures();
    assert_close(sure_of_a.log_loss, most);
    assert_close(sure_of_a.brier, 2.0);
}

#[test]
fn reliability_has_15_bins_of_equal_count_and_earlier_ones_take_the_remainder() {
    let rows: Vec<(f64, bool)> = (0..32_u32)
        .rev()
        .map(|number| (f64::from(number) / 100.0, number % 2 == 0))
        .collect();
    let measures = yes_no_answers(&rows).measures();
    let counts: Vec<u64> = measures.reliability.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    let (first, third) = (measures.reliability[0], measures.reliability[2]);
    assert_eq!((first.from, first.to), (p(0.0), p(0.02)));
    assert_close(Some(first.mean_probability), 0.01);
    assert_close(Some(first.share_right), 2.0 / 3.0);
    assert_eq!((third.from, third.to), (p(0.06), p(0.07)));
}

#[test]
fn rows_of_one_probability_stay_in_one_bin() {
    let rows: Vec<(f64, bool)> = (0..30).map(|number| (0.5, number < 15)).collect();
    let measures = yes_no_answers(&rows).measures();
    let counts: Vec<u64> = measures.reliability.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [30]);
    assert_close(measures.ece, 0.0);
    // of 45 rows a bin has three, and the one that meets the tie takes all of it
    let rows: Vec<(f64, bool)> = (0..45_u32)
        .map(|number| if (4..20).contains(&number) { 4 } else { number })
        .map(|number| (f64::from(number) / 100.0, false))
        .collect();
    let measures = yes_no_answers(&rows).measures();
    let counts: Vec<u64> = measures.reliability.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [3, 17, 1, 3, 3, 3, 3, 3, 3, 3, 3]);
}

#[test]
fn bins_without_rows_are_left_out() {
    let measures = yes_no_answers(&[(0.2, false), (0.8, true)]).measures();
    assert_eq!(measures.reliability.len(), 2);
    assert_close(measures.ece, 0.2);
}

#[test]
fn reliability_of_choices_and_scales_is_that_of_what_was_predicted() {
    let question = choice_question(&["a", "b"]);
    let named = choice(Some("b"), &[("a", 0.6), ("b", 0.4)]);
    let unnamed = choice(None, &[("a", 0.6), ("b", 0.4)]);
    let measures = marked(&question, &[(named, "b"), (unnamed, "a")]).measures();
    let bins = measures.reliability;
    assert_eq!((bins.len(), bins[0].from), (1, p(0.4)));
    assert_close(measures.ece, 0.6);

    let question = scale_question(&["low", "high"]);
    let answer = scale(&[("low", 0.25), ("high", 0.75)]);
    let measures = marked(&question, &[(answer, "low")]).measures();
    assert_close(measures.ece, 0.75);
}

#[test]
fn an_outcome_that_the_answer_does_not_list_has_probability_0() {
    let question = choice_question(&["a", "b"]);
    let answer = choice(Some("b"), &[("a", 0.5)]);
    let measures = marked(&question, &[(answer, "b")]).measures();
    assert_close(measures.brier, 1.25);
    assert_close(measures.ece, 1.0);
}

#[test]
fn an_answer_may_list_its_outcomes_in_another_order_than_the_version() {
    let question = choice_question(&["a", "b"]);
    let answer = choice(Some("b"), &[("other", 0.0), ("b", 0.9), ("a", 0.1)]);
    let measures = marked(&question, &[(answer, "a")]).measures();
    assert_close(measures.log_loss, -(0.1_f64.ln()));
    assert_close(measures.ece, 0.9);
}
