//! The rule `negated-question`: a yes/no question that asks whether something is not so.
//!
//! Only the main clause counts. A negation inside a subordinate clause is part of what is asked:
//! `Does the writer say that nothing arrived?` is not a negated question.

use refract_domain::prism::question::Question;

use super::english::{is_auxiliary, is_english, is_negated_auxiliary};
use super::rule::WordingRule;
use super::sentence::{AskingSentence, asking_sentences};
use super::warning::WordingWarning;
use super::words::is_one_of;

/// Words that begin a subordinate clause.
const CLAUSES: [&str; 15] = [
    "that", "who", "whom", "whose", "which", "whether", "if", "because", "why", "what", "when",
    "where", "how", "although", "while",
];

/// Stems of verbs of saying, wanting or feeling, which introduce a clause.
const REPORTS: [&str; 33] = [
    "say", "said", "ask", "claim", "mention", "state", "think", "believe", "complain", "know",
    "want", "wish", "prefer", "request", "demand", "writes", "wrote", "tell", "told", "explain",
    "report", "feel", "suggest", "mean", "decid", "choos", "agree", "promis", "refus", "threat",
    "confirm", "indicat", "warn",
];

/// Words before a noun, so that `the request` is not taken for a verb.
const DETERMINERS: [&str; 8] = ["the", "a", "an", "this", "that", "his", "her", "their"];

/// Words that negate by themselves.
const DENYING: [&str; 5] = ["never", "nobody", "nothing", "none", "neither"];

/// The most words before `without`, apart from `is`: `Is the message without`.
const MOST_BEFORE_WITHOUT: usize = 4;

/// Warns of a text that is phrased as a negation; `path` names the text.
pub(super) fn check(question: &Question, path: &str) -> Option<WordingWarning> {
    let sentences = asking_sentences(&question.text);
    if !is_english(sentences.iter().flat_map(AskingSentence::words)) {
        return None;
    }
    let negation = sentences.iter().find_map(negation)?;
    let message = format!("the question is a negation, with '{negation}'");
    Some(WordingWarning::new(
        WordingRule::NegatedQuestion,
        path.to_owned(),
        message,
    ))
}

/// The word that makes the sentence a negation.
fn negation(sentence: &AskingSentence) -> Option<&str> {
    if is_negated_auxiliary(sentence.word(0)) {
        return sentence.word(0);
    }
    let mut from_end = sentence.words().rev();
    let (last, before_last) = (from_end.next(), from_end.next());
    if is_negated_auxiliary(before_last) && is_one_of(last, &["it", "he", "she", "they", "there"]) {
        return before_last;
    }
    // in `is that`, `that` is a pronoun; further on it begins a clause
    let begins_clause = |index: usize, word: &str| index > 1 && CLAUSES.contains(&word);
    let own_clause = sentence.words().enumerate().take_while(|(index, word)| {
        !begins_clause(*index, word) && !reports(sentence.word_before(*index), word)
    });
    own_clause
        .filter(|(index, word)| is_denied(sentence, *index, word))
        .map(|(_, word)| word)
        .next()
}

fn reports(before: Option<&str>, word: &str) -> bool {
    let is_verb = !is_one_of(before, &DETERMINERS);
    is_verb && REPORTS.iter().any(|report| word.starts_with(report))
}

/// Whether the word at a position denies what the question asks for.
fn is_denied(sentence: &AskingSentence, index: usize, word: &str) -> bool {
    let before = sentence.word_before(index);
    let after = sentence.word(index + 1);
    let is_yes_no = is_auxiliary(sentence.word(0));
    // in `something he does not like`, the auxiliary belongs to a subordinate clause
    let is_inside = is_yes_no && index > 1 && is_auxiliary(before);
    let is_alternative = is_one_of(before, &["or", "and", "but", "if", "why"]);
    let is_number = after.is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()));
    match word {
        "not" => {
            !is_inside && !is_alternative && !is_one_of(after, &["only", "just", "merely", "or"])
        }
        "no" => !is_alternative && after.is_some() && !is_number && !is_one_of(after, &["or"]),
        "without" => is_without(sentence, index),
        "cannot" => !is_yes_no,
        _ => DENYING.contains(&word) && !is_inside && !is_alternative,
    }
}

/// Whether `without` at a position describes a state, as in `Is the message without a date?`.
fn is_without(sentence: &AskingSentence, index: usize) -> bool {
    let is_state = is_one_of(sentence.word(0), &["is", "are", "was", "were"]);
    let between = sentence.words().take(index).skip(1);
    // `Is it sent without a date?` asks about the sending
    let mut actions = between
        .filter(|word| word.ends_with("ing") || word.ends_with("ed") || word.ends_with("ent"));
    is_state && index <= MOST_BEFORE_WITHOUT + 1 && actions.next().is_none()
}
