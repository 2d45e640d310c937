//! Measures the cases on standard input, one JSON object a line, and writes one line for each:
//! `.ci/gate/check-evaluation` compares them with scikit-learn and SciPy.
//!
//! A case is `{"kind": "question", …}` with marked answers, `{"kind": "paired", …}` with counts of
//! rows, `{"kind": "orders", …}` with pairs of answers, `{"kind": "binomial", …}` with counts,
//! `{"kind": "drift", …}` with the answers of two windows, or `{"kind": "agreement", …}` with people's
//! marks.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use refract_domain::answer::{Answer, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::comparison::PairedAnswers;
use refract_evaluation::cutoffs::{
    Certificate, Certification, CertifiedCutoffs, CertifiedGoal, CutoffAdvice, CutoffGoal,
    exact_binomial,
};
use refract_evaluation::drift::{AnswerTally, OutcomeShare, QuestionDrift};
use refract_evaluation::flips::AnswerSensitivity;
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers};
use refract_evaluation::measures::{
    AgreementCounts, Automation, AutomationAdvice, Interval, Proportion, QuestionMeasures,
};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let measured = match text(&case, "kind")? {
            "question" => question(&case)?,
            "paired" => paired(&case)?,
            "orders" => orders(&case)?,
            "binomial" => binomial(&case)?,
            "drift" => drift(&case)?,
            "agreement" => agreement(&case)?,
            kind => return Err(format!("`{kind}` is no kind of case").into()),
        };
        serde_json::to_writer(io::stdout(), &measured)?;
        io::Write::write_all(&mut io::stdout(), b"\n")?;
    }
    Ok(())
}

/// Measures marked answers: `versions` has the question of each version, the latest first; each
/// element of `rows` is `[version, answer, mark]`.
fn question(case: &Value) -> Result<Value, Box<dyn Error>> {
    let versions: Vec<Question> = serde_json::from_value(member(case, "versions")?.clone())?;
    let latest = versions.first().ok_or("a case has a version")?;
    let cutoffs = cutoffs(case)?;
    let mut answers = MarkedAnswers::new(latest.question_type(), cutoffs);
    answers.expect_outcomes(latest)?;
    for row in list(case, "rows")? {
        let (version, answer, mark): (usize, Answer, OutcomeKey) =
            serde_json::from_value(row.clone())?;
        answers.add(&MarkedAnswer {
            question: versions.get(version).ok_or("a row has a version")?,
            answer: &answer,
            mark: &mark,
            model: None,
        })?;
    }
    let wanted = list(case, "accuracies")?.iter().filter_map(Value::as_f64);
    let automation: Vec<Value> = wanted
        .map(|wanted| answers.coverage_for(wanted).map_or(Value::Null, advice))
        .collect();
    let mut cutoffs = Vec::new();
    for written in list(case, "goals")? {
        let advice = answers.advise_cutoffs(goal(written)?);
        cutoffs.push(advice.map_or(Value::Null, cutoff_advice));
    }
    let mut certified = Vec::new();
    for promise in list(case, "promises")? {
        let (error, sure): (f64, f64) = serde_json::from_value(promise.clone())?;
        let goal = CertifiedGoal::new(error, sure).ok_or("a promise has two shares")?;
        certified.push(certificate(&answers.certify(goal)));
    }
    let mut measured = measures(&answers.measures());
    if let Some(members) = measured.as_object_mut() {
        members.insert("automation".to_owned(), automation.into());
        members.insert("cutoffs".to_owned(), cutoffs.into());
        members.insert("certified".to_owned(), certified.into());
    }
    Ok(measured)
}

fn measures(measures: &QuestionMeasures) -> Value {
    let outcomes = measures.outcomes.iter().map(|outcome| {
        json!({"key": outcome.key, "marked": outcome.marked, "predicted": outcome.predicted,
            "precision": outcome.precision, "recall": outcome.recall, "f1": outcome.f1})
    });
    let confusion = measures
        .confusion
        .iter()
        .map(|cell| json!([cell.marked, cell.predicted, cell.count]));
    let reliability = measures.reliability.iter().map(|bin| {
        json!({"from": millionths(bin.from), "to": millionths(bin.to), "count": bin.count,
            "mean_probability": bin.mean_probability, "share_right": bin.share_right})
    });
    let coverage = measures
        .coverage
        .points
        .iter()
        .map(|point| json!([point.confidence, point.coverage, point.accuracy]));
    let scale = measures.scale.map(|scale| {
        json!({"mean_absolute_error": scale.mean_absolute_error, "within_one": scale.within_one,
            "quadratic_kappa": scale.quadratic_kappa})
    });
    json!({
        "marks": measures.marks,
        "answered": measures.answered,
        "accuracy": measures.accuracy.value(),
        "accuracy_interval": measures.accuracy.interval().map(interval),
        "majority": measures.majority.value(),
        "auc": measures.auc,
        "brier": measures.brier,
        "log_loss": measures.log_loss,
        "floored_log_loss": measures.floored_log_loss,
        "log_loss_floor": measures.log_loss_floor.map(millionths),
        "ece": measures.ece,
        "outcomes": outcomes.collect::<Vec<_>>(),
        "macro": [measures.macro_average.precision, measures.macro_average.recall,
            measures.macro_average.f1],
        "confusion": confusion.collect::<Vec<_>>(),
        "reliability": reliability.collect::<Vec<_>>(),
        "coverage": coverage.collect::<Vec<_>>(),
        "coverage_area": measures.coverage.area,
        "scale": scale,
    })
}

