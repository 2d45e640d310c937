//! Builds answers from weights. Each protocol reads the weights from its own format.

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Distribution, confidence, most_probable};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{Question, QuestionKind};

use crate::error::ModelError;
use crate::report::ParsedOutcomes;

/// Answers read from one model request.
pub(crate) struct ReadAnswers {
    /// An answer to each question, in order.
    pub(crate) answers: Vec<(QuestionKey, Answer)>,
    /// How many outcomes had a probability from the server.
    pub(crate) parsed: ParsedOutcomes,
}

/// Answers each question, in order. Fails on a question without an answer.
pub(crate) fn answer_each(
    questions: &[Question],
    mut answer: impl FnMut(&Question, &mut ParsedOutcomes) -> Option<Answer>,
) -> Result<ReadAnswers, ModelError> {
    let mut parsed = ParsedOutcomes::default();
    let answers = questions.iter().map(|question| {
        let unanswered = || ModelError::Unanswered(question.key.clone());
        let answer = answer(question, &mut parsed).ok_or_else(unanswered)?;
        Ok((question.key.clone(), answer))
    });
    Ok(ReadAnswers {
        answers: answers.collect::<Result<_, ModelError>>()?,
        parsed,
    })
}

/// The answer to a question with these weights for its outcomes, in order: for a Yes / No question,
/// yes and then no.
pub(crate) fn from_weights(question: &Question, weights: &[f64]) -> Option<Answer> {
    match question.kind {
        QuestionKind::YesNo => Some(Answer::YesNo {
            probability: *normalise(weights).first()?,
        }),
        QuestionKind::Scale { .. } => Answer::scale(distribution(question, weights)?),
        QuestionKind::Choice { .. } => {
            let probabilities = distribution(question, weights)?;
            let value = most_probable(&probabilities)?.clone();
            choice(Some(value), probabilities, None)
        }
    }
}

/// The answer to a Choice question when the model named an option that the question lacks.
pub(crate) fn without_value(question: &Question, weights: &[f64]) -> Option<Answer> {
    choice(None, distribution(question, weights)?, None)
}

/// The answer to a Choice question. Without a confidence from the server, the confidence follows
/// from the probability of the chosen outcome.
pub(crate) fn choice(
    value: Option<OutcomeKey>,
    probabilities: Distribution,
    sent: Option<Probability>,
) -> Option<Answer> {
    let confidence = match (sent, &value) {
        (Some(sent), _) => sent,
        (None, Some(value)) => {
            let (_, chosen) = probabilities.iter().find(|(key, _)| key == value)?;
            confidence(chosen.to_f64(), u32::try_from(probabilities.len()).ok()?)
        }
        (None, None) => Probability::ZERO,
    };
    Some(Answer::Choice {
        value,
        probabilities,
        confidence,
    })
}

fn distribution(question: &Question, weights: &[f64]) -> Option<Distribution> {
    let keys = question
        .outcomes()
        .map(|outcome| OutcomeKey::parse(outcome.key).ok());
    keys.zip(normalise(weights))
        .map(|(key, probability)| Some((key?, probability)))
        .collect()
}

/// Normalises weights. Each is rounded by itself, so that equal ones stay equal: their sum may differ
/// from 1 by a millionth or two. All are 0 if all weights are 0.
fn normalise(weights: &[f64]) -> Vec<Probability> {
    let total: f64 = weights.iter().sum();
    let shares = weights.iter().map(|weight| weight / total);
    shares
        .map(|share| Probability::from_f64(share).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_stay_equal_and_each_is_rounded_by_itself() {
        for (weights, expected) in [
            (
                &[30.0, 30.0, 20.0, 10.0][..],
                &[333_333, 333_333, 222_222, 111_111][..],
            ),
            (&[1.0, 1.0, 4.0], &[166_667, 166_667, 666_667]),
            (&[0.0, 0.0], &[0, 0]),
        ] {
            let found: Vec<_> = normalise(weights)
                .into_iter()
                .map(Probability::millionths)
                .collect();
            assert_eq!(found, expected);
        }
    }
}
