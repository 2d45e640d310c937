//! `builtin:lexical`: answers by comparing words, to try the service without a model.
//!
//! The scorer understands nothing. It searches the text for the words of options, levels and
//! questions and for a few signs of mood, and turns what it finds into proper distributions. Equal
//! texts have equal answers. The answers only show how the service works; every surface that shows
//! them must say so.
//!
//! Words are cut to stems, so that `charged` equals `charges`.

use std::collections::{BTreeSet, HashMap};

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::key::{INSUFFICIENT_INFORMATION, OTHER};
use refract_domain::prism::{PrismVersion, Question, QuestionKind};
use refract_domain::submission::Submission;

use super::answers::{answer_each, from_weights};
use crate::error::ModelError;

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
    let asked = stems(&question.text);
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
    text.overlap(stems(words))
}

/// The softmax of these scores without normalisation: the highest score has weight 1.
fn softmax(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().map(|score| (score - highest).exp()).collect()
}

/// A mood with a strength from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Anger,
    Urgency,
    Joy,
}

const ANGER_ASKED: &str = "angry anger upset annoyed frustrated frustration furious unhappy \
    complaint complain negative dissatisfied";
const URGENCY_ASKED: &str = "urgent urgency soon quickly priority deadline hurry immediate";
const JOY_ASKED: &str = "happy satisfied satisfaction pleased positive praise sentiment content \
    grateful";

const ANGER_SIGNS: &str = "angry furious unacceptable terrible worst awful ridiculous disgusting \
    disappointed disappointing useless scam fraud hate horrible outrageous annoyed annoying \
    frustrated frustrating unbelievable rude ignored fed joke shame lied complaint lawyer enough";
const URGENCY_SIGNS: &str = "today tonight now immediately urgent urgently asap emergency \
    tomorrow deadline quickly hurry soon hours minutes critical morning instantly";
const CALM_SIGNS: &str = "whenever eventually sometime someday hurry curious wondering anytime";
const JOY_SIGNS: &str = "thanks thank great love loved excellent wonderful perfect happy pleased \
    amazing fantastic good awesome helpful friendly brilliant glad";

impl Mood {
    /// The mood named by the words of a question.
    pub(crate) fn asked_for(question: &Question) -> Option<Self> {
        let asked = stems(&question.text);
        let moods = [
            (Self::Anger, ANGER_ASKED),
            (Self::Urgency, URGENCY_ASKED),
            (Self::Joy, JOY_ASKED),
        ];
        let mut named = moods.into_iter().filter(|(_, words)| {
            let mut words = words.split_ascii_whitespace();
            words.any(|word| asked.contains(&stem(word)))
        });
        named.next().map(|(mood, _)| mood)
    }

    /// How strongly the text shows the mood, from 0 to 1.
    fn strength(self, text: &Words) -> f64 {
        let signs = |words: &str| {
            let words = words.split_ascii_whitespace();
            text.overlap(words.map(stem))
        };
        match self {
            Self::Anger => {
                let anger = signs(ANGER_SIGNS) + text.excitement();
                grown((anger - signs(JOY_SIGNS)).max(0.0))
            }
            Self::Urgency => {
                let urgency = signs(URGENCY_SIGNS) + 0.5 * text.excitement();
                grown((urgency - signs(CALM_SIGNS)).max(0.0))
            }
            Self::Joy => {
                let leaning = signs(JOY_SIGNS) - signs(ANGER_SIGNS);
                0.5 + 0.5 * leaning.tanh()
            }
        }
    }
}

/// A strength that is 0 without signs and approaches 1 with many.
fn grown(signs: f64) -> f64 {
    1.0 - (-signs).exp()
}

/// Weight of a word that shares a topic with an outcome's words; those words themselves have weight
/// 1.
const NEAR: f64 = 0.8;

const TOPICS: [&str; 7] = [
    "billing invoice charge payment paid pay refund money price card subscription cost bank \
     twice",
    "delivery order shipping parcel package arrive courier tracking late shipment address \
     waiting",
    "bug error crash broken broke defect fault repair damaged technical fails working",
    "account login password profile username access locked email",
    "return exchange cancel cancellation warranty replace replacement",
    "sales buy purchase quote offer discount available stock",
    "praise thanks thank great love excellent wonderful happy",
];

/// Topics, found by the stems of their words.
struct Topics {
    stems: Vec<Vec<String>>,
    by_stem: HashMap<String, usize>,
}

