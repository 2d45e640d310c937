//! Moods that questions ask for, and words that are signs of a mood in a text.

use refract_domain::question::Question;

use super::words::{Words, stem, stems};

/// A mood with a strength from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Anger,
    Urgency,
    Joy,
}

const ANGER_ASKED: [&str; 12] = [
    "angry",
    "anger",
    "upset",
    "annoyed",
    "frustrated",
    "frustration",
    "furious",
    "unhappy",
    "complaint",
    "complain",
    "negative",
    "dissatisfied",
];
const URGENCY_ASKED: [&str; 8] = [
    "urgent",
    "urgency",
    "soon",
    "quickly",
    "priority",
    "deadline",
    "hurry",
    "immediate",
];
const JOY_ASKED: [&str; 9] = [
    "happy",
    "satisfied",
    "satisfaction",
    "pleased",
    "positive",
    "praise",
    "sentiment",
    "content",
    "grateful",
];

const ANGER_SIGNS: [&str; 30] = [
    "angry",
    "furious",
    "unacceptable",
    "terrible",
    "worst",
    "awful",
    "ridiculous",
    "disgusting",
    "disappointed",
    "disappointing",
    "useless",
    "scam",
    "fraud",
    "hate",
    "horrible",
    "outrageous",
    "annoyed",
    "annoying",
    "frustrated",
    "frustrating",
    "unbelievable",
    "rude",
    "ignored",
    "fed",
    "joke",
    "shame",
    "lied",
    "complaint",
    "lawyer",
    "enough",
];
const URGENCY_SIGNS: [&str; 18] = [
    "today",
    "tonight",
    "now",
    "immediately",
    "urgent",
    "urgently",
    "asap",
    "emergency",
    "tomorrow",
    "deadline",
    "quickly",
    "hurry",
    "soon",
    "hours",
    "minutes",
    "critical",
    "morning",
    "instantly",
];
const CALM_SIGNS: [&str; 8] = [
    "whenever",
    "eventually",
    "sometime",
    "someday",
    "hurry",
    "curious",
    "wondering",
    "anytime",
];
const JOY_SIGNS: [&str; 18] = [
    "thanks",
    "thank",
    "great",
    "love",
    "loved",
    "excellent",
    "wonderful",
    "perfect",
    "happy",
    "pleased",
    "amazing",
    "fantastic",
    "good",
    "awesome",
    "helpful",
    "friendly",
    "brilliant",
    "glad",
];

impl Mood {
    /// The mood that the words of a question name.
    pub(crate) fn asked_for(question: &Question) -> Option<Self> {
        let asked = stems(&question.text);
        let moods = [
            (Self::Anger, &ANGER_ASKED[..]),
            (Self::Urgency, &URGENCY_ASKED[..]),
            (Self::Joy, &JOY_ASKED[..]),
        ];
        let named = |words: &[&str]| words.iter().any(|word| asked.contains(&stem(word)));
        moods
            .into_iter()
            .find(|(_, words)| named(words))
            .map(|(mood, _)| mood)
    }

    /// How strongly the text shows the mood, from 0 to 1.
    pub(crate) fn strength(self, text: &Words) -> f64 {
        match self {
            Self::Anger => {
                let signs = signs(&ANGER_SIGNS, text) + text.excitement();
                grown((signs - signs_of_joy(text)).max(0.0))
            }
            Self::Urgency => {
                let signs = signs(&URGENCY_SIGNS, text) + 0.5 * text.excitement();
                grown((signs - signs_of_calm(text)).max(0.0))
            }
            Self::Joy => {
                let leaning = signs_of_joy(text) - signs(&ANGER_SIGNS, text);
                0.5 + 0.5 * leaning.tanh()
            }
        }
    }
}

fn signs_of_joy(text: &Words) -> f64 {
    signs(&JOY_SIGNS, text)
}

fn signs_of_calm(text: &Words) -> f64 {
    signs(&CALM_SIGNS, text)
}

fn signs(words: &[&str], text: &Words) -> f64 {
    words
        .iter()
        .map(|word| text.weight(&stem(word)).ln_1p())
        .sum()
}

/// A strength that grows from 0 without signs towards 1 with many.
fn grown(signs: f64) -> f64 {
    1.0 - (-signs).exp()
}
