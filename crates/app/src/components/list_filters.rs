//! The filters of a list, read out of an address.

use chrono::{DateTime, Utc};
use refract_domain::problem::Fault;

use super::field::FormField;
use super::form_faults::FormFaults;
use crate::requests::days::{NO_DAY, beginning, day};
use crate::requests::page_request::Query;

/// What the filters of a list select, with what is wrong with them.
pub(crate) struct ListFilters<F> {
    pub(crate) filter: F,
    /// The filters alone, without blank ones and without a page.
    pub(crate) query: Query,
    faults: FormFaults,
}

impl<F: Default + PartialEq> ListFilters<F> {
    /// Filters that select everything. `names` are those of the filters in an address, which are also
    /// the names of the form's inputs.
    pub(crate) fn unread(query: &Query, names: &[&str]) -> Self {
        let own = names.iter().fold(Query::default(), |own, name| {
            own.with(name, query.get(name))
        });
        Self {
            filter: F::default(),
            query: own,
            faults: FormFaults::default(),
        }
    }

    /// Reads the filter of a name; `fault` is what is wrong where it cannot be read.
    pub(crate) fn read_one<T>(
        &mut self,
        name: &str,
        fault: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.query.get(name)?);
        if found.is_none() {
            self.faults.note(name, fault);
        }
        found
    }

    /// Reads the filter of a name by rules that say themselves what is wrong.
    pub(crate) fn read_by_rules<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Vec<Fault>>,
    ) -> Option<T> {
        let read = read(self.query.get(name)?);
        self.faults.read(name, read)
    }

    /// Reads the period from the filters `from` and `to`: when it begins, and when it has ended. The
    /// last day belongs to it.
    pub(crate) fn read_period(&mut self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        let from = self.read_one("from", NO_DAY, day);
        let to = self.read_one("to", NO_DAY, day);
        if from.is_some_and(|from| to.is_some_and(|to| to < from)) {
            self.faults.note("to", "is before the first day");
        }
        let after = to.and_then(|to| to.succ_opt());
        (from.map(beginning), after.map(beginning))
    }

    /// Whether a filter could not be read.
    pub(crate) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// What is wrong with a filter; empty when nothing is.
    pub(crate) fn fault(&self, name: &str) -> String {
        self.faults.of(name)
    }

    /// Whether any filter is set.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.filter != F::default()
    }

    /// The input of a filter, with what was sent, also where that could not be read.
    pub(crate) fn field<'a>(&'a self, name: &'a str, label: &'a str) -> FormField<'a> {
        let value = self.query.get(name).unwrap_or_default();
        let field = FormField::new(name, label).value(value);
        field.fault(self.fault(name))
    }
}
