//! The filters of the results, parsed from an address.

use chrono::{Datelike as _, Days, NaiveDate, Utc};
use refract_domain::ids::{ApiKeyId, FileRunId, PersonId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;
use refract_service::lenses::PrismLens;
use refract_service::results::{
    AnsweredOutcome, ColumnValue, MarkCondition, ResultSearch, SearchLimits, SearchableColumn,
    TextWords,
};

use crate::components::ListFilters;
use crate::requests::{Query, version_number};

/// The query parameters of the filters, which are also the names of the form's inputs.
const NAMES: [&str; 13] = [
    "words", "value", "answer", "status", "version", "period", "from", "to", "ref", "by", "marks",
    RUN, ORDER,
];
/// The query parameter of the file run whose results are listed.
pub(super) const RUN: &str = "run";
/// The query parameter of the order.
pub(super) const ORDER: &str = "order";
const LEAST_SURE: &str = "least_sure";
/// The newest results among which the least sure ones are looked for.
const LEAST_SURE_AMONG: u32 = 50_000;

/// The parsed filters of the results, with their validation errors.
pub(crate) type FilterValues = ListFilters<ResultSearch>;

/// A period that a button sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuickPeriod {
    Today,
    ThisWeek,
    Last7Days,
    Last30Days,
    AllTime,
}

impl QuickPeriod {
    pub(super) const ALL: [Self; 5] = [
        Self::Today,
        Self::ThisWeek,
        Self::Last7Days,
        Self::Last30Days,
        Self::AllTime,
    ];

    /// The value in the address, and the label.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Today => ("today", "Today"),
            Self::ThisWeek => ("week", "This week"),
            Self::Last7Days => ("7days", "Last 7 days"),
            Self::Last30Days => ("30days", "Last 30 days"),
            Self::AllTime => ("all", "All time"),
        }
    }

    /// The first day of the period.
    pub(super) fn begin(self, today: NaiveDate) -> Option<NaiveDate> {
        let days = match self {
            Self::Today => 0,
            Self::ThisWeek => u64::from(today.weekday().num_days_from_monday()),
            Self::Last7Days => 6,
            Self::Last30Days => 29,
            Self::AllTime => return None,
        };
        today.checked_sub_days(Days::new(days))
    }

    /// The query with the days of the period that its button sent.
    fn apply(query: &Query, today: NaiveDate) -> Query {
        let pressed = query.get("period");
        let mut periods = Self::ALL.into_iter();
        let Some(period) = periods.find(|period| pressed == Some(period.names().0)) else {
            return query.with("period", None);
        };
        let from = period.begin(today).map(|day| day.to_string());
        let query = query.with("period", None).with("to", None);
        query.with("from", from.as_deref())
    }
}

impl FilterValues {
    /// Parses the filters of the results. `columns` are the searchable ones of the lens.
    pub(crate) fn read(query: &Query, lens: &PrismLens, columns: &[SearchableColumn]) -> Self {
        let asks = |question: &QuestionKey| lens.latest.question(question).is_some();
        Self::read_for(query, columns, asks)
    }

    fn read_for(
        query: &Query,
        columns: &[SearchableColumn],
        asks: impl Fn(&QuestionKey) -> bool,
    ) -> Self {
        let query = QuickPeriod::apply(query, Utc::now().date_naive());
        let mut read = Self::unread(&query, &NAMES);
        let mut search = ResultSearch::default();
        let filter = &mut search.filter;
        let status = "This is no status: choose one of the list";
        let status = read.read_one("status", status, status_flags);
        (filter.is_ok, filter.is_retried) = status.unwrap_or_default();
        (filter.since, filter.until) = read.read_period();
        filter.version = read.read_one("version", "This is no version", version_number);
        let by = "This is no key and no person: choose one of the list";
        filter.actor = read.read_one("by", by, actor);
        filter.run = read.read_one(RUN, "This is no file run", FileRunId::parse);
        filter.reference = read.read_by_rules("ref", Ref::parse);
        let value = "The lens has no such column: choose a value of the list";
        search.values = read.read_all("value", value, |text| column_value(text, columns));
        let answer = "The prism asks no such question";
        let answered = |text: &str| {
            let (question, outcome) = question_and_outcome(text)?;
            let outcome = outcome.to_owned();
            asks(&question).then_some(AnsweredOutcome { question, outcome })
        };
        search.answers = read.read_all("answer", answer, answered);
        let words = "At most 10 words and 200 characters";
        search.words = read.read_one("words", words, TextWords::parse);
        let marks = "This is nothing that marks can be: choose one of the list";
        search.marks = read.read_one("marks", marks, mark_condition);
        read.filter = search;
        read
    }

