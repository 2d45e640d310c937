//! What is wrong with what was typed into a form.

use refract_domain::problem::{Fault, Problem};

/// What is wrong with the values of a form, by the names of its inputs. What is wrong with the form as
/// a whole has an empty name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormFaults(Vec<(String, String)>);

impl FormFaults {
    /// Notes what is wrong with an input's value.
    pub(crate) fn note(&mut self, input: &str, fault: &(impl ToString + ?Sized)) {
        self.0.push((input.to_owned(), fault.to_string()));
    }

    /// Notes everything that is wrong with an input's value.
    pub(crate) fn note_all(&mut self, input: &str, faults: &[Fault]) {
        for fault in faults {
            self.note(input, fault);
        }
    }

    /// A value that was read; `None`, with what is wrong noted, where it could not be.
    pub(crate) fn read<T>(&mut self, input: &str, read: Result<T, Vec<Fault>>) -> Option<T> {
        read.map_err(|faults| self.note_all(input, &faults)).ok()
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with an input's value, in one text; empty when nothing is.
    pub(crate) fn of(&self, input: &str) -> String {
        let here = self.all().filter(|(known, _)| *known == input);
        describe(here.map(|(_, fault)| fault))
    }

    /// Everything that is wrong, with the name of its input.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(input, fault)| (input.as_str(), fault.as_str()))
    }
}

/// What is wrong at these paths of a file, in one text; empty when nothing is.
pub(crate) fn at_paths(problems: &[Problem], paths: &[&str]) -> String {
    let here = problems.iter();
    let here = here.filter(|problem| paths.contains(&problem.path.as_str()));
    describe(here.map(|problem| &problem.fault))
}

/// What is wrong with a value, in one text.
pub(crate) fn describe(faults: impl IntoIterator<Item: ToString>) -> String {
    let words = faults.into_iter().map(|fault| fault.to_string());
    words.collect::<Vec<_>>().join("; ")
}
