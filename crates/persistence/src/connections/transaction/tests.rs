use diesel::sql_query;
use diesel::sql_types::BigInt;
use refract_test_support::backend::Backend;
use refract_test_support::on_both;
use refract_test_support::postgres::fresh_database;

use super::*;
use crate::connections::{Connections, MissingFile, on};

on_both!(
    with crate::connections::transaction::tests::over;
    a_transaction_that_is_dropped_is_rolled_back_and_locks_nothing,
    a_cancelled_caller_stops_no_transaction,
);

async fn over(backend: Backend) -> Fixture {
    match backend {
        Backend::Sqlite => Fixture::sqlite().await,
        Backend::Postgres => Fixture::postgres().await,
    }
}

struct Fixture {
    connections: Connections,
    _keeper: Box<dyn std::any::Any + Send + Sync>,
}

impl Fixture {
    async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("refract.db").display());
        Self::over(url, folder).await
    }

    async fn postgres() -> Self {
        let database = fresh_database().await;
        Self::over(database.url().to_owned(), database).await
    }

    async fn over(url: String, keeper: impl std::any::Any + Send + Sync) -> Self {
        let url = crate::DatabaseUrl::from(url);
        let runtime = Handle::current();
        let connections = Connections::open(&url, 2, MissingFile::IsMade, runtime)
            .await
            .unwrap();
        let it = Self {
            connections,
            _keeper: Box::new(keeper),
        };
        it.run("CREATE TABLE numbers (number BIGINT NOT NULL)")
            .await;
        it
    }

    async fn run(&self, statement: &'static str) {
        let running = self.connections.write(async move |mut connection| {
            on!(connection, execute(sql_query(statement)))?;
            Ok(())
        });
        running.await.unwrap();
    }

    async fn count(&self) -> i64 {
        let count = diesel::dsl::sql::<BigInt>("(SELECT count(*) FROM numbers)");
        let counting = self.connections.read(async move |mut connection| {
            Ok(on!(connection, get_result(diesel::select(count)))?)
        });
        counting.await.unwrap()
    }
}

async fn a_transaction_that_is_dropped_is_rolled_back_and_locks_nothing(it: Fixture) {
    let insert = || sql_query("INSERT INTO numbers VALUES (1)");
    for _ in 0..5 {
        let left_early = it.connections.begin(async move |mut tx| {
            on!(tx, execute(insert()))?;
            Ok(())
        });
        left_early.await.unwrap();
        let failed = it.connections.begin(async move |mut tx| {
            on!(tx, execute(insert()))?;
            on!(tx, execute(sql_query("INSERT INTO nothing VALUES (1)")))?;
            Ok(tx.commit().await?)
        });
        failed.await.unwrap_err();
    }
    assert_eq!(it.count().await, 0);
    it.run("INSERT INTO numbers VALUES (2)").await;
    assert_eq!(it.count().await, 1);
}

async fn a_cancelled_caller_stops_no_transaction(it: Fixture) {
    let (go_on, waits) = tokio::sync::oneshot::channel::<()>();
    let (is_begun, begun) = tokio::sync::oneshot::channel();
    let body = it.connections.begin(async move |mut tx| {
        on!(tx, execute(sql_query("INSERT INTO numbers VALUES (1)")))?;
        is_begun.send(()).unwrap();
        waits.await.unwrap();
        Ok(tx.commit().await?)
    });
    let caller = tokio::spawn(body);
    begun.await.unwrap();
    caller.abort();
    go_on.send(()).unwrap();
    while it.count().await == 0 {
        tokio::task::yield_now().await;
    }
}
