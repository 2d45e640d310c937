//! Inputs of a form with their labels and hints, and the validation errors of a form.

use std::borrow::Cow;

use maud::{Markup, html};
use refract_domain::problem::{Problem, ValidationError};

use super::notice::{fault_sentence, fault_sentence_of, sentence};
use super::readable::with_moments;

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
                    p.fault id={ (self.name) "-fault" } { (with_moments(&self.error)) }
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

/// The validation errors of a form, by input name. An error of the whole form has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormErrors(Vec<(String, String)>);

impl FormErrors {
    /// Adds a validation error of an input, written as a sentence.
    pub(crate) fn note(&mut self, input: &str, error: &(impl ToString + ?Sized)) {
        let error = sentence(&error.to_string());
        self.0.push((input.to_owned(), error));
    }

    /// Adds all validation errors of an input's value.
    pub(crate) fn note_all(&mut self, input: &str, value: &str, errors: &[ValidationError]) {
        for error in errors {
            self.note(input, &fault_sentence_of(error, value));
        }
    }

    /// The value of a parsed input; `None` if parsing failed, with its errors added.
    pub(crate) fn read<T>(
        &mut self,
        input: &str,
        value: &str,
        read: Result<T, Vec<ValidationError>>,
    ) -> Option<T> {
        read.map_err(|errors| self.note_all(input, value, &errors))
            .ok()
    }

    /// Whether there are no validation errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All validation errors of an input as one text; empty for none.
    pub(crate) fn of(&self, input: &str) -> String {
        let here = self.all().filter(|(known, _)| *known == input);
        joined(here.map(|(_, error)| error.to_owned()))
    }

    /// Every validation error with the name of its input.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(input, error)| (input.as_str(), error.as_str()))
    }
}

/// The problems at these paths of a file as one text; empty for none.
pub(crate) fn at_paths(problems: &[Problem], paths: &[&str]) -> String {
    let here = problems.iter();
    let here = here.filter(|problem| paths.contains(&problem.path.as_str()));
    joined(here.map(|problem| fault_sentence(&problem.error)))
}

/// All faults of a value as one text.
pub(crate) fn describe(value: &str, errors: &[ValidationError]) -> String {
    joined(errors.iter().map(|error| fault_sentence_of(error, value)))
}

fn joined(sentences: impl Iterator<Item = String>) -> String {
    sentences.collect::<Vec<_>>().join(" ")
}
