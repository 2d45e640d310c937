//! Keys and slugs made from labels, questions and names.

use std::collections::{BTreeSet, HashMap};

use refract_domain::key::{FieldKey, OutcomeKey, QuestionKey};
use refract_domain::limits::{KEY_CHARS, PRISM_PATH_CHARS};
use refract_domain::prism::{Outcome, Slug};
use refract_domain::problem::ValidationError;

use crate::plain_letters::{Unaccented, unaccented};

/// Most words in the key of a question.
const QUESTION_KEY_WORDS: usize = 3;

/// English words that most questions have, or that name the text that is judged: they do not
/// distinguish one question from another.
const FILLING: [&str; 69] = [
    "a", "an", "and", "any", "anybody", "anyone", "are", "as", "at", "be", "by", "can", "comment",
    "could", "did", "do", "does", "email", "for", "from", "has", "have", "how", "in", "into", "is",
    "it", "its", "letter", "mail", "may", "message", "must", "of", "on", "one", "or", "post",
    "review", "s", "should", "some", "somebody", "someone", "text", "than", "that", "the", "their",
    "there", "they", "these", "this", "those", "ticket", "to", "was", "we", "were", "what", "when",
    "where", "which", "who", "whose", "why", "will", "with", "would",
];

/// The numbers at the end of made keys that were tried, by the words before them and how many digits
/// a number has: of many items with one label, each goes on where the one before it ended. For keys
/// of one set that only grows.
#[derive(Debug, Default)]
pub struct TriedNumbers(HashMap<(String, u32), u32>);

/// Makes the key of an option or level from its label; `taken` returns whether a key is in use.
///
/// The words of the label are joined by `_`. The key is `option` when no letter or digit is left;
/// `option_` is put before a leading digit, and `_2`, `_3`, … after a key in use (readings).
fn outcome_key(label: &str, tried: &mut TriedNumbers, taken: impl Fn(&str) -> bool) -> OutcomeKey {
    made_key(
        &ascii_words(label),
        "option",
        tried,
        taken,
        OutcomeKey::parse,
    )
}

/// Fills in the keys of a question's options or levels, each with its key, if it has one, and its
/// label. A label that `previous` has keeps its key; any other label gets a new one.
pub fn outcome_keys(
    outcomes: &[(Option<OutcomeKey>, &str)],
    previous: &[Outcome],
    is_reserved: impl Fn(&OutcomeKey) -> bool,
) -> Vec<OutcomeKey> {
    let mut taken = BTreeSet::<OutcomeKey>::new();
    taken.extend(outcomes.iter().filter_map(|(key, _)| key.clone()));
    // labels of the previous version get their keys first, so that no new label takes one of
    // those keys
    let kept: Vec<_> = outcomes
        .iter()
        .map(|(key, label)| {
            let mut had = previous.iter().filter(|before| before.label == *label);
            key.clone().or_else(|| {
                let had = had.find(|before| taken.insert(before.key.clone()));
                had.map(|had| had.key.clone())
            })
        })
        .collect();
    let labels = outcomes.iter().map(|(_, label)| label);
    let mut tried = TriedNumbers::default();
    let keys = kept.into_iter().zip(labels).map(|(key, label)| {
        key.unwrap_or_else(|| {
            let is_taken = |key: &str| {
                OutcomeKey::parse(key).is_ok_and(|key| taken.contains(&key) || is_reserved(&key))
            };
            let made = outcome_key(label, &mut tried, is_taken);
            taken.insert(made.clone());
            made
        })
    });
    keys.collect()
}

/// Makes the key of a field from its label, as `outcome_key` does, but with `field` in place of
/// `option`. It is never a reserved key.
pub fn field_key(label: &str, tried: &mut TriedNumbers, taken: impl Fn(&str) -> bool) -> FieldKey {
    made_key(&ascii_words(label), "field", tried, taken, FieldKey::parse)
}