impl Topics {
    pub(crate) fn new() -> Self {
        let stems: Vec<Vec<String>> = TOPICS
            .iter()
            .map(|words| words.split_ascii_whitespace().map(stem).collect())
            .collect();
        let by_stem = stems
            .iter()
            .enumerate()
            .flat_map(|(topic, stems)| stems.iter().map(move |stem| (stem.clone(), topic)));
        let by_stem = by_stem.collect();
        Self { stems, by_stem }
    }

    /// Number of words in the text that share a topic with these words.
    pub(crate) fn near(&self, words: &str, text: &Words) -> f64 {
        let topics: BTreeSet<usize> = stems(words)
            .iter()
            .filter_map(|stem| self.by_stem.get(stem).copied())
            .collect();
        let near = topics
            .into_iter()
            .filter_map(|topic| self.stems.get(topic))
            .flatten();
        NEAR * text.overlap(near)
    }
}

/// Length of a stem, short enough for `delivery` and `delivered` to have one stem.
const STEM_CHARS: usize = 5;

const ENDINGS: [&str; 9] = [
    "ments", "ment", "ings", "ing", "edly", "ies", "ed", "ly", "s",
];

/// Words that do not hint at the topic of a text.
const STOP_WORDS: [&str; 64] = [
    "the", "and", "for", "are", "was", "were", "been", "being", "have", "has", "had", "does",
    "did", "this", "that", "these", "those", "with", "from", "into", "about", "what", "which",
    "who", "whom", "how", "why", "when", "where", "there", "here", "you", "your", "our", "his",
    "her", "its", "their", "they", "them", "she", "him", "but", "nor", "can", "could", "would",
    "should", "will", "shall", "may", "might", "must", "any", "some", "all", "than", "then",
    "text", "message", "writer", "main", "asks", "want",
];

const NEGATIONS: [&str; 7] = ["not", "no", "never", "don't", "isn't", "wasn't", "without"];

/// The stems of a text with their weights, and signs of excitement.
#[derive(Debug, Default)]
pub(crate) struct Words {
    weights: HashMap<String, f64>,
    total: f64,
    excitement: f64,
}

impl Words {
    /// Adds a text and gives each of its words this weight.
    pub(crate) fn add(&mut self, text: &str, weight: f64) {
        let mut negated = false;
        for word in split(text) {
            self.total += weight;
            if is_shouted(word) {
                self.excitement += 0.3 * weight;
            }
            let lower = word.to_lowercase();
            // `not happy` is no sign of happiness
            if !negated && counts(&lower) {
                *self.weights.entry(stem(&lower)).or_default() += weight;
            }
            negated = NEGATIONS.contains(&lower.as_str());
        }
        self.excitement += weight * 0.3 * count_of(text.matches('!').count());
    }

    /// The weight of a stem; 0 if the text lacks it.
    pub(crate) fn weight(&self, stem: &str) -> f64 {
        self.weights.get(stem).copied().unwrap_or(0.0)
    }

    /// Number of these stems in the text; a frequent stem counts a little more.
    pub(crate) fn overlap(&self, stems: impl IntoIterator<Item = impl AsRef<str>>) -> f64 {
        let weights = stems.into_iter().map(|stem| self.weight(stem.as_ref()));
        weights.map(f64::ln_1p).sum()
    }

    /// The weight of all words, stop words included.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// The weight of exclamation marks and of words in capitals.
    pub(crate) fn excitement(&self) -> f64 {
        self.excitement
    }
}

/// The different stems of a text, without stop words.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    let words = split(text).map(str::to_lowercase);
    words
        .filter(|word| counts(word))
        .map(|word| stem(&word))
        .collect()
}

/// The first five characters of a word in lower case, without its ending.
pub(crate) fn stem(word: &str) -> String {
    let bare = ENDINGS.iter().find_map(|ending| {
        let bare = word.strip_suffix(ending)?;
        (bare.chars().count() >= 3).then_some(bare)
    });
    bare.unwrap_or(word).chars().take(STEM_CHARS).collect()
}

/// A count as a floating-point number.
pub(crate) fn count_of(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    words.filter(|word| !word.is_empty())
}

fn counts(lower: &str) -> bool {
    lower.chars().nth(2).is_some() && !STOP_WORDS.contains(&lower)
}

fn is_shouted(word: &str) -> bool {
    word.chars().nth(2).is_some() && word.chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests;
