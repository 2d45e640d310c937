//! The plans of the statements: the index, no sorting, and few rows besides those that are found.

use diesel::sql_types::Text;
use diesel::{QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use tokio_postgres::Client;

use crate::fixture::Fixture;
use crate::searches::Search;

/// Results that a page within a period may skip: those of the five minutes after its end, or before
/// its beginning, in which the moments of ids and of saving may differ.
const AROUND_THE_END: usize = 120;

/// One step of an SQLite plan.
#[derive(QueryableByName)]
pub(crate) struct Step {
    #[diesel(sql_type = Text)]
    pub(crate) detail: String,
}

/// Runs a statement with the values of a search, and fails if its plan uses another index, sorts,
/// or reads much that it does not return.
pub(crate) async fn check_postgres(
    client: &Client,
    it: &Fixture,
    search: &Search,
    sql: &str,
    limit: u32,
) {
    let (first, end) = (uuid::Uuid::nil(), uuid::Uuid::max());
    let mut values = vec![
        format!("'{}'", it.account),
        format!("'{first}'"),
        format!("'{end}'"),
    ];
    let period = [search.filter.since, search.filter.until].into_iter();
    let period = period
        .flatten()
        .map(|moment| format!("'{}'", moment.to_rfc3339()));
    if let (Some(since), Some(until)) = (search.filter.since, search.filter.until) {
        let around = |id: &mut String, moment| *id = format!("'{moment}'");
        let margin = chrono::TimeDelta::minutes(5);
        around(
            &mut values[1],
            refract_domain::ids::ResultId::first_of(since - margin),
        );
        around(
            &mut values[2],
            refract_domain::ids::ResultId::first_of(until + margin),
        );
    }
    // the statement has the period before the ids
    values.splice(1..1, period);
    let prism = it.prism.id;
    match &search.bound {
        Some(bound) => values.extend([format!("'{prism}'"), format!("'{{{bound}}}'")]),
        None => values.push(format!("'{{{prism}}}'")),
    }
    values.push(limit.to_string());
    let name = &search.name;
    let run = format!("PREPARE q AS {sql}");
    client.batch_execute(&run).await.unwrap();
    client
        .batch_execute("SET plan_cache_mode = force_custom_plan")
        .await
        .unwrap();
    let explain = format!(
        "EXPLAIN (ANALYZE, TIMING OFF) EXECUTE q({})",
        values.join(", ")
    );
    let rows = client.query(&explain, &[]).await.unwrap();
    client.batch_execute("DEALLOCATE q").await.unwrap();
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let plan = lines.join("\n");
    let index = search.index;
    let of_index = ["", " Backward"].map(|way| format!("Index Scan{way} using {index} on results"));
    assert!(
        of_index.iter().any(|scan| plan.contains(scan)),
        "{name}: {sql}\n{plan}"
    );
    for costly in ["Seq Scan", "Sort", "Bitmap"] {
        assert!(!plan.contains(costly), "{name}: {sql}\n{plan}");
    }
    let removed = lines.iter().filter_map(|line| {
        let removed = line.trim().strip_prefix("Rows Removed by Filter: ")?;
        removed.parse::<usize>().ok()
    });
    let removed: usize = removed.sum();
    let passed = search.filter.until.map_or(0, |_| AROUND_THE_END);
    assert!(removed <= passed, "{name}: {sql}\n{plan}");
}

/// Fails if the plan of a statement uses another index than the search's, or sorts.
pub(crate) fn check_sqlite(connection: &mut SqliteConnection, search: &Search, sql: &str) {
    let explain = sql_query(format!("EXPLAIN QUERY PLAN {sql}"));
    let steps: Vec<Step> = explain.load(connection).unwrap();
    let plan: Vec<_> = steps.iter().map(|step| step.detail.as_str()).collect();
    let plan = plan.join("\n");
    let Search {
        name, index, fixed, ..
    } = search;
    let ids = match *fixed {
        "(version,prism_id,id)>(?,?,?)" => "(version,prism_id,id)<(?,?,?)",
        _ => "id>? AND id<?",
    };
    let expected = format!("SEARCH results USING INDEX {index} ({fixed} AND {ids})");
    assert!(plan.contains(&expected), "{name}: {sql}\n{plan}");
    for costly in ["SCAN", "TEMP B-TREE"] {
        assert!(!plan.contains(costly), "{name}: {sql}\n{plan}");
    }
}
