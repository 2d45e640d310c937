//! Reads stated percentages. A question is unanswered if its percentages are no distribution.

use refract_domain::answer::Answer;
use refract_domain::prism::question::Question;
use serde_json::value::RawValue;

use super::request::{NAMED_CODES, PERCENT_OTHERS, code_name, percent_name};
use crate::error::ModelError;
use crate::json::{JsonObject, nested, number, object, string};
use crate::protocols::answers::{self, ReadAnswers, answer_each};
use crate::protocols::chat::codes::{CodePiece, CodeShape};
use crate::report::parsed::ParsedOutcomes;

/// What the model states about one question.
struct StatedPercentages {
    /// Weight of each outcome, in order.
    weights: Vec<f64>,
    /// Number of outcomes with a stated percentage.
    listed: usize,
    /// Whether the most probable stated code does not exist in the question.
    is_unknown: bool,
}

/// Reads the answers to these questions.
pub(super) fn read(content: &str, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let stated: JsonObject<'_> = object(inside(content).as_bytes()).unwrap_or_default();
    answer_each(questions, |question, parsed| {
        let raw = stated.get(question.key.as_str())?;
        answer(question, raw, parsed)
    })
}

/// Strips thinking or a code fence around the object, as servers without schemas send them.
fn inside(content: &str) -> &str {
    let content = content.rsplit("</think>").next().unwrap_or_default().trim();
    let content = content.strip_prefix("```").unwrap_or(content);
    let content = content.strip_prefix("json").unwrap_or(content);
    content.strip_suffix("```").unwrap_or(content)
}

fn answer(question: &Question, raw: &RawValue, parsed: &mut ParsedOutcomes) -> Option<Answer> {
    let json: JsonObject<'_> = nested(raw)?;
    let shape = CodeShape::of(question);
    let stated = match shape {
        CodeShape::YesNo | CodeShape::Digit | CodeShape::Letter => {
            percentages_of_all(&json, shape, shape.outcomes(question))?
        }
        CodeShape::LetterDigit => percentages_of_named(&json, shape.outcomes(question))?,
    };
    let is_zero = stated.weights.iter().all(|weight| *weight <= 0.0);
    if is_zero && !stated.is_unknown {
        return None;
    }
    parsed.outcomes += stated.weights.len();
    parsed.listed += stated.listed;
    // only Choice questions have unknown codes: other answers are keyed by code
    if stated.is_unknown {
        answers::without_value(question, &stated.weights)
    } else {
        answers::from_weights(question, &stated.weights)
    }
}

/// Reads a percentage for each outcome.
fn percentages_of_all(
    json: &JsonObject<'_>,
    shape: CodeShape,
    outcomes: usize,
) -> Option<StatedPercentages> {
    let weights = (0..outcomes).map(|place| percent(json, &shape.code(place)));
    Some(StatedPercentages {
        weights: weights.collect::<Option<_>>()?,
        listed: outcomes,
        is_unknown: false,
    })
}

/// Reads the codes that the model named, with their percentages. The other codes share the
/// remaining percentage evenly.
fn percentages_of_named(json: &JsonObject<'_>, outcomes: usize) -> Option<StatedPercentages> {
    let mut named: Vec<Option<f64>> = vec![None; outcomes];
    let mut first: Option<(usize, f64)> = None;
    for rank in 1..=NAMED_CODES {
        let code = json.get(&code_name(rank)).and_then(string)?;
        let percent = percent(json, &percent_name(rank))?;
        let Some(CodePiece::Code(place)) = CodeShape::LetterDigit.read(code.trim().as_bytes())
        else {
            // a rank that the model left empty
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
    let listed = outcomes - others;
    let others = f64::from(u32::try_from(others.max(1)).ok()?);
    let share = percent(json, PERCENT_OTHERS)? / others;
    let weights = named.into_iter().map(|named| named.unwrap_or(share));
    Some(StatedPercentages {
        weights: weights.collect(),
        listed,
        is_unknown: first.is_some_and(|(place, percent)| place >= outcomes && percent > 0.0),
    })
}

/// A percentage: finite and not below 0.
fn percent(json: &JsonObject<'_>, key: &str) -> Option<f64> {
    let percent = json.get(key).and_then(number)?;
    (percent.is_finite() && percent >= 0.0).then_some(percent)
}