/// Reads a goal: `["precision", 0.9]`, `["recall", 0.9]` or `["costs", wrong_yes, wrong_no]`.
fn goal(written: &Value) -> Result<CutoffGoal, Box<dyn Error>> {
    let number = |place: usize| {
        let number = written.get(place).and_then(Value::as_f64);
        number.ok_or("a goal has numbers")
    };
    match written.get(0).and_then(Value::as_str) {
        Some("precision") => Ok(CutoffGoal::Precision(number(1)?)),
        Some("recall") => Ok(CutoffGoal::Recall(number(1)?)),
        Some("costs") => Ok(CutoffGoal::Costs {
            wrong_yes: number(1)?,
            wrong_no: number(2)?,
        }),
        Some(_) | None => Err("a goal is precision, recall or costs".into()),
    }
}

fn advice(advice: AutomationAdvice) -> Value {
    json!({"confidence": advice.confidence, "all": automation(advice.all),
        "held_out": automation(advice.held_out)})
}

fn automation(automation: Automation) -> Value {
    json!({"coverage": proportion(automation.coverage), "accuracy": proportion(automation.accuracy)})
}

fn cutoff_advice(advice: CutoffAdvice) -> Value {
    let held_out = advice.held_out;
    json!({"no_below": advice.no_below, "yes_from": advice.yes_from, "marks": advice.marks,
        "marked_yes": advice.marked_yes, "behind": advice.behind,
        "held_out": {"precision": proportion(held_out.precision),
            "recall": proportion(held_out.recall), "coverage": proportion(held_out.coverage),
            "no_precision": proportion(held_out.no_precision), "cost": held_out.cost}})
}

fn certificate(certificate: &Certificate) -> Value {
    let region = certificate.certified();
    let (no_below, yes_from) = match region.map(|region| region.cutoffs) {
        Some(CertifiedCutoffs::YesNo { no_below, yes_from }) => (Some(no_below), Some(yes_from)),
        Some(CertifiedCutoffs::Confidence(percent)) => (None, Some(percent)),
        None => (None, None),
    };
    let held_out = certificate.held_out;
    let right = held_out.precision.count + held_out.no_precision.count;
    json!({"marks": certificate.marks, "no_below": no_below, "yes_from": yes_from,
        "wrong": region.map(|region| proportion(region.wrong)),
        "error_at_most": region.map(|region| region.error_at_most),
        "more_marks": match certificate.certification {
            Certification::Certified(_) => Some(0),
            Certification::MoreMarks(more) => Some(more),
            Certification::OutOfReach => None,
        },
        "held_out": [right, held_out.coverage.count, held_out.coverage.of]})
}

/// The binomial tail and bound of a count of wrong answers.
fn binomial(case: &Value) -> Result<Value, Box<dyn Error>> {
    let wrong = serde_json::from_value(member(case, "wrong")?.clone())?;
    let of = serde_json::from_value(member(case, "of")?.clone())?;
    let error = serde_json::from_value(member(case, "error")?.clone())?;
    let level = serde_json::from_value(member(case, "level")?.clone())?;
    Ok(json!({
        "at_most": exact_binomial::probability_of_at_most(wrong, of, error),
        "upper_bound": exact_binomial::upper_bound(wrong, of, level),
    }))
}

/// Compares two sets of answers by counts of rows.
fn paired(case: &Value) -> Result<Value, Box<dyn Error>> {
    let mut pairs = PairedAnswers::default();
    let kinds = [
        ("both_right", true, true),
        ("only_a_right", true, false),
        ("only_b_right", false, true),
        ("both_wrong", false, false),
    ];
    for (name, a_right, b_right) in kinds {
        for _ in 0..member(case, name)?.as_u64().ok_or("a count is a number")? {
            pairs.add(a_right, b_right);
        }
    }
    let comparison = pairs.compare();
    Ok(json!({
        "rows": comparison.rows,
        "a": proportion(comparison.a),
        "b": proportion(comparison.b),
        "difference": comparison.difference,
        "interval": comparison.interval.map(interval),
        "only_a_right": comparison.only_a_right,
        "only_b_right": comparison.only_b_right,
        "mcnemar_p": comparison.mcnemar_p,
    }))
}

