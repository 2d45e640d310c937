//! The questions, and texts made at random from a seed.

use std::fmt;

use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use refract_domain::prism::PrismVersion;
use refract_domain::submission::{SentFields, Submission};
use serde_json::{Value, json};

/// Outcomes of the scales.
const SCALES: std::ops::RangeInclusive<u32> = 2..=10;
/// Outcomes of the choices. Above 20, codes have two characters; 255 is the most.
const CHOICES: [u32; 8] = [4, 7, 20, 21, 32, 62, 152, 255];
/// Number of questions about a long text.
const LONG_CALL_QUESTIONS: usize = 10;
/// Bytes of a token in these texts, about.
const BYTES_PER_TOKEN: usize = 4;
/// Number of built-in outcomes of every choice.
const BUILT_IN: usize = 2;

/// A question of one type and number of outcomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    YesNo,
    Scale(u32),
    Choice(u32),
}

/// A question about one text.
pub(crate) struct AskedText {
    pub(crate) version: PrismVersion,
    pub(crate) submission: Submission,
}

impl Asked {
    /// One question of each kind of codes.
    pub(crate) fn of_each_kind() -> Vec<Self> {
        let choices = [20, 32].map(Self::Choice);
        [Self::YesNo, Self::Scale(7)]
            .into_iter()
            .chain(choices)
            .collect()
    }

    /// The questions of the table with at most this many outcomes.
    pub(crate) fn up_to(most: u32) -> Vec<Self> {
        let scales = SCALES.map(Self::Scale);
        let choices = CHOICES.map(Self::Choice);
        let all = [Self::YesNo].into_iter().chain(scales).chain(choices);
        all.filter(|asked| asked.outcomes() <= most).collect()
    }

    pub(crate) fn outcomes(self) -> u32 {
        match self {
            Self::YesNo => 2,
            Self::Scale(outcomes) | Self::Choice(outcomes) => outcomes,
        }
    }

    /// The question about a text. Text, labels and their order follow from the seed.
    pub(crate) fn about(self, seed: u64) -> anyhow::Result<AskedText> {
        let mut random = StdRng::seed_from_u64(seed);
        let question = match self {
            Self::YesNo => {
                json!({"key": "asked", "type": "yes_no", "text": "Is the writer angry?"})
            }
            Self::Scale(levels) => json!({
                "key": "asked", "type": "scale", "text": "How soon does the writer need an answer?",
                "levels": outcomes((1..=levels).map(|level| format!("Level {level} of {levels}")))}),
            Self::Choice(options) => json!({
                "key": "asked", "type": "choice", "text": "Which subject is closest to the message?",
                "options": outcomes(subjects(usize::try_from(options)? - BUILT_IN, &mut random))}),
        };
        let prism = json!({
            "fields": [{"key": "text", "label": "Message"}], "questions": [question]});
        let version: PrismVersion = serde_json::from_value(prism)?;
        let sent = SentFields::new(vec![("text".to_owned(), text(&mut random))]);
        let submission = Submission::new(sent, None, version.fields());
        let submission = submission.map_err(|errors| anyhow::anyhow!("a text: {errors:?}"))?;
        Ok(AskedText {
            version,
            submission,
        })
    }
}

/// Ten questions of all types about a text of about this many tokens.
pub(crate) fn long_call(seed: u64, tokens: usize) -> anyhow::Result<AskedText> {
    let mut random = StdRng::seed_from_u64(seed);
    let questions = (0..LONG_CALL_QUESTIONS).map(|place| {
        let key = format!("q{place}");
        match place % 3 {
            0 => json!({"key": key, "type": "yes_no", "text": "Does the writer ask for money?"}),
            1 => json!({
                "key": key, "type": "scale", "text": "How soon does the writer need an answer?",
                "levels": outcomes((1..=5).map(|level| format!("Level {level} of 5")))}),
            _ => json!({
                "key": key, "type": "choice", "text": "Which subject is closest to the message?",
                "options": outcomes(subjects(5, &mut random))}),
        }
    });
    about_long_text(&questions.collect(), seed, tokens)
}

/// A choice of 255 outcomes about a text of about this many tokens.
pub(crate) fn long_choice(seed: u64, tokens: usize) -> anyhow::Result<AskedText> {
    let mut random = StdRng::seed_from_u64(seed);
    let options = outcomes(subjects(255 - BUILT_IN, &mut random));
    let question = json!({
        "key": "asked", "type": "choice", "text": "Which subject is closest to the message?",
        "options": options});
    about_long_text(&json!([question]), seed.wrapping_add(1), tokens)
}

