//! Which marks are measured, parsed from an address.

use refract_domain::result::mark::source::MarksFrom;
use refract_service::results::ResultFilter;

use crate::components::list_filters::ListFilters;
use crate::requests::page_request::Query;
use crate::requests::visit::version_number;

/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 6] = ["question", "marks", "version", "model", "from", "to"];

/// Which marks are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MeasuredMarks {
    /// Which marks of these results count.
    pub(super) from: MarksFrom,
    /// The results whose marks count.
    pub(super) results: ResultFilter,
}

/// The parsed filters of the marks, with their validation errors.
pub(super) type QualityFilters = ListFilters<MeasuredMarks>;

impl QualityFilters {
    /// Parses the filters of an address.
    pub(super) fn read(query: &Query) -> Self {
        let mut read = Self::unread(query, &NAMES);
        let mut marks = MeasuredMarks::default();
        let filter = &mut marks.results;
        (filter.since, filter.until) = read.read_period();
        filter.version = read.read_one("version", "is no version", version_number);
        filter.model = read.query.get("model").map(ToOwned::to_owned);
        let from = "is no choice of marks: choose one of the list";
        let from = read.read_one("marks", from, MarksFrom::named);
        marks.from = from.unwrap_or_default();
        read.filter = marks;
        read
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::prism::VersionNumber;

    use super::*;

    #[test]
    fn each_filter_is_read() {
        let query = "question=angry&version=2&model=m&from=2026-05-04&to=2026-05-04&goal=recall";
        let read = QualityFilters::read(&Query::parse(query));
        let filter = &read.filter.results;
        assert!(!read.has_errors() && read.is_narrowed());
        assert_eq!(filter.version.map(VersionNumber::get), Some(2));
        assert_eq!(filter.model.as_deref(), Some("m"));
        assert!(filter.since < filter.until);
        assert_eq!(read.query.get("goal"), None);
        let all = QualityFilters::read(&Query::parse("question=angry&version=&model="));
        assert!(!all.is_narrowed());
        let all = QualityFilters::read(&Query::parse("marks=all"));
        assert_eq!(all.filter.from, MarksFrom::All);
        for name in ["version", "marks"] {
            let wrong = QualityFilters::read(&Query::parse(&format!("{name}=0")));
            assert!(!wrong.error(name).is_empty());
        }
    }
}
