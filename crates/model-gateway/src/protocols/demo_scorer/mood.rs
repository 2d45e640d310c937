//! Moods that questions ask for, and words that are signs of a mood in a text.

use refract_domain::prism::question::Question;

use super::words::{Words, stem, stems};

/// A mood with a strength from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
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
    pub(crate) fn strength(self, text: &Words) -> f64 {
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
