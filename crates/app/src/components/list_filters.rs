//! The filters of a list, parsed from an address.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::problem::ValidationError;

use super::field::FormField;
use super::form_errors::FormErrors;
use crate::requests::{Day, NO_DAY, Query};

/// The parsed filters of a list, with their validation errors.
pub(crate) struct ListFilters<F> {
    pub(crate) filter: F,
    /// The query of the filters, without blank values and without the parameters of the page.
    pub(crate) query: Query,
    errors: FormErrors,
}

impl<F: Default + PartialEq> ListFilters<F> {
    /// Filters that select everything. `names` are the query parameters of the filters, which are
    /// also the names of the form's inputs.
    pub(crate) fn unread(query: &Query, names: &[&str]) -> Self {
        let values = names
            .iter()
            .flat_map(|name| query.all(name).map(move |value| (name, value)));
        let own = values.fold(Query::default(), |own, (name, value)| own.and(name, value));
        Self {
            filter: F::default(),
            query: own,
            errors: FormErrors::default(),
        }
    }

    /// Parses the filter `name`; a value that cannot be parsed gets the validation error `error`.
    pub(crate) fn read_one<T>(
        &mut self,
        name: &str,
        error: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.query.get(name)?);
        if found.is_none() {
            self.errors.note(name, error);
        }
        found
    }

    /// Parses every value of the filter `name`; a value that cannot be parsed gets the validation
    /// error `error`.
    pub(crate) fn read_all<T>(
        &mut self,
        name: &str,
        error: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let values: Vec<_> = self.query.all(name).map(read).collect();
        if values.iter().any(Option::is_none) {
            self.errors.note(name, error);
        }
        values.into_iter().flatten().collect()
    }

    /// Parses the filter `name` with a parser that returns its own validation errors.
    pub(crate) fn read_by_rules<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Vec<ValidationError>>,
    ) -> Option<T> {
        let value = self.query.get(name)?;
        self.errors.read(name, value, read(value))
    }

    /// Parses the period from the filters `from` and `to` as its start and exclusive end. The day
    /// in `to` is part of the period.
    pub(crate) fn read_period(&mut self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        let from = self.read_one("from", NO_DAY, Day::parse);
        let to = self.read_one("to", NO_DAY, Day::parse);
        if from.is_some_and(|from| to.is_some_and(|to| to.date < from.date)) {
            self.errors.note("to", "is before the first day");
        }
        (from.map(Day::begin), to.map(Day::end))
    }

    /// Whether any filter is invalid.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The validation error of a filter; empty for none.
    pub(crate) fn error(&self, name: &str) -> String {
        self.errors.of(name)
    }

    /// Whether any filter is set.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.filter != F::default()
    }

    /// The inputs of the period. Scripts make its days the reader's.
    pub(crate) fn period(&self) -> Markup {
        html! {
            (self.day("from", "From (UTC)"))
            (self.day("to", "To (UTC)"))
        }
    }

    fn day(&self, name: &str, label: &str) -> Markup {
        let field = self.field(name, label);
        let date = Day::parse(field.value).map(|day| day.date.to_string());
        let value = date.as_deref().unwrap_or(field.value);
        field.clone().value(value).line("date", "off")
    }

    /// The input of a filter with the value that was sent, valid or not.
    pub(crate) fn field<'a>(&'a self, name: &'a str, label: &'a str) -> FormField<'a> {
        let value = self.query.get(name).unwrap_or_default();
        let field = FormField::new(name, label).value(value);
        field.error(self.error(name))
    }
}
