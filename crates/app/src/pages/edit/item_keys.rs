//! The keys of new items, which callers write for ever: what the form shows for those that are made
//! from words, and what it asks for where the words have no Latin letters.

use std::borrow::Cow;
use std::iter;

use refract_authoring::made_names;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::{Outcome, Question, QuestionType, Slug};
use refract_domain::problem::{Problems, ValidationError};

use super::carried_draft::DraftBase;
use super::draft::{DraftKey, DraftQuestion, EditDraft, is_foreign, spelled};

/// The input with the slug of a new prism.
pub(crate) const SLUG: &str = "slug";

/// The slugs for a new prism of this name, in order of preference; none without a name.
pub(crate) fn made_slugs(name: &str) -> impl Iterator<Item = Slug> {
    let is_named = !name.trim().is_empty();
    made_names::slugs(&spelled(name)).take_while(move |_| is_named)
}

/// The index of the question that contains a path of the prism file.
pub(crate) fn question_of(path: &str) -> Option<usize> {
    let rest = path.strip_prefix("questions.")?;
    rest.split('.').next()?.parse().ok()
}

/// An item of a draft whose key callers write.
struct KeyedItem<'a> {
    /// The path of the key in the form.
    path: String,
    key: &'a DraftKey,
    /// The words that a key can be made from.
    words: &'a str,
}

/// The items of a draft: its fields, and each question before its options or levels. Those of a folded
/// question are among them if `has_folded`.
fn items(draft: &EditDraft, has_folded: bool) -> impl Iterator<Item = KeyedItem<'_>> {
    let fields = draft.fields.iter().enumerate();
    let fields = fields.map(|(place, field)| KeyedItem {
        path: format!("fields.{place}.key"),
        key: &field.key,
        words: &field.label,
    });
    let questions = draft.questions.iter().enumerate();
    let questions = questions.flat_map(move |(place, question)| {
        let list = question.list().unwrap_or_default();
        let asked = KeyedItem {
            path: format!("questions.{place}.key"),
            key: &question.key,
            words: &question.text,
        };
        let outcomes = has_outcomes(question, has_folded).then_some(question.outcomes.iter());
        let outcomes = outcomes.into_iter().flatten().enumerate();
        let outcomes = outcomes.map(move |(outcome_place, outcome)| KeyedItem {
            path: format!("questions.{place}.{list}.{outcome_place}.key"),
            key: &outcome.key,
            words: &outcome.label,
        });
        iter::once(asked).chain(outcomes)
    });
    fields.chain(questions)
}

fn has_outcomes(question: &DraftQuestion, has_folded: bool) -> bool {
    has_folded || !question.is_folded
}

/// The key of each item: its own, or one made from its words.
fn keys(draft: &EditDraft, base: &DraftBase, has_folded: bool) -> Vec<String> {
    let (mut keys, questions) = draft.keys();
    for (question, key) in draft.questions.iter().zip(questions) {
        keys.push(key);
        if has_outcomes(question, has_folded) {
            let outcomes = outcome_keys(question, base);
            keys.extend(outcomes.iter().map(ToString::to_string));
        }
    }
    keys
}

/// The keys of new items by their path in the form, such as `questions.0.key`; empty where there
/// are no words yet that a key could be made from. None for a draft beyond the limits, which says so
/// instead.
pub(crate) fn made_keys(draft: &EditDraft, base: &DraftBase) -> Vec<(String, String)> {
    if draft.is_beyond_limits() {
        return Vec::new();
    }
    let items = items(draft, false).zip(keys(draft, base, false));
    let made = items.filter_map(|(item, key)| Some((item.path, shown(item.key, item.words, key)?)));
    made.collect()
}

/// The key of an item that has none of its own yet; `None` for any other item.
fn shown(key: &DraftKey, words: &str, made: String) -> Option<String> {
    match key {
        DraftKey::Saved(_) => None,
        DraftKey::Typed(_) if words.trim().is_empty() => Some(String::new()),
        DraftKey::Typed(_) => Some(made),
    }
}

fn outcome_keys(question: &DraftQuestion, base: &DraftBase) -> Vec<OutcomeKey> {
    let previous = previous(question, base);
    let outcomes = question.outcomes.iter();
    let outcomes: Vec<_> = outcomes
        .map(|outcome| {
            let key = OutcomeKey::parse(outcome.key.as_str().trim()).ok();
            // a label that the version had keeps its key
            let label = outcome.label.trim();
            let had = previous.iter().any(|before| before.label == label);
            (
                key,
                if had {
                    Cow::Borrowed(label)
                } else {
                    spelled(label)
                },
            )
        })
        .collect();
    let outcomes: Vec<_> = outcomes
        .iter()
        .map(|(key, label)| (key.clone(), label.as_ref()))
        .collect();
    let is_choice = question.question_type == QuestionType::Choice;
    let is_reserved = |key: &OutcomeKey| is_choice && key.is_built_in();
    made_names::outcome_keys(&outcomes, previous, is_reserved)
}

/// The options or levels of the question in the version that the draft was made from.
fn previous<'a>(question: &DraftQuestion, base: &'a DraftBase) -> &'a [Outcome] {
    let questions = base.0.iter().flat_map(|version| version.questions());
    let mut same = questions.filter(|saved| saved.key.as_str() == question.key.as_str());
    same.next().map(Question::own_outcomes).unwrap_or_default()
}

/// Adds what is asked for before anything is saved: the keys of words without Latin letters, and a slug
/// that is one.
pub(crate) fn ask(draft: &EditDraft, is_new: bool, problems: &mut Problems) {
    let mut ask = |path: String, key: &str, words: &str| {
        if is_unasked(key, words) {
            let rule = "the words have no Latin letters: choose the key that callers write";
            problems.add(path, ValidationError::rule(rule));
        }
    };
    if is_new {
        ask(SLUG.to_owned(), &draft.slug, &draft.name);
    }
    for item in items(draft, true) {
        ask(item.path, item.key.as_str(), item.words);
    }
    let slug = draft.slug.trim();
    if is_new && !slug.is_empty() && Slug::parse(slug).is_none() {
        let rule =
            "must be lower case letters and digits, in words joined with -, at most 64 characters";
        problems.add(SLUG, ValidationError::rule(rule));
    }
}

/// Fills in the keys that are asked for with proposals, and the slug of a new prism with `slug`. Returns
/// the inputs that got one.
pub(crate) fn propose(draft: &mut EditDraft, base: &DraftBase, slug: &str) -> Vec<String> {
    let mut proposed = Vec::new();
    if draft.is_beyond_limits() {
        return proposed;
    }
    let items = items(draft, true).zip(keys(draft, base, true));
    let wanted = items
        .map(|(item, made)| is_unasked(item.key.as_str(), item.words).then_some((item.path, made)));
    let wanted: Vec<_> = wanted.collect();
    for (key, wanted) in draft.item_keys_mut().zip(wanted) {
        if let Some((path, made)) = wanted {
            *key = DraftKey::Typed(made);
            proposed.push(path);
        }
    }
    if !slug.is_empty() && is_unasked(&draft.slug, &draft.name) {
        slug.clone_into(&mut draft.slug);
        proposed.insert(0, SLUG.to_owned());
    }
    proposed
}

fn is_unasked(key: &str, words: &str) -> bool {
    key.trim().is_empty() && is_foreign(words)
}

#[cfg(test)]
mod tests;
