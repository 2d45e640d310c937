//! An input of a form with its label, hint and validation error.

use std::borrow::Cow;

use maud::{Markup, html};

use super::form_errors::FormErrors;

/// A form input. Its name is also its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormField<'a> {
    name: &'a str,
    label: &'a str,
    /// The typed value, or the initial one.
    pub(crate) value: &'a str,
    /// One line below the label; empty for none.
    hint: &'a str,
    /// The validation error; empty for a valid value.
    error: Cow<'a, str>,
    /// The value that an empty single-line input stands for; empty for none.
    placeholder: &'a str,
    /// The accessible name, where the label alone is not unique on the page; empty for the label.
    whole_name: &'a str,
    is_required: bool,
    has_focus: bool,
}

impl<'a> FormField<'a> {
    /// An input without a value.
    pub(crate) fn new(name: &'a str, label: &'a str) -> Self {
        Self {
            name,
            label,
            ..Self::default()
        }
    }

    /// Sets the typed value, or the initial one.
    pub(crate) fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    /// Adds a line below the label.
    pub(crate) fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// Sets the value that an empty single-line input stands for.
    pub(crate) fn placeholder(self, placeholder: &'a str) -> Self {
        Self {
            placeholder,
            ..self
        }
    }

    /// Sets an accessible name that is longer than the label and contains it.
    pub(crate) fn named(self, whole_name: &'a str) -> Self {
        Self { whole_name, ..self }
    }

    /// Sets the validation error; an empty text sets none.
    pub(crate) fn error(self, error: impl Into<Cow<'a, str>>) -> Self {
        let error = error.into();
        Self { error, ..self }
    }

    /// Takes the validation error from `errors`, by the input's name.
    pub(crate) fn errors(self, errors: &FormErrors) -> Self {
        let error = errors.of(self.name);
        self.error(error)
    }

    /// Makes the input required: browsers send no form in which it is empty.
    pub(crate) fn required(self) -> Self {
        Self {
            is_required: true,
            ..self
        }
    }

    /// Sets whether the input gets the focus.
    pub(crate) fn focus(self, has_focus: bool) -> Self {
        Self { has_focus, ..self }
    }

    /// A single-line input. `kind` is the type of the `input`: `text`, `email`, `password`,
    /// `search`.
    pub(crate) fn line(&self, kind: &str, autocomplete: &str) -> Markup {
        self.around(&html! {
            input #(self.name) name=(self.name) type=(kind) value=(self.value) dir="auto"
                autocomplete=(autocomplete) placeholder=[self.shown_placeholder()] required[self.is_required] autofocus[self.has_focus]
                aria-invalid=[self.invalid()] aria-describedby=[self.described_by()];
        })
    }

    /// A multi-line input.
    pub(crate) fn area(&self, rows: usize) -> Markup {
        self.around(&html! {
            textarea #(self.name) name=(self.name) rows=(rows) dir="auto" spellcheck="true"
                required[self.is_required] autofocus[self.has_focus] aria-invalid=[self.invalid()]
                aria-describedby=[self.described_by()] { "\n" (self.value) }
        })
    }

    /// A select with `options` as pairs of value and label.
    pub(crate) fn choice(&self, options: &[(&str, &str)]) -> Markup {
        self.select(&html! { @for (value, words) in options { (self.option(value, words)) } })
    }

    /// A select with its options as markup.
    pub(crate) fn select(&self, options: &Markup) -> Markup {
        self.around(&html! {
            select #(self.name) name=(self.name) aria-invalid=[self.invalid()]
                aria-label=[Some(self.whole_name).filter(|name| !name.is_empty())]
                aria-describedby=[self.described_by()] { (options) }
        })
    }

    /// An option of the select, selected if it is the input's value.
    pub(crate) fn option(&self, value: &str, words: &str) -> Markup {
        html! { option value=(value) selected[value == self.value] { (words) } }
    }

    /// Any other input, with this field's label, hint and error around it. The input's id is the
    /// field's name.
    pub(crate) fn around(&self, input: &Markup) -> Markup {
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                @if !self.hint.is_empty() {
                    p.hint id={ (self.name) "-hint" } { (self.hint) }
                }
                (input)
                @if !self.error.is_empty() {
                    p.fault id={ (self.name) "-fault" } { (self.error) }
                }
            }
        }
    }

    fn shown_placeholder(&self) -> Option<&str> {
        (!self.placeholder.is_empty()).then_some(self.placeholder)
    }

    fn invalid(&self) -> Option<&'static str> {
        (!self.error.is_empty()).then_some("true")
    }

    fn described_by(&self) -> Option<String> {
        let parts = [(self.hint, "hint"), (&self.error, "fault")];
        let ids = parts.into_iter().filter(|(text, _)| !text.is_empty());
        let ids: Vec<_> = ids.map(|(_, end)| format!("{}-{end}", self.name)).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }
}
