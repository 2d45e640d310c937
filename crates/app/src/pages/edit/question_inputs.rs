//! The inputs of one question, with its options or levels.

use maud::{Markup, html};
use refract_domain::prism::question::QuestionType;

use super::draft::{DraftOutcome, DraftQuestion};
use super::inputs::Inputs;
use super::place_description::question_of;
use crate::components::number::counted;

/// The inputs of the question at index `place`.
pub(crate) fn question(
    inputs: Inputs<'_>,
    question: &DraftQuestion,
    place: usize,
    count: usize,
    is_large: bool,
) -> Markup {
    let path = format!("questions.{place}");
    let what = format!("question {}", place + 1);
    html! {
        fieldset.item #(path) data-item=(path) {
            legend { "Question " (place + 1) " " span.tag { (type_name(question.question_type)) } }
            div.question-tools {
                (inputs.rearranging(&path, place, count, &what))
                @if is_large && !question.is_folded {
                    button type="submit" name="act" value={ (path) ".close" } { "Close" }
                }
            }
            @if question.is_folded {
                (folded(inputs, question, &path, place))
            } @else {
                input type="hidden" name={ (path) ".type" } value=(question.question_type.name());
                div.question-words {
                    (inputs.area(&format!("{path}.text"), "Question", &question.text, "", 1))
                    (inputs.key(&path, &question.key))
                }
                (inputs.area(&format!("{path}.instructions"), "Instructions for the model", &question.instructions, "", 1))
                @if let Some(list) = question.list() { (outcomes(inputs, question, &format!("{path}.{list}"))) }
            }
        }
    }
}

/// The displayed name of a question type.
pub(crate) fn type_name(question_type: QuestionType) -> &'static str {
    match question_type {
        QuestionType::Choice => "choice",
        QuestionType::YesNo => "yes / no",
        QuestionType::Scale => "scale",
    }
}

fn folded(inputs: Inputs<'_>, question: &DraftQuestion, path: &str, place: usize) -> Markup {
    let problems = inputs.checked.problems.iter();
    let wrong = problems.filter(|problem| question_of(&problem.path) == Some(place));
    let wrong = if inputs.checked.is_asked {
        wrong.count()
    } else {
        0
    };
    html! {
        textarea hidden name={ (path) ".folded" } { "\n" (inputs.base.carry_question(question)) }
        p.text dir="auto" { (question.text) }
        @if wrong > 0 { p.fault { (counted(wrong, "thing")) " to put right" } }
        p.row {
            @if let Some(list) = question.list() {
                span.soft { (counted(question.outcomes.len(), list.trim_end_matches('s'))) }
            }
            (inputs.adding(&format!("{path}.open"), "Open"))
        }
    }
}

fn outcomes(inputs: Inputs<'_>, question: &DraftQuestion, path: &str) -> Markup {
    let (noun, heading, hint) = match question.question_type {
        QuestionType::Choice => (
            "option",
            "Options",
            "“Other” and “Not enough information” are always there besides these.",
        ),
        QuestionType::YesNo | QuestionType::Scale => ("level", "Levels", "The lowest comes first."),
    };
    html! {
        h3 { (heading) span.hint { " " (hint) } }
        (inputs.list_error(path))
        (inputs.headings("outcome-item", &["Label", "Description", "Key"]))
        ol.outcomes {
            @for (place, outcome) in question.outcomes.iter().enumerate() {
                (one_outcome(inputs, outcome, &format!("{path}.{place}"), place, question.outcomes.len(), noun))
            }
        }
        (inputs.adding(&format!("{path}.add"), &format!("Add a{} {noun}", if noun == "option" { "n" } else { "" })))
    }
}

fn one_outcome(
    inputs: Inputs<'_>,
    outcome: &DraftOutcome,
    path: &str,
    place: usize,
    count: usize,
    noun: &str,
) -> Markup {
    html! {
        li.item #(path) data-item=(path) {
            (inputs.line(&format!("{path}.label"), "Label", &outcome.label))
            (inputs.area(&format!("{path}.description"), "Description", &outcome.description, "", 1))
            (inputs.key(path, &outcome.key))
            (inputs.rearranging(path, place, count, &format!("{noun} {}", place + 1)))
        }
    }
}
