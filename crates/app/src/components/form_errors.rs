//! Validation errors of a form.

use refract_domain::problem::{Problem, ValidationError};

/// The validation errors of a form, by input name. An error of the whole form has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormErrors(Vec<(String, String)>);

impl FormErrors {
    /// Adds a validation error of an input.
    pub(crate) fn note(&mut self, input: &str, error: &(impl ToString + ?Sized)) {
        self.0.push((input.to_owned(), error.to_string()));
    }

    /// Adds all validation errors of an input.
    pub(crate) fn note_all(&mut self, input: &str, errors: &[ValidationError]) {
        for error in errors {
            self.note(input, error);
        }
    }

    /// The value of a parsed input; `None` if parsing failed, with its errors added.
    pub(crate) fn read<T>(
        &mut self,
        input: &str,
        read: Result<T, Vec<ValidationError>>,
    ) -> Option<T> {
        read.map_err(|errors| self.note_all(input, &errors)).ok()
    }

    /// Whether there are no validation errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All validation errors of an input as one text; empty for none.
    pub(crate) fn of(&self, input: &str) -> String {
        let here = self.all().filter(|(known, _)| *known == input);
        describe(here.map(|(_, error)| error))
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
    describe(here.map(|problem| &problem.error))
}

/// All faults of a value as one text.
pub(crate) fn describe(errors: impl IntoIterator<Item: ToString>) -> String {
    let words = errors.into_iter().map(|error| error.to_string());
    words.collect::<Vec<_>>().join("; ")
}
