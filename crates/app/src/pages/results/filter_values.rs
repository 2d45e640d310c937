//! The filters of the results, parsed from an address.

use refract_domain::ids::{ApiKeyId, PersonId};
use refract_domain::result::actor::ResultActor;
use refract_domain::submission::reference::Ref;
use refract_service::results::{ColumnValue, ResultSearch, SearchableColumn};

use crate::components::list_filters::ListFilters;
use crate::requests::page_request::Query;
use crate::requests::visit::version_number;

/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 7] = ["status", "version", "from", "to", "ref", "value", "by"];

/// The parsed filters of the results, with their validation errors.
pub(super) type FilterValues = ListFilters<ResultSearch>;

impl FilterValues {
    /// Parses the filters of the results. `columns` are the searchable ones.
    pub(super) fn read(query: &Query, columns: &[SearchableColumn]) -> Self {
        let mut read = Self::unread(query, &NAMES);
        let mut search = ResultSearch::default();
        let filter = &mut search.filter;
        let status = "is no status: choose one of the list";
        let status = read.read_one("status", status, status_flags);
        (filter.is_ok, filter.is_retried) = status.unwrap_or_default();
        (filter.since, filter.until) = read.read_period();
        filter.version = read.read_one("version", "is no version", version_number);
        let by = "is no key and no person: choose one of the list";
        filter.actor = read.read_one("by", by, actor);
        filter.reference = read.read_by_rules("ref", Ref::parse);
        let value = "is no column of the lens with a value: choose one of the list";
        let value = read.read_one("value", value, |text| column_value(text, columns));
        search.values = value.into_iter().collect();
        read.filter = search;
        read
    }
}

/// The two flags of a status filter: whether results are `ok`, and whether they were retried.
fn status_flags(text: &str) -> Option<(Option<bool>, Option<bool>)> {
    match text {
        "ok" => Some((Some(true), None)),
        "failed" => Some((Some(false), None)),
        "unretried" => Some((None, Some(false))),
        _ => None,
    }
}

/// Parses an actor: `key:ID`, `person:ID` or `terminal`.
fn actor(text: &str) -> Option<ResultActor> {
    match text.split_once(':') {
        None => (text == "terminal").then_some(ResultActor::Operator),
        Some(("key", id)) => ApiKeyId::parse(id).map(ResultActor::Key),
        Some(("person", id)) => PersonId::parse(id).map(ResultActor::Person),
        Some(_) => None,
    }
}

/// Parses `COLUMN:VALUE`; an empty `VALUE` selects rows without a value.
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
    use refract_domain::prism::VersionNumber;

    use super::*;

    fn read(query: &str) -> FilterValues {
        FilterValues::read(&Query::parse(query), &[])
    }

    #[test]
    fn each_filter_is_read_and_blank_ones_are_none() {
        let values = read(
            "status=unretried&version=2&from=2026-05-04&to=2026-05-04&ref=a%3A1&by=terminal&older=x",
        );
        let filter = &values.filter.filter;
        assert!(!values.has_errors());
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
        assert_eq!(filter.actor, Some(ResultActor::Operator));
        assert_eq!(values.query.get("older"), None);
        assert!(!read("status=&version=+&from=&to=&ref=&value=&by=").is_narrowed());
    }

    #[test]
    fn what_cannot_be_read_is_reported_at_its_filter() {
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
            assert!(!values.error(name).is_empty(), "{query}");
        }
    }
}