    /// Whether the least sure results come first.
    pub(crate) fn is_least_sure_first(&self) -> bool {
        self.query.get(ORDER) == Some(LEAST_SURE)
    }

    /// The orders with their labels, the newest first by default.
    pub(super) const ORDERS: [(&str, &str); 2] =
        [("", "newest first"), (LEAST_SURE, "least sure first")];

    /// How far a page of the list looks.
    pub(crate) fn limits(&self) -> SearchLimits {
        let limits = SearchLimits::default();
        if self.is_least_sure_first() {
            return SearchLimits {
                candidates: LEAST_SURE_AMONG,
                ..limits
            };
        }
        if self.filter.words.is_some() {
            return SearchLimits::OF_WORDS;
        }
        // how many results a prism has in all is known
        let counted = if self.is_narrowed() {
            limits.counted
        } else {
            0
        };
        SearchLimits { counted, ..limits }
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

/// Parses `QUESTION:OUTCOME`.
fn question_and_outcome(text: &str) -> Option<(QuestionKey, &str)> {
    let (question, outcome) = text.rsplit_once(':')?;
    Some((QuestionKey::parse(question).ok()?, outcome))
}

/// Before the person of a filter on who marked.
pub(crate) const MARKED_BY: &str = "by:";

/// Parses `any`, `none`, `by:PERSON` or the marked `QUESTION:OUTCOME`.
fn mark_condition(text: &str) -> Option<MarkCondition> {
    match text {
        "any" => Some(MarkCondition::Marked),
        "none" => Some(MarkCondition::Unmarked),
        _ => {
            // no outcome's key has a hyphen
            if let Some(person) = text.strip_prefix(MARKED_BY).and_then(PersonId::parse) {
                return Some(MarkCondition::By(person));
            }
            let (question, outcome) = question_and_outcome(text)?;
            let outcome = OutcomeKey::parse(outcome).ok()?;
            Some(MarkCondition::Outcome(question, outcome))
        }
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::prism::VersionNumber;

    use super::*;

    fn read(query: &str) -> FilterValues {
        FilterValues::read_for(&Query::parse(query), &[], |key| key.as_str() == "angry")
    }

    #[test]
    fn each_filter_is_read_and_blank_ones_are_none() {
        let values = read(
            "status=unretried&version=2&from=2026-05-04&to=2026-05-04&ref=a%3A1&by=terminal\
             &words=late+order&answer=angry:yes&answer=angry:&marks=angry:no&older=x",
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
        assert_eq!(values.filter.answers.len(), 2);
        assert_eq!(values.filter.words, TextWords::parse("late order"));
        assert!(matches!(
            values.filter.marks,
            Some(MarkCondition::Outcome(..))
        ));
        assert_eq!(values.query.get("older"), None);
        assert!(!read("status=&version=+&from=&to=&ref=&value=&by=&words=").is_narrowed());
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
            ("answer=topic:other", "answer"),
            ("marks=some", "marks"),
            ("words=1+2+3+4+5+6+7+8+9+10+11", "words"),
            ("ref=%00", "ref"),
        ] {
            let values = read(query);
            assert!(!values.error(name).is_empty(), "{query}");
        }
    }

    #[test]
    fn a_quick_period_keeps_the_other_filters() {
        let values = read("period=7days&to=2020-01-01&status=failed&words=a");
        let today = Utc::now().date_naive();
        let begin = QuickPeriod::Last7Days.begin(today).unwrap();
        assert_eq!(values.query.get("from"), Some(&*begin.to_string()));
        assert_eq!(values.query.get("to"), None);
        assert_eq!(values.query.get("status"), Some("failed"));
        let values = read("period=all&from=2020-01-01&status=failed");
        assert_eq!(values.query.in_address(), "?status=failed");
        let monday: NaiveDate = "2026-11-23".parse().unwrap();
        assert_eq!(QuickPeriod::ThisWeek.begin(monday), Some(monday));
    }
}
