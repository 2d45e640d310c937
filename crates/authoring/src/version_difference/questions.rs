//! Changes of questions, and of the options of a choice or the levels of a scale.

use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::{Outcome, Question, QuestionKind, QuestionType};

use super::difference::{ChangedWording, Severity, VersionDifference, is_other_order};

pub(super) fn differences(before: &[Question], after: &[Question]) -> Vec<VersionDifference> {
    let mut found = Vec::new();
    for question in after {
        match before.iter().find(|other| other.key == question.key) {
            Some(other) => found.extend(of_question(other, question)),
            None => found.push(VersionDifference::new(
                Severity::ForAnswers,
                path(&question.key),
                format!(
                    "The question '{}' is new: results of earlier versions have no answer to it.",
                    question.key
                ),
            )),
        }
    }
    for question in before {
        if after.iter().all(|other| other.key != question.key) {
            found.push(VersionDifference::new(
                Severity::ForCallers,
                path(&question.key),
                format!(
                    "The question '{}' is gone: new results have no answer to it.",
                    question.key
                ),
            ));
        }
    }
    if is_other_order(&keys(before), &keys(after)) {
        let text = "The questions stand in another order, in which the model reads them.";
        found.push(VersionDifference::new(
            Severity::ForAnswers,
            "questions",
            text,
        ));
    }
    found
}

/// The differences of a question that both versions have.
fn of_question(before: &Question, after: &Question) -> Vec<VersionDifference> {
    let key = &after.key;
    let path = path(key);
    let mut found = Vec::new();
    if let Some(wording) = ChangedWording::of(Some(&before.text), Some(&after.text)) {
        let text = format!("The question '{key}' is worded differently.");
        found.push(for_answers(format!("{path}.text"), text).with_wording(wording));
    }
    let instructions = (
        before.instructions.as_deref(),
        after.instructions.as_deref(),
    );
    if let Some(wording) = ChangedWording::of(instructions.0, instructions.1) {
        let what = wording.what_happened("are new", "are gone", "are worded differently");
        let text = format!("The instructions of '{key}' {what}.");
        found.push(for_answers(format!("{path}.instructions"), text).with_wording(wording));
    }
    if before.question_type() == after.question_type() {
        found.extend(outcome_differences(before, after));
    } else {
        // reading a prism file refuses this, so only versions from elsewhere differ in type
        let text = format!(
            "The question '{key}' is {} instead of {}: its answers have another form.",
            describe_type(after.question_type()),
            describe_type(before.question_type())
        );
        let path = format!("{path}.type");
        found.push(VersionDifference::new(Severity::ForCallers, path, text));
    }
    found
}

fn describe_type(question_type: QuestionType) -> &'static str {
    match question_type {
        QuestionType::Choice => "a choice",
        QuestionType::YesNo => "a yes/no question",
        QuestionType::Scale => "a scale",
    }
}

fn for_answers(path: String, text: String) -> VersionDifference {
    VersionDifference::new(Severity::ForAnswers, path, text)
}

fn path(question: &QuestionKey) -> String {
    format!("questions.{question}")
}

fn keys(questions: &[Question]) -> Vec<&QuestionKey> {
    questions.iter().map(|question| &question.key).collect()
}

/// The differences in options or levels between two versions of a question, which must have one
/// type.
fn outcome_differences(before: &Question, after: &Question) -> Vec<VersionDifference> {
    let (noun, list) = match after.kind {
        QuestionKind::Choice { .. } => ("option", "options"),
        QuestionKind::YesNo => return Vec::new(),
        QuestionKind::Scale { .. } => ("level", "levels"),
    };
    let named = NamedList {
        question: after,
        path: format!("questions.{}.{list}", after.key),
        noun,
    };
    let mut found = Vec::new();
    for outcome in after.own_outcomes() {
        match find(before.own_outcomes(), &outcome.key) {
            Some(other) => found.extend(named.of_outcome(other, outcome)),
            None => found.push(named.for_callers(
                &outcome.key,
                format!(
                    "The {noun} '{}' of '{}' is new: readers must expect the value '{}'.",
                    outcome.label, after.key, outcome.key
                ),
            )),
        }
    }
    for outcome in before.own_outcomes() {
        if find(after.own_outcomes(), &outcome.key).is_none() {
            found.push(named.for_callers(
                &outcome.key,
                format!(
                    "The {noun} '{}' of '{}' is gone: no new answer has the value '{}'.",
                    outcome.label, after.key, outcome.key
                ),
            ));
        }
    }
    found.extend(named.order_difference(before));
    found
}

