//! The filters of the results, read out of an address.

use refract_domain::ids::{ApiKeyId, PersonId};
use refract_domain::maker::Maker;
use refract_domain::prism::VersionNumber;
use refract_domain::reference::Ref;
use refract_service::results::{ColumnValue, ResultSearch, SearchableColumn};

use crate::components::field::in_words;
use crate::days::{NO_DAY, beginning, day};
use crate::sent::Query;

/// The names of the filters in an address, which are also the names of the form's inputs.
const NAMES: [&str; 7] = ["status", "version", "from", "to", "ref", "value", "by"];

/// What the filters select, with what is wrong with them.
pub(super) struct FilterValues {
    pub(super) search: ResultSearch,
    /// The filters alone, without blank ones and without a page.
    pub(super) query: Query,
    faults: Vec<(&'static str, String)>,
}

impl FilterValues {
    /// Reads the filters. `columns` are those that can be searched.
    pub(super) fn read(query: &Query, columns: &[SearchableColumn]) -> Self {
        let own = NAMES.iter().fold(Query::default(), |own, name| {
            own.with(name, query.get(name))
        });
        let mut values = Self {
            search: ResultSearch::default(),
            query: own,
            faults: Vec::new(),
        };
        values.read_status(query);
        values.read_period(query);
        let version = values.read_one(query, "version", "is no version", |text| {
            VersionNumber::new(text.parse().ok()?)
        });
        values.search.filter.version = version;
        let by = "is no key and no person: choose one of the list";
        values.search.filter.made_by = values.read_one(query, "by", by, maker);
        let value = "is no column of the lens with a value: choose one of the list";
        values.search.value =
            values.read_one(query, "value", value, |text| column_value(text, columns));
        if let Some(text) = query.get("ref") {
            match Ref::parse(text) {
                Ok(reference) => values.search.filter.reference = Some(reference),
                Err(faults) => values.faults.push(("ref", in_words(&faults))),
            }
        }
        values
    }

    fn read_one<T>(
        &mut self,
        query: &Query,
        name: &'static str,
        fault: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(query.get(name)?);
        if found.is_none() {
            self.faults.push((name, fault.to_owned()));
        }
        found
    }

    fn read_status(&mut self, query: &Query) {
        let filter = &mut self.search.filter;
        match query.get("status") {
            None => {}
            Some("ok") => filter.is_ok = Some(true),
            Some("failed") => filter.is_ok = Some(false),
            Some("unretried") => filter.is_retried = Some(false),
            Some(_) => {
                let words = "is no status: choose one of the list".to_owned();
                self.faults.push(("status", words));
            }
        }
    }

    fn read_period(&mut self, query: &Query) {
        let from = self.read_one(query, "from", NO_DAY, day);
        let to = self.read_one(query, "to", NO_DAY, day);
        if let (Some(from), Some(to)) = (from, to)
            && to < from
        {
            self.faults
                .push(("to", "is before the first day".to_owned()));
        }
        self.search.filter.since = from.map(beginning);
        // the last day belongs to the period
        self.search.filter.until = to.and_then(|to| to.succ_opt()).map(beginning);
    }

    /// Whether a filter could not be read.
    pub(super) fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// What is wrong with a filter; empty when nothing is.
    pub(super) fn fault(&self, name: &str) -> &str {
        let found = self.faults.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, words)| words)
    }

    /// Whether any filter is set.
    pub(super) fn is_narrowed(&self) -> bool {
        self.search != ResultSearch::default()
    }
}

/// Who is meant by `key:ID`, `person:ID` or `terminal`.
fn maker(text: &str) -> Option<Maker> {
    match text.split_once(':') {
        None => (text == "terminal").then_some(Maker::Terminal),
        Some(("key", id)) => ApiKeyId::parse(id).map(Maker::Key),
        Some(("person", id)) => PersonId::parse(id).map(Maker::Person),
        Some(_) => None,
    }
}

/// The column and the value of `COLUMN:VALUE`, where an empty value stands for none.
fn column_value(text: &str, columns: &[SearchableColumn]) -> Option<ColumnValue> {
    let (name, value) = text.rsplit_once(':')?;
    let column = columns.iter().find(|column| column.name.as_str() == name)?;
    Some(ColumnValue {
        column: column.name.clone(),
        value: value.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> FilterValues {
        FilterValues::read(&Query::parse(query), &[])
    }

    #[test]
    fn each_filter_is_read_and_blank_ones_are_none() {
        let values = read(
            "status=unretried&version=2&from=2026-05-04&to=2026-05-04&ref=a%3A1&by=terminal&older=x",
        );
        let filter = &values.search.filter;
        assert!(!values.has_faults());
        assert_eq!(filter.is_retried, Some(false));
        assert_eq!(filter.version.map(VersionNumber::get), Some(2));
        assert_eq!(
            filter.since.unwrap().to_rfc3339(),
            "2026-05-04T00:00:00+00:00"
        );
        assert_eq!(
            filter.until.unwrap().to_rfc3339(),
            "2026-05-05T00:00:00+00:00"
        );
        assert_eq!(filter.made_by, Some(Maker::Terminal));
        assert_eq!(values.query.get("older"), None);
        assert!(!read("status=&version=+&from=&to=&ref=&value=&by=").is_narrowed());
    }

    #[test]
    fn what_cannot_be_read_is_said_of_its_filter() {
        for (query, name) in [
            ("status=lost", "status"),
            ("version=0", "version"),
            ("version=two", "version"),
            ("from=yesterday", "from"),
            ("to=99999-01-01", "to"),
            ("from=2026-05-04&to=2026-05-03", "to"),
            ("by=key:1", "by"),
            ("by=nobody", "by"),
            ("value=angry:yes", "value"),
            ("value=angry", "value"),
            ("ref=%00", "ref"),
        ] {
            let values = read(query);
            assert!(!values.fault(name).is_empty(), "{query}");
        }
    }
}
