//! The statements that count the results since the last read: among a million results they read
//! only those of that hour.

use chrono::{DateTime, TimeDelta};
use diesel::{RunQueryDsl as _, SqliteConnection, sql_query};
use refract_domain::ids::{PrismId, ResultId};
use refract_persistence::{CountProgress, PersistenceError};
use tokio_postgres::Client;

use crate::SENT;
use crate::filling::{APART, FIRST, RESULTS};
use crate::fixture::Fixture;
use crate::plans::Step;

/// Results of the last hour of the million.
const OF_THE_HOUR: u64 = 1_389;
/// The index that finds the results of a prism from an id on.
const INDEX: &str = "results_prism_id_id";

/// A statement of reading the counts, with its values as PostgreSQL writes them.
pub(crate) struct CountStatement {
    pub(crate) sql: String,
    pub(crate) values: Vec<String>,
    /// Results that the statement may read.
    pub(crate) at_most: u64,
}

/// Reads the counts of two prisms whose watermarks are an hour before the newest result.
pub(crate) async fn look(it: &Fixture, prisms: [PrismId; 2]) -> Vec<CountStatement> {
    let last = FIRST + APART * i64::try_from(RESULTS).unwrap();
    let last = DateTime::from_timestamp_millis(last).unwrap();
    let mark = ResultId::first_of(last - TimeDelta::hours(1)).just_before();
    for prism in prisms {
        let counting = it.database.count_next_results(prism, mark, u32::MAX);
        assert_eq!(counting.await.unwrap(), CountProgress::Done);
    }
    let quoted = |id: &dyn std::fmt::Display| format!("'{id}'");
    let (open, sql) = sent(it.database.list_first_uncounted(it.account)).await;
    assert_eq!(open.len(), 2);
    let values = vec![quoted(&ResultId::LOWEST), quoted(&it.account)];
    let mut statements = vec![CountStatement {
        sql,
        values,
        // the plan has the subquery twice, for two prisms each
        at_most: 4,
    }];
    let mut counted = 0;
    for prism in prisms {
        let (first, sql) = sent(it.database.find_first_result(prism, mark)).await;
        assert!(first.is_some());
        let only = format!("'{{{prism}}}'");
        let values = vec![only, quoted(&mark), "1".to_owned()];
        statements.push(CountStatement {
            sql,
            values,
            at_most: 1,
        });
        let end = ResultId::HIGHEST;
        let (counts, sql) = sent(it.database.count_results_by_key(prism, mark, end)).await;
        let counts = counts.into_iter();
        counted += counts.map(|count| count.ok + count.failed).sum::<u64>();
        let values = vec![quoted(&prism), quoted(&mark), quoted(&end)];
        statements.push(CountStatement {
            sql,
            values,
            at_most: OF_THE_HOUR,
        });
    }
    assert_eq!(counted, OF_THE_HOUR);
    statements
}

/// The result of a query, with its statement.
pub(crate) async fn sent<T>(
    query: impl Future<Output = Result<T, PersistenceError>>,
) -> (T, String) {
    SENT.lock().unwrap().clear();
    let found = query.await.unwrap();
    let sent = std::mem::take(&mut *SENT.lock().unwrap());
    let statement = sent.into_iter().find(|sql| sql.contains("SELECT"));
    (found, statement.unwrap())
}

/// Fails if a plan of PostgreSQL, made in one of these modes, reads other results.
pub(crate) async fn check_postgres(client: &Client, statement: &CountStatement, modes: &[&str]) {
    let CountStatement {
        sql,
        values,
        at_most,
    } = statement;
    for mode in modes {
        let prepare = format!("SET plan_cache_mode = {mode}; PREPARE q AS {sql}");
        client.batch_execute(&prepare).await.unwrap();
        let explain = format!(
            "EXPLAIN (ANALYZE, TIMING OFF) EXECUTE q({})",
            values.join(", ")
        );
        let rows = client.query(&explain, &[]).await.unwrap();
        client.batch_execute("DEALLOCATE q").await.unwrap();
        let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = lines.join("\n");
        let read = lines.iter().map(|line| results_read(line)).sum::<u64>();
        assert!(plan.contains("Index Cond: "), "{mode}: {sql}\n{plan}");
        assert!(read <= *at_most, "{read} results, {mode}: {sql}\n{plan}");
    }
}

/// The number of results read, as a line of a PostgreSQL plan reports it.
fn results_read(line: &str) -> u64 {
    let number = |text: &str, label: &str| -> Option<u64> {
        let (_, after) = text.split_once(label)?;
        let end = after.find(|c: char| !c.is_ascii_digit());
        after.get(..end.unwrap_or(after.len()))?.parse().ok()
    };
    if let Some(removed) = number(line, "Rows Removed by Filter: ") {
        return removed;
    }
    let rows = line.contains(" on results").then(|| {
        let (_, actual) = line.split_once("(actual ")?;
        Some(number(actual, "rows=")? * number(actual, "loops=")?)
    });
    rows.flatten().unwrap_or_default()
}

/// Fails if SQLite's plan reads other results.
pub(crate) fn check_sqlite(connection: &mut SqliteConnection, statement: &CountStatement) {
    let sql = &statement.sql;
    let explain = sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<Step> = explain.load(connection).unwrap();
    let plan: Vec<_> = steps.iter().map(|step| step.detail.as_str()).collect();
    let plan = plan.join("\n");
    let ranges = ["(prism_id=? AND id>?", "((prism_id,id)>(?,?))"];
    let is_range = |range: &&str| plan.contains(&format!("INDEX {INDEX} {range}"));
    assert!(ranges.iter().any(is_range), "{sql}\n{plan}");
    assert!(!plan.contains("SCAN results"), "{sql}\n{plan}");
}
