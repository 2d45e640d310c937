//! What stands for a probability of 0 in the log loss.

use refract_domain::answer::{Answer, Probability};
use refract_evaluation::marked::MarkedAnswer;
use refract_evaluation::measures::{QuestionMeasures, ROUNDED_ANSWERS};

use crate::material::{
    assert_close, choice, choice_question, key, marked, p, yes_no, yes_no_answers, yes_no_question,
};

/// Rows of a server that rounds to two decimals; all are right.
fn percents(rows: u64) -> Vec<(f64, bool)> {
    let probabilities = [0.97, 0.98, 0.99, 1.0, 0.95, 0.93];
    let rows = usize::try_from(rows).unwrap();
    let rows = probabilities.iter().cycle().take(rows);
    rows.map(|probability| (*probability, true)).collect()
}

fn losses(rows: &[(f64, bool)], floor: f64) -> f64 {
    let loss = |&(probability, is_yes): &(f64, bool)| {
        let marked = if is_yes {
            probability
        } else {
            1.0 - probability
        };
        -marked.max(floor).ln()
    };
    let count = f64::from(u32::try_from(rows.len()).unwrap());
    rows.iter().map(loss).sum::<f64>() / count
}

#[test]
fn half_a_step_stands_for_0() {
    let mut rows = percents(ROUNDED_ANSWERS);
    rows.push((0.0, true));
    rows.push((1.0, false));
    let measures = yes_no_answers(&rows).measures();
    assert_eq!(measures.log_loss_floor, Some(p(0.005)));
    assert_close(measures.floored_log_loss, losses(&rows, 0.005));
    assert_close(measures.log_loss, losses(&rows, 1e-6));
}

#[test]
fn few_answers_keep_a_millionth() {
    let mut rows = percents(ROUNDED_ANSWERS - 2);
    rows.push((0.0, true));
    let measures = yes_no_answers(&rows).measures();
    assert_eq!(measures.log_loss_floor, Some(p(0.000_001)));
    assert_close(measures.floored_log_loss, losses(&rows, 1e-6));
    assert_eq!(yes_no_answers(&[]).measures().log_loss_floor, None);
}

#[test]
fn all_probabilities_of_a_choice_show_the_step() {
    let question = choice_question(&["a", "b"]);
    let answer = |a, b, other| choice(Some("a"), &[("a", a), ("b", b), ("other", other)]);
    let mut rows = vec![
        (answer(0.5, 0.3, 0.2), "a"),
        (answer(0.912, 0.0, 0.088), "b"),
    ];
    for _ in 0..ROUNDED_ANSWERS {
        rows.push((answer(0.6, 0.3, 0.1), "a"));
    }
    // one answer alone has three decimals
    let measures = marked(&question, &rows).measures();
    assert_eq!(measures.log_loss_floor, Some(p(0.000_5)));
    let count = f64::from(u32::try_from(rows.len()).unwrap());
    let rest = count - 2.0;
    let sum = 0.5_f64.ln() + 0.000_5_f64.ln() + rest * 0.6_f64.ln();
    assert_close(measures.floored_log_loss, -sum / count);
}

/// Measures of answers by model.
fn measured(rows: &[(&str, f64, &str)]) -> QuestionMeasures {
    let question = yes_no_question();
    let mut answers = marked(&question, &[]);
    for (model, probability, mark) in rows {
        let (answer, mark): (Answer, _) = (yes_no(*probability), key(mark));
        let row = MarkedAnswer {
            question: &question,
            answer: &answer,
            mark: &mark,
            model: (!model.is_empty()).then_some(*model),
        };
        answers.add(&row).unwrap();
    }
    answers.measures()
}

#[test]
fn each_model_has_its_own_step() {
    let percents = percents(ROUNDED_ANSWERS);
    let mut rows: Vec<_> = percents
        .iter()
        .flat_map(|(probability, _)| {
            let exact = probability * 0.9 + 0.001_234;
            [("rounds", *probability, "yes"), ("exact", exact, "yes")]
        })
        .collect();
    let before = measured(&rows);
    rows.extend([("rounds", 0.0, "yes"), ("exact", 0.0, "yes")]);
    rows.push(("", 0.0, "yes"));
    let after = measured(&rows);
    assert_eq!(after.log_loss_floor, None);
    let number = |count: u64| f64::from(u32::try_from(count).unwrap());
    let of_zeros = -(0.005_f64.ln() + 2.0 * 1e-6_f64.ln());
    let sum = before.floored_log_loss.unwrap() * number(before.marks) + of_zeros;
    assert_close(after.floored_log_loss, sum / number(after.marks));
}

#[test]
fn a_floor_changes_no_probability_above_0() {
    let rows = percents(ROUNDED_ANSWERS);
    let rounded = yes_no_answers(&rows).measures();
    assert_eq!(
        rounded.log_loss_floor.map(Probability::millionths),
        Some(5_000)
    );
    assert_close(rounded.floored_log_loss, losses(&rows, 1e-6));
}
