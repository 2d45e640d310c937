//! The searches whose plans are checked.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{ApiKeyId, FileRunId, PersonId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultActor;
use refract_domain::submission::Ref;
use refract_persistence::ResultFilter;
use uuid::Uuid;

use crate::filling::{APART, FIRST, ONE_IN, RESULTS, rare_id};
use crate::fixture::Fixture;

/// A search and the plan that it must have.
pub(crate) struct Search {
    pub(crate) name: String,
    pub(crate) filter: ResultFilter,
    /// The index.
    pub(crate) index: &'static str,
    /// The columns of the index that the search fixes, as SQLite prints them.
    pub(crate) fixed: &'static str,
    /// The value of the filter; `None` where the statement has it in its text.
    pub(crate) bound: Option<String>,
    /// Number of results on a page of 50.
    pub(crate) found: usize,
}

const BY_PRISM: (&str, &str) = ("results_prism_id_id", "prism_id=?");
const BY_VERSION: (&str, &str) = (
    "results_version_prism_id_id",
    "(version,prism_id,id)>(?,?,?)",
);
const BY_REF: (&str, &str) = (
    "results_reference_prism_id_id",
    "reference=? AND prism_id=?",
);
const BY_KEY: (&str, &str) = (
    "results_api_key_id_prism_id_id",
    "api_key_id=? AND prism_id=?",
);
const BY_PERSON: (&str, &str) = ("results_made_by_prism_id_id", "made_by=? AND prism_id=?");
const BY_RUN: (&str, &str) = (
    "results_file_run_id_prism_id_id",
    "file_run_id=? AND prism_id=?",
);
const OF_TERMINAL: (&str, &str) = ("results_prism_id_id_of_terminal", "prism_id=?");
const FAILED: (&str, &str) = ("results_prism_id_id_failed", "prism_id=?");

/// Each filter alone and within a period.
pub(crate) fn searches(it: &Fixture) -> Vec<Search> {
    let few = RESULTS / ONE_IN;
    let version = |number: i32| ResultFilter {
        version: VersionNumber::new(number),
        ..ResultFilter::default()
    };
    let reference = |text: &str| ResultFilter {
        reference: Some(Ref::saved(text.to_owned())),
        ..ResultFilter::default()
    };
    let actor = |actor| ResultFilter {
        actor: Some(actor),
        ..ResultFilter::default()
    };
    let run = |byte| ResultFilter {
        run: Some(FileRunId::new(Uuid::parse_str(&rare_id(byte)).unwrap())),
        ..ResultFilter::default()
    };
    let failed = ResultFilter {
        is_ok: Some(false),
        ..ResultFilter::default()
    };
    let text = |text: &str| Some(text.to_owned());
    let uuid = |id: Uuid| Some(id.to_string());
    let rare = |byte| Uuid::parse_str(&rare_id(byte)).unwrap();
    let key = |id| actor(ResultActor::Key(ApiKeyId::new(id)));
    let person = |id| actor(ResultActor::Person(PersonId::new(id)));
    let own_key = it.key.id.uuid();
    let number = |number: i32| Some(number.to_string());
    let alone = [
        ("all", ResultFilter::default(), BY_PRISM, None, 50),
        ("a common version", version(1), BY_VERSION, number(1), 50),
        ("a rare version", version(3), BY_VERSION, number(3), few),
        ("an unused version", version(4), BY_VERSION, number(4), 0),
        (
            "a common ref",
            reference("common"),
            BY_REF,
            text("common"),
            50,
        ),
        ("a rare ref", reference("rare"), BY_REF, text("rare"), few),
        ("one ref", reference("order 4"), BY_REF, text("order 4"), 1),
        ("an unused ref", reference("none"), BY_REF, text("none"), 0),
        ("a common key", key(own_key), BY_KEY, uuid(own_key), 50),
        ("a rare key", key(rare(1)), BY_KEY, uuid(rare(1)), few),
        ("an unused key", key(rare(9)), BY_KEY, uuid(rare(9)), 0),
        ("a person", person(rare(2)), BY_PERSON, uuid(rare(2)), few),
        (
            "an idle person",
            person(rare(9)),
            BY_PERSON,
            uuid(rare(9)),
            0,
        ),
        (
            "the terminal",
            actor(ResultActor::Operator),
            OF_TERMINAL,
            None,
            few,
        ),
        ("a file run", run(3), BY_RUN, uuid(rare(3)), few),
        ("another file run", run(9), BY_RUN, uuid(rare(9)), 0),
        ("failed ones", failed, FAILED, None, 50),
    ];
    let alone = alone.map(|(name, filter, (index, fixed), bound, found)| Search {
        name: name.to_owned(),
        filter,
        index,
        fixed,
        bound,
        found,
    });
    let within = alone
        .iter()
        .flat_map(|it| [within_a_period(it), within_four_days(it)]);
    let within: Vec<_> = within.collect();
    alone.into_iter().chain(within).collect()
}

/// A search within four and a half days in the middle, in which each of the few is found three
/// times.
fn within_four_days(search: &Search) -> Search {
    let few = RESULTS / ONE_IN;
    Search {
        name: format!("{} of four days", search.name),
        filter: ResultFilter {
            since: Some(moment(FIRST + 301_000 * APART)),
            until: Some(moment(FIRST + 451_000 * APART)),
            ..search.filter.clone()
        },
        bound: search.bound.clone(),
        found: match search.found {
            1 => 0,
            found if found == few => 3,
            found => found,
        },
        ..*search
    }
}

fn moment(milliseconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(milliseconds).unwrap()
}

/// A search within a period that has all results except those of the first and the last two days.
fn within_a_period(search: &Search) -> Search {
    let last = FIRST + APART * i64::try_from(RESULTS).unwrap();
    let days = TimeDelta::days(2);
    let few = RESULTS / ONE_IN;
    Search {
        name: format!("{} of a period", search.name),
        filter: ResultFilter {
            since: Some(moment(FIRST) + days),
            until: Some(moment(last) - days),
            ..search.filter.clone()
        },
        bound: search.bound.clone(),
        found: match search.found {
            1 => 0,
            // one for each 36 hours: two in the first two days, one in the last two
            found if found == few => few - 3,
            found => found,
        },
        ..*search
    }
}
