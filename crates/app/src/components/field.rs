//! An input of a form with its label, its hint and what is wrong with it.

use maud::{Markup, html};
use refract_domain::problem::Fault;

/// An input of a form. Its name is also its id.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormField<'a> {
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    /// What was typed, or what stands there at first.
    pub(crate) value: &'a str,
    /// One line below the label; empty for none.
    pub(crate) hint: &'a str,
    /// What is wrong with the value; empty when nothing is.
    pub(crate) fault: &'a str,
    pub(crate) is_required: bool,
}

/// What is wrong with a value, in one text.
pub(crate) fn in_words(faults: &[Fault]) -> String {
    let words: Vec<_> = faults.iter().map(ToString::to_string).collect();
    words.join("; ")
}

impl FormField<'_> {
    /// A line of text. `kind` is the type of the `input`: `text`, `email`, `password`, `search`.
    pub(crate) fn line(self, kind: &str, autocomplete: &str) -> Markup {
        self.around(&html! {
            input #(self.name) name=(self.name) type=(kind) value=(self.value) dir="auto"
                autocomplete=(autocomplete) required[self.is_required]
                aria-invalid=[self.invalid()] aria-describedby=[self.described_by()];
        })
    }

    /// Text of several lines.
    pub(crate) fn area(self, rows: usize) -> Markup {
        self.around(&html! {
            textarea #(self.name) name=(self.name) rows=(rows) dir="auto" spellcheck="true"
                required[self.is_required] aria-invalid=[self.invalid()]
                aria-describedby=[self.described_by()] { "\n" (self.value) }
        })
    }

    /// A choice among values, each with its words.
    pub(crate) fn choice(self, options: &[(&str, &str)]) -> Markup {
        self.select(&html! {
            @for (value, words) in options {
                option value=(value) selected[*value == self.value] { (words) }
            }
        })
    }

    /// A choice whose options are given as markup.
    pub(crate) fn select(self, options: &Markup) -> Markup {
        self.around(&html! {
            select #(self.name) name=(self.name) aria-invalid=[self.invalid()]
                aria-describedby=[self.described_by()] { (options) }
        })
    }

    /// An input of another kind, with this field's label, hint and fault around it. The input has
    /// the field's name as its id.
    pub(crate) fn around(self, input: &Markup) -> Markup {
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                @if !self.hint.is_empty() {
                    p.hint id={ (self.name) "-hint" } { (self.hint) }
                }
                (input)
                @if !self.fault.is_empty() {
                    p.fault id={ (self.name) "-fault" } { (self.fault) }
                }
            }
        }
    }

    fn invalid(self) -> Option<&'static str> {
        (!self.fault.is_empty()).then_some("true")
    }

    fn described_by(self) -> Option<String> {
        let parts = [(self.hint, "hint"), (self.fault, "fault")];
        let ids = parts.into_iter().filter(|(text, _)| !text.is_empty());
        let ids: Vec<_> = ids.map(|(_, end)| format!("{}-{end}", self.name)).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }
}
