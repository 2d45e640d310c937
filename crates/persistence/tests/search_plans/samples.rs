//! The statement that draws a random sample: among a million results it reads only those that it
//! returns, in the order of their index.

use diesel::{RunQueryDsl as _, SqliteConnection, sql_query};
use refract_domain::ids::PrismId;

use crate::counts::{CountStatement, sent};
use crate::fixture::Fixture;
use crate::plans::Step;

/// Results of a page of the sample.
const PAGE: u32 = 200;

/// The first page of the sample, and the next one.
pub(crate) async fn pages(it: &Fixture, prism: PrismId) -> Vec<CountStatement> {
    let mut statements = Vec::new();
    let mut last = None;
    for _ in 0..2 {
        let listing = it.database.list_sample(it.account, prism, last, PAGE);
        let (page, sql) = sent(listing).await;
        assert_eq!(page.len(), 200);
        let mut values = vec![format!("'{}'", it.account), format!("'{{{prism}}}'")];
        values.extend(last.map(|id| format!(r"'\x{:08x}'::bytea", id.random_bits())));
        values.push(PAGE.to_string());
        statements.push(CountStatement {
            sql,
            values,
            at_most: PAGE.into(),
        });
        last = page.last().map(|candidate| candidate.id);
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
    assert!(
        plan.contains("USING INDEX results_sample (prism_id=?"),
        "{sql}\n{plan}"
    );
    for costly in ["SCAN", "TEMP B-TREE"] {
        assert!(!plan.contains(costly), "{sql}\n{plan}");
    }
}
