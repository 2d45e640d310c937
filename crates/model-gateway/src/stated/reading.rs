//! Reads stated percentages with care: what is no distribution is unanswered.

use refract_domain::answer::Answer;
use refract_domain::key::QuestionKey;
use refract_domain::probability::Probability;
use refract_domain::question::{Question, QuestionKind};
use serde_json::value::RawValue;

use super::request::{NAMED, OTHERS, code_name, percent_name};
use crate::chat::answer::{choice, distribution};
use crate::chat::codes::{Piece, Shape};
use crate::failure::ModelFailure;
use crate::json::{Keyed, number, object, string};
use crate::seen::Seen;
use crate::shares;

/// What the model states about one question.
struct Stated {
    /// Of each outcome in order.
    weights: Vec<f64>,
    /// Those that have a percentage of their own.
    shown: usize,
    /// The model's first choice is a code that the question lacks.
    is_unknown: bool,
}

/// Reads the answers to these questions.
pub(super) fn read(
    content: &str,
    questions: &[Question],
) -> Result<(Vec<(QuestionKey, Answer)>, Seen), ModelFailure> {
    let stated: Keyed<'_> = object(inside(content).as_bytes()).unwrap_or_default();
    let mut seen = Seen::default();
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let answer = stated
            .get(question.key.as_str())
            .and_then(|raw| answer(question, raw, &mut seen))
            .ok_or_else(|| ModelFailure::Unanswered(question.key.clone()))?;
        answers.push((question.key.clone(), answer));
    }
    Ok((answers, seen))
}

/// Without the thinking or the fence that a server without schemas leaves around the object.
fn inside(content: &str) -> &str {
    let content = content.rsplit("</think>").next().unwrap_or_default().trim();
    let content = content.strip_prefix("```").unwrap_or(content);
    let content = content.strip_prefix("json").unwrap_or(content);
    content.strip_suffix("```").unwrap_or(content)
}

fn answer(question: &Question, raw: &RawValue, seen: &mut Seen) -> Option<Answer> {
    let json: Keyed<'_> = object(raw.get().as_bytes())?;
    let shape = Shape::of(question);
    let stated = match shape {
        Shape::YesNo => each(&json, shape, shape.codes())?,
        Shape::Digit | Shape::Letter => each(&json, shape, question.outcomes().count())?,
        Shape::LetterDigit => most_probable_ones(&json, question.outcomes().count())?,
    };
    let is_zero = stated.weights.iter().all(|weight| *weight <= 0.0);
    if is_zero && !stated.is_unknown {
        return None;
    }
    seen.outcomes += stated.weights.len();
    seen.shown += stated.shown;
    let shares = shares::of(&stated.weights);
    match question.kind {
        QuestionKind::YesNo => Some(Answer::YesNo {
            probability: *shares.first()?,
        }),
        QuestionKind::Scale { .. } => Answer::scale(distribution(question, shares)?),
        QuestionKind::Choice { .. } if stated.is_unknown => Some(Answer::Choice {
            value: None,
            probabilities: distribution(question, shares)?,
            confidence: Probability::ZERO,
        }),
        QuestionKind::Choice { .. } => choice(distribution(question, shares)?),
    }
}

/// A percentage for each outcome.
fn each(json: &Keyed<'_>, shape: Shape, outcomes: usize) -> Option<Stated> {
    let weights = (0..outcomes).map(|place| percent(json, &shape.code(place)));
    Some(Stated {
        weights: weights.collect::<Option<_>>()?,
        shown: outcomes,
        is_unknown: false,
    })
}

/// The codes that the model named with their percentages; all others share theirs evenly.
fn most_probable_ones(json: &Keyed<'_>, outcomes: usize) -> Option<Stated> {
    let mut named: Vec<Option<f64>> = vec![None; outcomes];
    let mut first: Option<(usize, f64)> = None;
    for rank in 1..=NAMED {
        let code = json.get(&code_name(rank)).and_then(string)?;
        let percent = percent(json, &percent_name(rank))?;
        let Some(Piece::Code(place)) = Shape::LetterDigit.read(code.trim().as_bytes()) else {
            // a place that the model had nothing for
            if percent > 0.0 {
                return None;
            }
            continue;
        };
        if first.is_none_or(|(_, most)| percent > most) {
            first = Some((place, percent));
        }
        if let Some(slot) = named.get_mut(place) {
            // a code named twice counts once
            *slot = Some(slot.unwrap_or_default().max(percent));
        }
    }
    let others = named.iter().filter(|percent| percent.is_none()).count();
    let shown = outcomes - others;
    let others = f64::from(u32::try_from(others.max(1)).ok()?);
    let share = percent(json, OTHERS)? / others;
    let weights = named.into_iter().map(|named| named.unwrap_or(share));
    Some(Stated {
        weights: weights.collect(),
        shown,
        is_unknown: first.is_some_and(|(place, percent)| place >= outcomes && percent > 0.0),
    })
}

/// A percentage: finite and not below 0.
fn percent(json: &Keyed<'_>, key: &str) -> Option<f64> {
    let percent = json.get(key).and_then(number)?;
    (percent.is_finite() && percent >= 0.0).then_some(percent)
}
