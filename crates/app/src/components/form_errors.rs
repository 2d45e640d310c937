//! Validation errors of a form.

use refract_domain::problem::{Problem, ValidationError};

use super::fault_sentence::{fault_sentence, fault_sentence_of, sentence};

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