/// Makes the key of a question from its text, as `outcome_key` does, but with `question` in place
/// of `option`. It is never a reserved key.
///
/// Callers write the key for ever, so it is short: the first three words that distinguish the
/// question. "What is the review about?" becomes `about`, "Is it a bug report?" `bug_report`.
pub fn question_key(
    text: &str,
    tried: &mut TriedNumbers,
    taken: impl Fn(&str) -> bool,
) -> QuestionKey {
    let words = ascii_words(text);
    let telling = words
        .iter()
        .filter(|word| !FILLING.contains(&word.as_str()));
    let mut short: Vec<_> = telling.take(QUESTION_KEY_WORDS).cloned().collect();
    if short.is_empty() {
        short = words;
    }
    made_key(&short, "question", tried, taken, QuestionKey::parse)
}

/// Makes a free key from words; `parse` must accept it. The key is `noun` when there is no word,
/// and begins with `noun` when the first word begins with a digit.
fn made_key<Key>(
    words: &[String],
    noun: &str,
    tried: &mut TriedNumbers,
    taken: impl Fn(&str) -> bool,
    parse: fn(&str) -> Result<Key, ValidationError>,
) -> Key {
    let joined = words.join("_");
    let base = match joined.bytes().next() {
        None => noun.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{noun}_{joined}"),
        Some(_) => joined,
    };
    let free = |key: &str| parse(key).ok().filter(|_| !taken(key));
    if let Some(key) = free(ascii_prefix(&base, KEY_CHARS).trim_end_matches('_')) {
        return key;
    }
    let mut number: u32 = 2;
    loop {
        let digits = number.ilog10();
        let room = KEY_CHARS - 2 - usize::try_from(digits).unwrap_or_default();
        let words = ascii_prefix(&base, room).to_owned();
        let next = tried.0.entry((words, digits)).or_insert(number);
        number = number.max(*next);
        // one more digit leaves room for fewer words
        if number.ilog10() > digits {
            continue;
        }
        *next = number + 1;
        if let Some(key) = free(&format!("{}_{number}", ascii_prefix(&base, room))) {
            return key;
        }
        number += 1;
    }
}

/// Candidate slugs for a new prism of this name, in order of preference: the prism gets the first
/// one that is free in the account.
pub fn slugs(name: &str) -> impl Iterator<Item = Slug> + use<> {
    let words = ascii_words(name).join("-");
    let base = if words.is_empty() {
        "prism".to_owned()
    } else {
        words
    };
    (1_u32..).filter_map(move |number| {
        let suffix = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let kept = ascii_prefix(&base, PRISM_PATH_CHARS - suffix.len());
        Slug::parse(&format!("{}{suffix}", kept.trim_end_matches('-')))
    })
}

/// Whether a key or a slug can be made from a text as it is: it has Latin letters, or digits and no
/// letters of another script.
pub fn has_words(text: &str) -> bool {
    let words = ascii_words(text);
    let mut characters = words.iter().flat_map(|word| word.chars());
    let has_letters = characters.any(|c| c.is_ascii_alphabetic());
    has_letters || (!words.is_empty() && !text.chars().any(char::is_alphabetic))
}