/// The options or levels of a question after the change.
struct NamedList<'a> {
    question: &'a Question,
    path: String,
    /// The noun for one outcome: option or level.
    noun: &'static str,
}

impl NamedList<'_> {
    fn for_callers(&self, outcome: &OutcomeKey, text: String) -> VersionDifference {
        let path = format!("{}.{outcome}", self.path);
        VersionDifference::new(Severity::ForCallers, path, text)
    }

    /// The differences of an option or level that both versions have.
    fn of_outcome(&self, before: &Outcome, after: &Outcome) -> Vec<VersionDifference> {
        let Self {
            question,
            path,
            noun,
        } = self;
        let key = &after.key;
        let mut found = Vec::new();
        if let Some(wording) = ChangedWording::of(Some(&before.label), Some(&after.label)) {
            let text = format!(
                "The {noun} '{key}' of '{}' reads '{}' instead of '{}', in cells of csv and tsv \
                 and for the model.",
                question.key, after.label, before.label
            );
            let path = format!("{path}.{key}.label");
            let difference = VersionDifference::new(Severity::ForCallers, path, text);
            found.push(difference.with_wording(wording));
        }
        let descriptions = (before.description.as_deref(), after.description.as_deref());
        if let Some(wording) = ChangedWording::of(descriptions.0, descriptions.1) {
            let what = wording.what_happened(
                "has a description now",
                "has no description any more",
                "is described differently",
            );
            let text = format!("The {noun} '{}' of '{}' {what}.", after.label, question.key);
            let path = format!("{path}.{key}.description");
            let difference = VersionDifference::new(Severity::ForAnswers, path, text);
            found.push(difference.with_wording(wording));
        }
        found
    }

    /// The difference in order. Levels are numbered by position, so their numbers are compared too.
    fn order_difference(&self, before: &Question) -> Option<VersionDifference> {
        let key = &self.question.key;
        let is_scale = matches!(self.question.kind, QuestionKind::Scale { .. });
        let is_moved = is_other_order(&outcome_keys(before), &outcome_keys(self.question));
        let (severity, text) = if is_moved && is_scale {
            let text = format!(
                "The levels of '{key}' stand in another order: their numbers and averages mean \
                 something else."
            );
            (Severity::ForCallers, text)
        } else if is_moved {
            let text = format!(
                "The options of '{key}' stand in another order, which can move a model's answers."
            );
            (Severity::ForAnswers, text)
        } else if is_scale {
            (Severity::ForCallers, self.renumbered(before)?)
        } else {
            return None;
        };
        Some(VersionDifference::new(severity, self.path.clone(), text))
    }

    /// A sentence about the first level whose number changed; `None` if all numbers are equal.
    fn renumbered(&self, before: &Question) -> Option<String> {
        let key = &self.question.key;
        let numbered = |question: &'_ Question, key: &OutcomeKey| {
            let place = question.own_outcomes().iter();
            let mut place = place.zip(1_usize..);
            place.find_map(|(level, number)| (level.key == *key).then_some(number))
        };
        self.question.own_outcomes().iter().find_map(|level| {
            let was = numbered(before, &level.key)?;
            let is = numbered(self.question, &level.key)?;
            (was != is).then(|| {
                format!(
                    "The levels of '{key}' have other numbers: '{}' is {is} instead of {was}.",
                    level.label
                )
            })
        })
    }
}

fn find<'a>(outcomes: &'a [Outcome], key: &OutcomeKey) -> Option<&'a Outcome> {
    outcomes.iter().find(|outcome| outcome.key == *key)
}

fn outcome_keys(question: &Question) -> Vec<&OutcomeKey> {
    let outcomes = question.own_outcomes().iter();
    outcomes.map(|outcome| &outcome.key).collect()
}
