//! Inputs and buttons of the form, named by the paths of the prism file.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::prism::QuestionType;

use super::carried_draft::DraftBase;
use super::draft::{DraftKey, DraftQuestion, EditDraft, EditedOutcome};
use super::editing::CheckedDraft;
use super::item_keys::{SLUG, question_of};
use crate::components::{FormField, clamped, counted};

/// The most options or levels whose lines have labels of their own.
const SHORT: usize = 20;
/// The most questions that are found without links to them.
const FEW: usize = 3;
/// The most characters of a question in a link to it, and in its line.
const JUMP: usize = 32;
const LINE: usize = 100;
/// Beside a key that was proposed.
const PROPOSED: &str = "Proposed; for ever once saved.";

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
    /// The inputs with proposed keys.
    pub(crate) proposed: &'a [String],
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
                self.new_key(&name, "Key", key, made)
            }
        }
    }

    /// The input of the slug of a new prism.
    pub(crate) fn slug(self, slug: &str) -> Markup {
        self.new_key(SLUG, "Slug", slug, &self.checked.made_slug)
    }

    fn new_key(self, name: &str, label: &str, key: &str, made: &str) -> Markup {
        let is_proposed = self.proposed.iter().any(|it| it == name);
        let hint = if is_proposed { PROPOSED } else { "" };
        let field = self.field(name, label, key).hint(hint);
        html! { div.key { (field.placeholder(made).line("text", "off")) } }
    }

    /// Buttons that move and remove an item. `what` names the item for screen readers.
    pub(crate) fn rearranging(self, path: &str, place: usize, count: usize, what: &str) -> Markup {
        let button = |change: &str, sign: &str, words: &str, off: bool| {
            let value = format!("{path}.{change}");
            html! {
                button #(value) name="act" value=(value) disabled[off]
                    autofocus[self.focus == value] aria-label={ (words) " " (what) } { (sign) }
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

/// The inputs of the question at index `place`, or its line if it is folded.
pub(crate) fn question(
    inputs: Inputs<'_>,
    question: &DraftQuestion,
    place: usize,
    count: usize,
    is_large: bool,
) -> Markup {
    if question.is_folded {
        return folded(inputs, question, place);
    }
    let path = format!("questions.{place}");
    let what = format!("question {}", place + 1);
    html! {
        fieldset.item #(path) data-item=(path) {
            legend { "Question " (place + 1) " " span.tag { (type_name(question.question_type)) } }
            div.question-tools {
                (inputs.rearranging(&path, place, count, &what))
                @if is_large { button type="submit" name="act" value={ (path) ".close" } { "Close" } }
            }
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

/// Links to all questions.
pub(crate) fn jumps(draft: &EditDraft) -> Markup {
    html! {
        @if draft.questions.len() > FEW {
            details #jumps {
                summary { "Questions" }
                nav aria-label="Questions" {
                    ol {
                        @for (place, question) in draft.questions.iter().enumerate() {
                            @let end = if question.is_folded { ".open" } else { "" };
                            li { a href={ "#questions." (place) (end) } { (named(question, JUMP)) } }
                        }
                    }
                }
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

/// A question as one line, without ids and types that browsers do not need: a prism has up to 100.
fn folded(inputs: Inputs<'_>, question: &DraftQuestion, place: usize) -> Markup {
    let path = format!("questions.{place}");
    let open = format!("{path}.open");
    let problems = inputs.checked.problems.iter();
    let wrong = problems.filter(|problem| question_of(&problem.path) == Some(place));
    let wrong = if inputs.checked.is_asked {
        wrong.count()
    } else {
        0
    };
    html! {
        div.item.folded data-item=(path) {
            @if inputs.base.has(question) { input type="hidden" name={ (path) ".same" } value=(question.key.as_str()); }
            @else { textarea hidden name={ (path) ".folded" } { "\n" (inputs.base.carry_question(question)) } }
            button.quiet #(open) name="act" value=(open) autofocus[inputs.focus == open] { (place + 1) ". " (named(question, LINE)) }
            span.soft {
                (question.key.as_str()) " · " (type_name(question.question_type))
                @if let Some(list) = question.list() { " · " (counted(question.outcomes.len(), list.trim_end_matches('s'))) }
            }
            @if wrong > 0 { p.fault { (counted(wrong, "thing")) " to put right" } }
        }
    }
}

/// The beginning of a question's words.
fn named(question: &DraftQuestion, most: usize) -> Markup {
    html! { @if question.text.trim().is_empty() { "(no words yet)" } @else { bdi { (clamped(&question.text, most)) } } }
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
    let count = question.outcomes.len();
    let is_long = count > SHORT;
    html! {
        h3 { (heading) span.hint { " " (hint) } }
        (inputs.list_error(path))
        (headings("outcome-item", &["Label", "Description", "Key"]))
        ol.outcomes.long[is_long] {
            @for (place, outcome) in question.outcomes.iter().enumerate() {
                @let path = format!("{path}.{place}");
                @if is_long { (long_outcome(inputs, outcome, &path, place, noun)) }
                @else { (one_outcome(inputs, outcome, &path, place, count, noun)) }
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

/// An option or level of a long list, in as few bytes as it takes: there are up to 253. What is wrong
/// or has line breaks is shown in full.
fn long_outcome(
    inputs: Inputs<'_>,
    outcome: &EditedOutcome,
    path: &str,
    place: usize,
    noun: &str,
) -> Markup {
    let is_plain = |end: &str, value: &str| {
        let name = format!("{path}.{end}");
        inputs.checked.error(&name).is_empty() && inputs.focus != name && !value.contains('\n')
    };
    let button = |change: &str, sign: &str, words: &str| {
        let value = format!("{path}.{change}");
        html! { button name="act" value=(value) autofocus[inputs.focus == value] aria-label={ (words) " " (noun) " " (place + 1) } { (sign) } }
    };
    let (label, description) = (format!("{path}.label"), format!("{path}.description"));
    html! {
        li.item data-item=(path) {
            @if is_plain("label", &outcome.label) {
                div.field { input #(label) name=(label) value=(outcome.label) dir="auto" aria-label={ "Label " (place + 1) }; }
            } @else { (inputs.line(&label, "Label", &outcome.label)) }
            @if is_plain("description", "") {
                div.field { textarea #(description) name=(description) rows="1" dir="auto" aria-label={ "Description " (place + 1) } { "\n" (outcome.description) } }
            } @else { (inputs.area(&description, "Description", &outcome.description, "", 1)) }
            @match &outcome.key {
                DraftKey::Saved(key) if is_plain("key", "") => {
                    div.field.key { input type="hidden" name={ (path) ".saved_key" } value=(key); code { (key) } }
                },
                DraftKey::Saved(_) | DraftKey::Typed(_) => { (inputs.key(path, &outcome.key)) }
            }
            span.rearranging {
                (button("up", "↑", "Move up"))
                (button("down", "↓", "Move down"))
                (button("remove", "✕", "Remove"))
            }
        }
    }
}
