//! Rules about the text of a question.
//!
//! A question that asks two things: two nouns or adjectives joined by `and` or `or` do not warn.
//! `Is it about shipping and handling?` is one question, and no list of words distinguishes it from
//! `Is the writer angry and afraid?`.
//!
//! A yes/no question that asks whether something is not so: only the main clause counts. A negation
//! inside a subordinate clause is part of what is asked: `Does the writer say that nothing arrived?`
//! is not a negated question.

use refract_domain::prism::Question;

use super::rule::{WordingRule, WordingWarning};
use super::words::{
    begins_subject, is_auxiliary, is_english, is_negated_auxiliary, is_one_of, is_question_word,
    words,
};

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
pub(super) fn two_questions(question: &Question, path: &str) -> Option<WordingWarning> {
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
pub(super) fn negated_question(question: &Question, path: &str) -> Option<WordingWarning> {
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

/// Characters that open or close a quotation.
const QUOTES: [char; 7] = ['"', '“', '”', '„', '«', '»', '‟'];

/// A sentence of a question's text, without the text in double quotes.
struct AskingSentence {
    words: Vec<String>,
    /// Whether a question mark ends the sentence.
    is_question: bool,
}

impl AskingSentence {
    /// The word at a position; `None` past the end.
    pub(super) fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }

    /// The word before a position.
    fn word_before(&self, index: usize) -> Option<&str> {
        self.word(index.checked_sub(1)?)
    }

    /// The words in order.
    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.words.iter().map(String::as_str)
    }
}

/// The sentences of a text, without empty ones. If any ends with a question mark, the others are
/// introductions and are left out.
fn asking_sentences(text: &str) -> Vec<AskingSentence> {
    let mut sentences = sentences(text);
    if sentences.iter().any(|sentence| sentence.is_question) {
        sentences.retain(|sentence| sentence.is_question);
    }
    sentences
}

fn sentences(text: &str) -> Vec<AskingSentence> {
    let mut sentences = Vec::new();
    let mut sentence = String::new();
    let mut is_quoted = false;
    let mut end = |sentence: &mut String, is_question| {
        let words = words(sentence);
        sentence.clear();
        if !words.is_empty() {
            sentences.push(AskingSentence { words, is_question });
        }
    };
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let ends_word = characters.peek().is_none_or(|next| !next.is_alphanumeric());
        if QUOTES.contains(&c) {
            is_quoted = !is_quoted;
            sentence.push(' ');
        } else if is_quoted {
            // a quotation asks nothing
        } else if c == '\n' || (matches!(c, '?' | '.' | '!' | ':' | ';') && ends_word) {
            end(&mut sentence, c == '?');
        } else {
            sentence.push(c);
        }
    }
    end(&mut sentence, false);
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let sentences = asking_sentences(text);
        sentences
            .iter()
            .map(|it| it.words().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn only_what_asks_is_kept() {
        assert_eq!(seen("Look closely. Is it v1.5??"), ["is it v1 5"]);
        assert_eq!(seen("The writer is angry."), ["the writer is angry"]);
        assert_eq!(
            seen(r#"Does it ask "where is it? and why?" or so?"#),
            ["does it ask or so"]
        );
        assert_eq!(seen("See http://a.example/?q=1: spam?"), ["spam"]);
        assert_eq!(seen("?!…"), Vec::<String>::new());
    }
}
