//! Changes of questions.

use refract_domain::key::QuestionKey;
use refract_domain::prism::question::{Question, QuestionType};

use super::difference::{ChangedWording, Severity, VersionDifference};
use super::order::is_other_order;
use super::outcomes;

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
        found.extend(outcomes::differences(before, after));
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
