//! The statement that reads marked answers: a page near the end of the marks, which are of the newest
//! results, reads no more than an early one.

use refract_domain::key::QuestionKey;
use refract_domain::result::mark::MarkSource;
use refract_persistence::ResultFilter;
use tokio_postgres::Client;

use crate::counts::{CountStatement, sent};
use crate::fixture::Fixture;

/// Answers of a page.
const PAGE: u32 = 4_096;

/// Marks the newest 100,000 results of the prism in PostgreSQL, and returns the statement for a page of
/// the last 20,000.
pub(crate) async fn late_page(it: &Fixture, client: &Client) -> CountStatement {
    let prism = it.prism.id;
    let source = MarkSource::Import.name();
    let marking = format!(
        "INSERT INTO marks (result_id, question, prism_id, outcome, marked_at, source)
            SELECT id, 'topic', prism_id, 'a', created_at, '{source}' FROM results
            WHERE prism_id = '{prism}' ORDER BY id DESC LIMIT 100000;
        ANALYZE marks"
    );
    client.batch_execute(&marking).await.unwrap();
    let late = "SELECT result_id::text FROM marks ORDER BY result_id OFFSET 80000 LIMIT 1";
    let after: String = client.query_one(late, &[]).await.unwrap().get(0);
    let question = QuestionKey::parse("topic").unwrap();
    let all = ResultFilter::default();
    // the first page is read from the moment at which the pages are made
    let first = async {
        it.database
            .marked_answers(prism, all, &question)
            .next()
            .await
    };
    let (page, sql) = sent(first).await;
    assert!(page.is_some_and(|page| !page.is_empty()));
    // the program names the types of its values, and PREPARE does not
    let sql = sql.replace("(SELECT $2)", "(SELECT $2::uuid)");
    let quoted = |value: &dyn std::fmt::Display| format!("'{value}'");
    let values = vec![
        format!("'{{{prism}}}'"),
        quoted(&after),
        quoted(&prism),
        quoted(&"topic"),
        quoted(&after),
        quoted(&uuid::Uuid::max()),
        PAGE.to_string(),
    ];
    CountStatement {
        sql,
        values,
        // some are of another prism, and parallel workers read a little ahead
        at_most: 2 * u64::from(PAGE),
    }
}
