//! `builtin:lexical`: answers by comparing words, for trying the service without a model.
//!
//! It understands nothing. It looks for the words of options, levels and questions in the text and
//! for a few signs of mood, and turns what it finds into proper distributions, the same for the
//! same text every time. Its answers are good for seeing how the service works and for nothing
//! else; every surface that shows them says so.

mod mood;
mod softmax;
#[cfg(test)]
mod tests;
mod topics;
mod words;

use refract_domain::answer::{Answer, Answers, Distribution, confidence, most_probable};
use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER, OutcomeKey};
use refract_domain::prism::PrismVersion;
use refract_domain::probability::Probability;
use refract_domain::question::{Question, QuestionKind};
use refract_domain::submission::Submission;

use self::mood::Mood;
use self::topics::Topics;
use self::words::{Words, count_of};
use crate::failure::ModelFailure;

/// The name that stands where a server's model name would.
pub(crate) const NAME: &str = "builtin:lexical";
/// The name that stands where a server's protocol would.
pub(crate) const PROTOCOL: &str = "lexical";

/// How much a word of the context counts beside a word of the text.
const CONTEXT_WEIGHT: f64 = 0.2;
/// Below this many words a text says too little.
const FEW_WORDS: f64 = 3.0;

/// Answers every question of a version.
pub(crate) fn answer(
    version: &PrismVersion,
    submission: &Submission,
) -> Result<Answers, ModelFailure> {
    let mut text = Words::default();
    for (_, value) in submission.fields() {
        text.add(value, 1.0);
    }
    for context in [version.context(), submission.context()]
        .into_iter()
        .flatten()
    {
        text.add(context, CONTEXT_WEIGHT);
    }
    let topics = Topics::new();
    let mut answers = Vec::with_capacity(version.questions().len());
    for question in version.questions() {
        let answer = answer_question(question, &text, &topics)
            .ok_or_else(|| ModelFailure::Unanswered(question.key.clone()))?;
        answers.push((question.key.clone(), answer));
    }
    Ok(Answers::new(answers))
}

fn answer_question(question: &Question, text: &Words, topics: &Topics) -> Option<Answer> {
    match question.kind {
        QuestionKind::Choice { .. } => {
            let probabilities = distribution(question, &choice_weights(question, text, topics))?;
            let value = most_probable(&probabilities)?.clone();
            let (_, chosen) = probabilities.iter().find(|(key, _)| *key == value)?;
            let outcomes = u32::try_from(probabilities.len()).ok()?;
            let confidence = confidence(chosen.to_f64(), outcomes);
            Some(Answer::Choice {
                value: Some(value),
                probabilities,
                confidence,
            })
        }
        QuestionKind::YesNo => Some(Answer::YesNo {
            probability: Probability::from_f64(yes(question, text))?,
        }),
        QuestionKind::Scale { .. } => {
            Answer::scale(distribution(question, &level_weights(question, text))?)
        }
    }
}

fn distribution(question: &Question, weights: &[f64]) -> Option<Distribution> {
    let probabilities = softmax::shares(weights);
    let keys = question
        .outcomes()
        .map(|outcome| OutcomeKey::parse(outcome.key).ok());
    keys.zip(probabilities)
        .map(|(key, probability)| Some((key?, probability)))
        .collect()
}

/// How much of each outcome's words, and of words near them, stands in the text.
fn choice_weights(question: &Question, text: &Words, topics: &Topics) -> Vec<f64> {
    let found = question.outcomes().map(|outcome| match outcome.key {
        OTHER => 0.5,
        INSUFFICIENT_INFORMATION if text.total() < FEW_WORDS => 4.0,
        INSUFFICIENT_INFORMATION => 0.3,
        _ => {
            let label = overlap(outcome.label, text);
            let description = outcome
                .description
                .map_or(0.0, |words| overlap(words, text));
            let near = [outcome.label, outcome.description.unwrap_or_default()]
                .map(|words| topics.near(words, text));
            2.0 * label + description + near.iter().sum::<f64>()
        }
    });
    found.collect()
}

/// The mood that the question asks for; without one, whether its words stand in the text.
fn yes(question: &Question, text: &Words) -> f64 {
    if let Some(mood) = Mood::asked_for(question) {
        return 0.05 + 0.9 * mood.strength(text);
    }
    let asked = words::stems(&question.text);
    let in_text = asked.iter().filter(|stem| text.weight(stem) >= 1.0);
    0.2 + 0.6 * count_of(in_text.count()) / count_of(asked.len()).max(1.0)
}

/// Levels near the strength of the mood that the question asks for, and levels whose words stand
/// in the text.
fn level_weights(question: &Question, text: &Words) -> Vec<f64> {
    let levels = question.own_outcomes();
    let highest = count_of(levels.len().saturating_sub(1));
    let expected = Mood::asked_for(question).map_or(0.5, |mood| mood.strength(text)) * highest;
    let weights = levels.iter().enumerate().map(|(index, level)| {
        let description = level
            .description
            .as_deref()
            .map_or(0.0, |words| overlap(words, text));
        overlap(&level.label, text) + 0.5 * description - (count_of(index) - expected).powi(2)
    });
    weights.collect()
}

/// How many of these words stand in the text; a word that stands there often counts a little more.
fn overlap(words: &str, text: &Words) -> f64 {
    words::stems(words)
        .iter()
        .map(|stem| text.weight(stem).ln_1p())
        .sum()
}
