//! The rule `two-questions`: a question that asks two things.
//!
//! Two nouns or adjectives joined by `and` or `or` do not warn: `Is it about shipping and
//! handling?` is one question, and no list of words distinguishes it from `Is the writer angry and
//! afraid?`.

use refract_domain::prism::question::Question;

use super::english::{begins_subject, is_auxiliary, is_english, is_question_word};
use super::rule::WordingRule;
use super::sentence::{AskingSentence, asking_sentences};
use super::warning::WordingWarning;
use super::words::is_one_of;

/// Words after `as well as` that make the phrase a comparison.
const COMPARED: [&str; 17] = [
    "possible",
    "expected",
    "before",
    "ever",
    "usual",
    "hoped",
    "promised",
    "advertised",
    "described",
    "it",
    "he",
    "she",
    "they",
    "you",
    "we",
    "i",
    "can",
];

/// The most words between a question word and its auxiliary: `how very often does`.
const MOST_BETWEEN: usize = 4;

/// Verbs in the third person singular that are not also nouns.
const VERBS: [&str; 6] = ["asks", "wants", "threatens", "complains", "expects", "says"];

/// Words that begin the object of a verb.
const OBJECTS: [&str; 12] = [
    "to", "a", "an", "the", "for", "about", "that", "his", "her", "their", "our", "us",
];

/// Warns of a text that asks two things; `path` names the text.
pub(super) fn check(question: &Question, path: &str) -> Option<WordingWarning> {
    let sentences = asking_sentences(&question.text);
    if !is_english(sentences.iter().flat_map(AskingSentence::words)) {
        return None;
    }
    let asking = sentences.iter().filter(|sentence| asks(sentence)).count();
    let message = if asking > 1 {
        format!("the text has {asking} questions")
    } else {
        let joint = sentences.iter().find_map(joined_clauses)?;
        format!("'{joint}' joins two things that are asked for")
    };
    Some(WordingWarning::new(
        WordingRule::TwoQuestions,
        path.to_owned(),
        message,
    ))
}

/// Whether a sentence ends with a question mark and begins as a question does.
fn asks(sentence: &AskingSentence) -> bool {
    let is_joint = is_one_of(sentence.word(0), &["and", "or", "also", "then"]);
    let first = sentence.word(usize::from(is_joint));
    sentence.is_question && (is_auxiliary(first) || is_question_word(first))
}

/// The words that join two clauses of a sentence, when there are two.
fn joined_clauses(sentence: &AskingSentence) -> Option<String> {
    for index in 1..sentence.words().len() {
        let word = sentence.word(index);
        let next = index + 1;
        if word == Some("as") && sentence.word(next) == Some("well") {
            let is_joint = sentence.word(next + 1) == Some("as");
            let after = sentence.word(next + 2);
            if is_joint && after.is_some() && !is_one_of(after, &COMPARED) {
                return Some("as well as".to_owned());
            }
        }
        if is_one_of(word, &["and", "or"]) && begins_clause(sentence, next) {
            let joint = [word, sentence.word(next)];
            return Some(joint.into_iter().flatten().collect::<Vec<_>>().join(" "));
        }
    }
    None
}

/// Whether an independent clause begins at a position after `and` or `or`.
fn begins_clause(sentence: &AskingSentence, start: usize) -> bool {
    let (first, second) = (sentence.word(start), sentence.word(start + 1));
    let before_joint = start.checked_sub(2).and_then(|index| sentence.word(index));
    if is_auxiliary(first) {
        // `has or had the` is one clause
        return !is_auxiliary(before_joint) && begins_subject(second);
    }
    if is_question_word(first) {
        // `when and where` is one question
        return !is_question_word(before_joint) && asks_on(sentence, start);
    }
    is_one_of(first, &VERBS) && is_one_of(second, &OBJECTS)
}

/// Whether the question word at a position begins another question, such as `how urgent is it` or a
/// final `why`.
fn asks_on(sentence: &AskingSentence, start: usize) -> bool {
    let earlier = (0..start).filter(|index| is_question_word(sentence.word(*index)));
    if sentence.word(start + 1).is_none() {
        // the last `when` of `Does it say who called and when?` belongs to the object of `say`
        let is_direct = is_question_word(sentence.word(0)) || earlier.count() == 0;
        return is_direct;
    }
    let between = start + 1..start + 2 + MOST_BETWEEN;
    let mut auxiliaries = between.filter(|index| is_auxiliary(sentence.word(*index)));
    auxiliaries
        .next()
        .is_some_and(|index| !is_one_of(sentence.word(index + 1), &["not"]))
}
