//! `builtin:lexical`: answers by comparing words, to try the service without a model.
//!
//! The scorer understands nothing. It searches the text for the words of options, levels and
//! questions and for a few signs of mood, and turns what it finds into proper distributions. Equal
//! texts have equal answers. The answers only show how the service works; every surface that shows
//! them must say so.

mod mood;
#[cfg(test)]
mod tests;
mod topics;
mod words;

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Answers};
use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::{Question, QuestionKind};
use refract_domain::submission::Submission;

use self::mood::Mood;
use self::topics::Topics;
use self::words::{Words, count_of};
use crate::error::ModelError;
use crate::protocols::answers::{answer_each, from_weights};

/// Recorded in place of a server's model name.
pub(crate) const NAME: &str = "builtin:lexical";
/// Recorded in place of a server's protocol.
pub(crate) const PROTOCOL: &str = "lexical";

/// Weight of a word of the context; a word of the text has weight 1.
const CONTEXT_WEIGHT: f64 = 0.2;
/// A text with fewer words than this is too short to judge.
const FEW_WORDS: f64 = 3.0;

/// Answers every question of a version.
pub(crate) fn answer(
    version: &PrismVersion,
    submission: &Submission,
) -> Result<Answers, ModelError> {
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
    let read = answer_each(version.questions(), |question, _| {
        answer_question(question, &text, &topics)
    })?;
    Ok(Answers::new(read.answers))
}

fn answer_question(question: &Question, text: &Words, topics: &Topics) -> Option<Answer> {
    match question.kind {
        QuestionKind::Choice { .. } => {
            from_weights(question, &softmax(&choice_scores(question, text, topics)))
        }
        QuestionKind::YesNo => Some(Answer::YesNo {
            probability: Probability::from_f64(yes(question, text))?,
        }),
        QuestionKind::Scale { .. } => {
            from_weights(question, &softmax(&level_scores(question, text)))
        }
    }
}

/// A score for each outcome: the number of its words and of related words in the text.
fn choice_scores(question: &Question, text: &Words, topics: &Topics) -> Vec<f64> {
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

/// The probability of yes: the strength of the mood that the question asks for. For other
/// questions, the number of the question's words in the text decides.
fn yes(question: &Question, text: &Words) -> f64 {
    if let Some(mood) = Mood::asked_for(question) {
        return 0.05 + 0.9 * mood.strength(text);
    }
    let asked = words::stems(&question.text);
    let in_text = asked.iter().filter(|stem| text.weight(stem) >= 1.0);
    0.2 + 0.6 * count_of(in_text.count()) / count_of(asked.len()).max(1.0)
}

/// A score for each level. Levels near the strength of the mood that the question asks for score
/// higher, and so do levels with words in the text.
fn level_scores(question: &Question, text: &Words) -> Vec<f64> {
    let levels = question.own_outcomes();
    let highest = count_of(levels.len().saturating_sub(1));
    let expected = Mood::asked_for(question).map_or(0.5, |mood| mood.strength(text)) * highest;
    let scores = levels.iter().enumerate().map(|(index, level)| {
        let description = level
            .description
            .as_deref()
            .map_or(0.0, |words| overlap(words, text));
        overlap(&level.label, text) + 0.5 * description - (count_of(index) - expected).powi(2)
    });
    scores.collect()
}

/// Number of these words in the text; a frequent word counts a little more.
fn overlap(words: &str, text: &Words) -> f64 {
    text.overlap(words::stems(words))
}

/// The softmax of these scores without normalisation: the highest score has weight 1.
fn softmax(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().map(|score| (score - highest).exp()).collect()
}