/// Compares answers to the same texts with options in another order.
fn orders(case: &Value) -> Result<Value, Box<dyn Error>> {
    let mut sensitivity = AnswerSensitivity::default();
    for pair in list(case, "pairs")? {
        let (first, other): (Answer, Answer) = serde_json::from_value(pair.clone())?;
        sensitivity.add(&first, &other)?;
    }
    let measures = sensitivity.measures();
    Ok(json!({
        "comparisons": measures.comparisons,
        "flip_rate": proportion(measures.flip_rate),
        "mean_total_variation": measures.mean_total_variation,
        "largest_total_variation": measures.largest_total_variation,
    }))
}

/// Compares the answers to a question in two windows, `now` and `before`.
fn drift(case: &Value) -> Result<Value, Box<dyn Error>> {
    let question: Question = serde_json::from_value(member(case, "question")?.clone())?;
    let tally = |window: &str| -> Result<AnswerTally, Box<dyn Error>> {
        let mut tally = AnswerTally::default();
        for answer in list(case, window)? {
            tally.add(&serde_json::from_value(answer.clone())?);
        }
        Ok(tally)
    };
    let (now, before) = (tally("now")?, tally("before")?);
    let drift = QuestionDrift::between(&question, cutoffs(case)?, &now, &before);
    let shares = drift.shares.iter().map(share);
    let probabilities = drift.probabilities.map(|it| {
        // near 0 a rounding error of the divergence is a large one of its square root
        json!({"psi": it.psi, "js_squared": it.js.powi(2), "psi_by_chance": it.psi_by_chance,
            "js_by_chance": it.js_by_chance, "p": it.p})
    });
    Ok(json!({
        "now": drift.now,
        "before": drift.before,
        "shares": shares.collect::<Vec<_>>(),
        "probabilities": probabilities,
    }))
}

/// Measures how far people agree; each element of `marks` is `[text, person, outcome]`.
fn agreement(case: &Value) -> Result<Value, Box<dyn Error>> {
    let question: Question = serde_json::from_value(member(case, "question")?.clone())?;
    let mut texts: BTreeMap<u64, Vec<(usize, OutcomeKey)>> = BTreeMap::new();
    for mark in list(case, "marks")? {
        let (text, person, outcome) = serde_json::from_value(mark.clone())?;
        texts.entry(text).or_default().push((person, outcome));
    }
    let mut counts = AgreementCounts::new(question.question_type());
    for marks in texts.values() {
        let marks = marks.iter().map(|(person, outcome)| (*person, outcome));
        counts.add(&question, &marks.collect::<Vec<_>>());
    }
    let agreement = counts.agreement();
    Ok(json!({
        "people": agreement.people,
        "texts": agreement.texts,
        "pairs": proportion(agreement.pairs),
        "kappa": agreement.kappa,
        "quadratic_kappa": agreement.quadratic_kappa,
        "alpha": agreement.alpha,
    }))
}

fn share(share: &OutcomeShare) -> Value {
    let change = share.change;
    json!({"outcome": share.outcome, "now": proportion(change.now),
        "before": proportion(change.before), "difference": change.difference(),
        "difference_interval": change.interval().map(interval), "p": change.p()})
}

fn cutoffs(case: &Value) -> Result<Cutoffs, Box<dyn Error>> {
    let cutoffs = Cutoffs::new(
        member(case, "no_below")?.as_f64(),
        member(case, "yes_from")?.as_f64(),
    );
    Ok(cutoffs.map_err(|_| "the cutoffs are no cutoffs")?)
}

fn proportion(proportion: Proportion) -> Value {
    json!([proportion.count, proportion.of])
}

fn interval(interval: Interval) -> Value {
    json!([interval.low, interval.high])
}

fn millionths(probability: Probability) -> u32 {
    probability.millionths()
}

fn member<'a>(case: &'a Value, name: &str) -> Result<&'a Value, Box<dyn Error>> {
    case.get(name)
        .ok_or_else(|| format!("a case has `{name}`").into())
}

fn text<'a>(case: &'a Value, name: &str) -> Result<&'a str, Box<dyn Error>> {
    let text = member(case, name)?.as_str();
    text.ok_or_else(|| format!("`{name}` is a text").into())
}

fn list<'a>(case: &'a Value, name: &str) -> Result<&'a Vec<Value>, Box<dyn Error>> {
    let list = member(case, name)?.as_array();
    list.ok_or_else(|| format!("`{name}` is a list").into())
}
