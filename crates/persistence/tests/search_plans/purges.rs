//! The statements that find results to purge: among a million results each batch reads only its
//! own.

use chrono::{DateTime, TimeDelta};
use diesel::{RunQueryDsl as _, SqliteConnection, sql_query};
use refract_domain::ids::PrismId;
use refract_persistence::PurgeRange;

use crate::counts::{CountStatement, sent};
use crate::filling::FIRST;
use crate::fixture::Fixture;
use crate::plans::Step;

/// Results of a batch.
const BATCH: u32 = 100;

/// Batches of purges of the first days: the first one, one in the middle, and the one that finds no
/// more. One hundredth of the results failed.
pub(crate) async fn batches(it: &Fixture, prisms: [PrismId; 2]) -> Vec<CountStatement> {
    let first = DateTime::from_timestamp_millis(FIRST).unwrap();
    let mut statements = Vec::new();
    let [searched, other] = prisms;
    for prism in [searched, other] {
        for (days, since, found) in [(3, 0, BATCH), (3, 2, BATCH), (3, 3, 0), (0, 0, 0)] {
            for is_ok in [None, Some(true), Some(false)] {
                if is_ok == Some(false) && prism == other {
                    // none of the other prism's results failed
                    continue;
                }
                let since = first + TimeDelta::days(since);
                let range = PurgeRange {
                    prism,
                    before: first + TimeDelta::days(days),
                    is_ok,
                };
                let listing = it.database.list_purgeable_results(&range, since, BATCH);
                let (listed, sql) = sent(listing).await;
                assert_eq!(listed.len(), usize::try_from(found).unwrap());
                let quoted = |moment: DateTime<_>| format!("'{}'", moment.to_rfc3339());
                let values = vec![
                    format!("'{prism}'"),
                    quoted(since),
                    quoted(range.before),
                    BATCH.to_string(),
                ];
                statements.push(CountStatement {
                    sql,
                    values,
                    // failed results are found by age among all others, or among all failed ones,
                    // whose positions PostgreSQL's plan lists before the rows
                    at_most: u64::from(found) * if is_ok == Some(false) { 200 } else { 2 },
                });
            }
        }
    }
    statements
}

/// Fails if SQLite's plan reads other results, or sorts.
pub(crate) fn check_sqlite(connection: &mut SqliteConnection, statement: &CountStatement) {
    let sql = &statement.sql;
    let explain = sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<Step> = explain.load(connection).unwrap();
    let plan: Vec<_> = steps.iter().map(|step| step.detail.as_str()).collect();
    let plan = plan.join("\n");
    let range = "INDEX results_prism_id_age (prism_id=? AND <expr>>? AND <expr><?)";
    assert!(plan.contains(range), "{sql}\n{plan}");
    for costly in ["SCAN", "TEMP B-TREE"] {
        assert!(!plan.contains(costly), "{sql}\n{plan}");
    }
}
