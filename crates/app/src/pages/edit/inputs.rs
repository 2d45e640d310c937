//! Inputs and buttons of the form, named by the paths of the prism file.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::prism::question::QuestionType;

use super::draft::{DraftBase, DraftKey, DraftQuestion, EditedOutcome};
use super::draft_state::question_of;
use super::editing::CheckedDraft;
use crate::components::field::FormField;
use crate::components::number::counted;

/// What inputs need in addition to their value.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) checked: &'a CheckedDraft,
    /// The id of the element that gets the focus; empty for none.
    pub(crate) focus: &'a str,
    /// The version against which folded questions are compared for their hidden values.
    pub(crate) base: &'a DraftBase,
    /// The keys that new items will get, by path.
    pub(crate) keys: &'a HashMap<String, String>,
}

/// The headings above a list, for those who see its items as lines of a table. Each input has its
/// own label too.
pub(crate) fn headings(kind: &str, words: &[&str]) -> Markup {
    html! {
        div.headings.(kind) aria-hidden="true" { @for word in words { span { (word) } } }
    }
}

impl Inputs<'_> {
    /// A single-line input, or a multi-line one if the value has line breaks, which a single line
    /// would lose.
    pub(crate) fn line(self, name: &str, label: &str, value: &str) -> Markup {
        if value.contains('\n') {
            return self.area(name, label, value, "", 2);
        }
        self.field(name, label, value).line("text", "off")
    }

    /// A multi-line input.
    pub(crate) fn area(
        self,
        name: &str,
        label: &str,
        value: &str,
        hint: &str,
        rows: usize,
    ) -> Markup {
        self.field(name, label, value).hint(hint).area(rows)
    }

    fn field<'a>(self, name: &'a str, label: &'a str, value: &'a str) -> FormField<'a> {
        let field = FormField::new(name, label).value(value);
        let field = field.error(self.checked.error(name));
        field.focus(self.focus == name)
    }

    /// The input of a key; read-only once it is saved. An empty one shows the key that is made.
    pub(crate) fn key(self, path: &str, key: &DraftKey) -> Markup {
        let name = format!("{path}.key");
        match key {
            DraftKey::Saved(key) => {
                let error = self.checked.error(&name);
                html! {
                    div.field.key #(name) tabindex="-1" autofocus[self.focus == name] {
                        span.label { "Key" }
                        input type="hidden" name={ (path) ".saved_key" } value=(key);
                        p { code title="Callers rely on it, so it is fixed" { (key) } span.unseen { ", fixed" } }
                        @if !error.is_empty() { p.fault { (error) } }
                    }
                }
            }
            DraftKey::Typed(key) => {
                let made = self.keys.get(&name).map_or("", String::as_str);
                html! {
                    div.key { (self.field(&name, "Key", key).placeholder(made).line("text", "off")) }
                }
            }
        }
    }

    /// Buttons that move and remove an item. `what` names the item for screen readers.
    pub(crate) fn rearranging(self, path: &str, place: usize, count: usize, what: &str) -> Markup {
        let button = |change: &str, sign: &str, words: &str, off: bool| {
            let value = format!("{path}.{change}");
            html! {
                button #(value) type="submit" name="act" value=(value) disabled[off]
                    autofocus[self.focus == value] aria-label={ (words) " " (what) }
                    title=(words) { (sign) }
            }
        };
        html! {
            span.rearranging {
                (button("up", "↑", "Move up", place == 0))
                (button("down", "↓", "Move down", place + 1 == count))
                (button("remove", "✕", "Remove", false))
            }
        }
    }

    /// A button that adds an item.
    pub(crate) fn adding(self, value: &str, words: &str) -> Markup {
        html! {
            button type="submit" name="act" value=(value) id=(value) autofocus[self.focus == value] { (words) }
        }
    }

    /// The validation error of a whole list.
    pub(crate) fn list_error(self, path: &str) -> Markup {
        let error = self.checked.error(path);
        html! { div.list-fault id=(path) tabindex="-1" autofocus[self.focus == path] { @if !error.is_empty() { p.fault { (error) } } } }
    }
}

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
        (headings("outcome-item", &["Label", "Description", "Key"]))
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
    outcome: &EditedOutcome,
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