fn about_long_text(questions: &Value, seed: u64, tokens: usize) -> anyhow::Result<AskedText> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut long = String::new();
    while long.len() < tokens * BYTES_PER_TOKEN {
        long.push_str(&text(&mut random));
        long.push(' ');
    }
    let prism = json!({"fields": [{"key": "text", "label": "Message"}], "questions": questions});
    let version: PrismVersion = serde_json::from_value(prism)?;
    let submission = Submission::new(
        SentFields::new(vec![("text".to_owned(), long)]),
        None,
        version.fields(),
    );
    let submission = submission.map_err(|errors| anyhow::anyhow!("a text: {errors:?}"))?;
    Ok(AskedText {
        version,
        submission,
    })
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::YesNo => f.write_str("yes/no"),
            Self::Scale(levels) => write!(f, "scale of {levels}"),
            Self::Choice(options) => write!(f, "choice of {options}"),
        }
    }
}

fn outcomes(labels: impl IntoIterator<Item = String>) -> Vec<Value> {
    let labels = labels.into_iter().enumerate();
    let outcome =
        |(place, label): (usize, String)| json!({"key": format!("o{place}"), "label": label});
    labels.map(outcome).collect()
}

/// Different labels in a random order.
fn subjects(count: usize, random: &mut StdRng) -> Vec<String> {
    let named = THINGS
        .iter()
        .flat_map(|thing| TROUBLES.map(|trouble| format!("{trouble} {thing}")));
    let mut subjects: Vec<String> = named.collect();
    subjects.shuffle(random);
    subjects.truncate(count);
    subjects
}

/// Two to eight sentences.
fn text(random: &mut StdRng) -> String {
    let count = random.random_range(2..=8);
    let mut sentence = || {
        let pick = |words: &[&'static str], random: &mut StdRng| {
            words.choose(random).copied().unwrap_or_default()
        };
        let trouble = pick(&TROUBLES, random).to_lowercase();
        let (thing, frame) = (pick(&THINGS, random), pick(&SENTENCES, random));
        let number = random.random_range(2..5_000_u32).to_string();
        frame
            .replace("TROUBLE", &trouble)
            .replace("THING", thing)
            .replace("NUMBER", &number)
    };
    let sentences: Vec<String> = (0..count).map(|_| sentence()).collect();
    sentences.join(" ")
}

const TROUBLES: [&str; 16] = [
    "Late",
    "Lost",
    "Broken",
    "Wrong",
    "Missing",
    "Loud",
    "Heavy",
    "Cheap",
    "Second",
    "Free",
    "Rusty",
    "Spare",
    "Unpaid",
    "Borrowed",
    "Stolen",
    "Favourite",
];

const THINGS: [&str; 16] = [
    "delivery",
    "invoice",
    "brake",
    "wheel",
    "helmet",
    "saddle",
    "battery",
    "basket",
    "pump",
    "chain",
    "voucher",
    "manual",
    "jacket",
    "trailer",
    "lamp",
    "appointment",
];

const SENTENCES: [&str; 12] = [
    "My order NUMBER is still not here.",
    "I asked about the TROUBLE THING NUMBER days ago.",
    "The THING came with a TROUBLE THING beside it, thank you!",
    "Who pays NUMBER euros for a TROUBLE THING?",
    "Please call me before you send the THING.",
    "It is fine, the TROUBLE THING can wait.",
    "This is the third THING in NUMBER weeks!!",
    "Could you tell me what a THING costs?",
    "\"TROUBLE THING\" is what the shop wrote on it.",
    "Nobody answers, and the THING makes me furious.",
    "We like the THING, even the TROUBLE one.",
    "I will be away until the NUMBERth.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_its_outcomes() {
        for asked in Asked::up_to(255) {
            let made = asked.about(1).unwrap();
            let [question] = made.version.questions() else {
                panic!("one question");
            };
            let outcomes = question.outcomes().count();
            match asked {
                Asked::YesNo => assert_eq!(outcomes, 0),
                Asked::Scale(count) | Asked::Choice(count) => {
                    assert_eq!(u32::try_from(outcomes).unwrap(), count);
                }
            }
        }
    }

    #[test]
    fn a_seed_makes_a_text_of_its_own() {
        let text = |seed| Asked::YesNo.about(seed).unwrap().submission;
        assert_eq!(text(1).fields(), text(1).fields());
        assert_ne!(text(1).fields(), text(2).fields());
    }
}