/// The words of a text in lower case ASCII letters and digits; accents are dropped.
fn ascii_words(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match unaccented(c) {
            Unaccented::Plain(c) => plain.push(c),
            Unaccented::Mark => {}
            Unaccented::Other => plain.push(' '),
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}

/// The first `bytes` bytes of an ASCII text, or the whole text when it is shorter.
fn ascii_prefix(text: &str, bytes: usize) -> &str {
    text.get(..bytes).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> String {
        slugs(name).next().unwrap().to_string()
    }

    #[test]
    fn a_slug_is_made_from_the_name() {
        assert_eq!(first("Support triage"), "support-triage");
        assert_eq!(first("  Ärger -- & Ñandú 2! "), "arger-nandu-2");
        assert_eq!(first("日本"), "prism");
        assert_eq!(first(&"abc ".repeat(60)).len(), 63);
    }

    #[test]
    fn a_taken_slug_gets_a_number_within_64_characters() {
        let tried: Vec<_> = slugs(&"a".repeat(90)).take(3).collect();
        assert_eq!(tried[0].as_str(), "a".repeat(64));
        assert_eq!(tried[1].as_str(), format!("{}-2", "a".repeat(62)));
        assert_eq!(tried[2].as_str(), format!("{}-3", "a".repeat(62)));
    }

    #[test]
    fn no_slug_looks_like_a_uuid() {
        let name = "0190b8f2-0000-7000-8000-0000000000aa";
        assert_eq!(first(name), format!("{name}-2"));
    }

    #[test]
    fn an_option_key_is_made_from_its_label() {
        let cases = [
            ("Billing", "billing"),
            ("  Crème brûlée, please!", "creme_brulee_please"),
            ("24 hours", "option_24_hours"),
            ("日本", "option"),
            ("", "option"),
        ];
        for (label, key) in cases {
            assert_eq!(
                outcome_key(label, &mut TriedNumbers::default(), |_| false).as_str(),
                key,
                "{label}"
            );
        }
    }

    #[test]
    fn a_field_or_question_key_is_made_from_words_and_is_never_reserved() {
        assert_eq!(
            field_key("Context", &mut TriedNumbers::default(), |_| false).as_str(),
            "context_2"
        );
        assert_eq!(
            field_key("日本", &mut TriedNumbers::default(), |_| false).as_str(),
            "field"
        );
        let question = |text| question_key(text, &mut TriedNumbers::default(), |key| key == "text");
        assert_eq!(question("Is it 5 stars?").as_str(), "question_5_stars");
        assert_eq!(question("Five of 5 stars?").as_str(), "five_5_stars");
        assert_eq!(question("Status").as_str(), "status_2");
        assert_eq!(question("Text").as_str(), "text_2");
    }

    #[test]
    fn a_question_key_is_short() {
        for (text, key) in [
            ("What is the review about?", "about"),
            ("Is it a bug report?", "bug_report"),
            ("Is somebody angry?", "angry"),
            ("How urgent is it?", "urgent"),
            (
                "Does the customer want their money back soon?",
                "customer_want_money",
            ),
            ("Is it?", "is_it"),
            ("Worum geht es in der Nachricht?", "worum_geht_es"),
            ("日本?", "question"),
        ] {
            assert_eq!(
                question_key(text, &mut TriedNumbers::default(), |_| false).as_str(),
                key,
                "{text}"
            );
        }
    }

    #[test]
    fn a_taken_option_key_gets_a_number() {
        let long = "x".repeat(200);
        assert_eq!(
            outcome_key("A", &mut TriedNumbers::default(), |key| key == "a"
                || key == "a_2")
            .as_str(),
            "a_3"
        );
        let derived = outcome_key(&long, &mut TriedNumbers::default(), |key| {
            key.len() == 64 && key.ends_with('x')
        });
        assert_eq!(derived.as_str(), format!("{}_2", "x".repeat(62)));
    }

    #[test]
    fn the_work_for_equal_labels_grows_with_their_number_only() {
        let tries = std::cell::Cell::new(0);
        let labels = |words: &dyn Fn(usize) -> String| (0..2_000).map(words).collect::<Vec<_>>();
        // alike, and alike only once they are cut to the length of a key with its number
        for labels in [
            labels(&|_| "Spare parts".to_owned()),
            labels(&|number| format!("{}{:04}", "x".repeat(60), number / 2)),
        ] {
            tries.set(0);
            let (mut numbers, mut taken) = (TriedNumbers::default(), BTreeSet::new());
            for label in &labels {
                let key = outcome_key(label, &mut numbers, |key| {
                    tries.set(tries.get() + 1);
                    taken.contains(key)
                });
                assert!(taken.insert(key.to_string()));
            }
            assert!(tries.get() <= 2 * 2_000, "{}", tries.get());
        }
        let equal = vec![(None, "A"); 12];
        let keys = outcome_keys(&equal, &[], |_| false);
        assert_eq!(
            keys[8..].iter().map(OutcomeKey::as_str).collect::<Vec<_>>(),
            ["a_9", "a_10", "a_11", "a_12"]
        );
    }
}
