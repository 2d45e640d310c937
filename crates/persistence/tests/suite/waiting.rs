//! Time limits of queries: on waiting for a connection and for an answer.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use refract_domain::ids::PrismId;
use refract_domain::prism::DisplayName;
use refract_persistence::{Database, DatabaseSettings, NewPrism, PersistenceError};
use refract_test_support::postgres_proxy::{PostgresProxy, StatementFault};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::fixture::{Fixture, answered, connect, slugs, version};
use crate::schemas::postgres_client;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_is_held_up_and_those_behind_it_fail_and_the_pool_recovers() {
    let it = Fixture::postgres().await;
    let settings = DatabaseSettings {
        url: it.url.as_str().into(),
        pool: 1,
    };
    let database = Database::connect(&settings, Handle::current())
        .await
        .unwrap();
    let blocker = postgres_client(&it.url).await;
    let lock = "BEGIN; LOCK TABLE results IN ACCESS EXCLUSIVE MODE";
    blocker.batch_execute(lock).await.unwrap();

    let begin = Instant::now();
    let held_up = tokio::spawn({
        let (database, new) = (database.clone(), it.result(answered(), None));
        async move { (database.save_result(&new).await, Instant::now()) }
    });
    // the single connection is taken when the query waits for the lock
    let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    while blocker
        .query_one(waiting, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {}
    let behind = database.ping().await.unwrap_err();
    assert!(
        matches!(behind, PersistenceError::Unavailable(_)),
        "{behind}"
    );
    assert!(behind.is_passing());
    assert!(
        (9..20).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );

    let (held_up, ended) = held_up.await.unwrap();
    let error = held_up.unwrap_err();
    assert!(
        error.is_passing() && error.to_string().contains("statement timeout"),
        "{error}"
    );
    assert!((29..40).contains(&(ended - begin).as_secs()));

    blocker.batch_execute("ROLLBACK").await.unwrap();
    database
        .save_result(&it.result(answered(), None))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_holds_up_no_query_for_long_and_keeps_no_connection() {
    let it = Fixture::postgres().await;
    let (server, name) = it.url.rsplit_once('/').unwrap();
    let (server, port) = server.rsplit_once(':').unwrap();
    let proxy = PostgresProxy::start(port.parse().unwrap(), |_, _| None).await;
    let url = format!("{server}:{}/{name}?sslmode=disable", proxy.port());
    let database = connect(&url).await;
    let work = async |name: &str| {
        let new = NewPrism {
            id: PrismId::new(Uuid::now_v7()),
            name: &DisplayName::parse(name).unwrap(),
            version: &version(&["angry"]),
            stamp: it.stamp(0),
        };
        let mut slugs = slugs(name);
        let result = it.result(answered(), None);
        let (read, written, committed) = tokio::join!(
            database.ping(),
            database.save_result(&result),
            database.create_prism(&new, &mut slugs)
        );
        [read, written.map(drop), committed.map(drop)]
    };
    proxy.change(|sql, _| {
        let stands_still = ["SELECT 1", "INSERT INTO results", "COMMIT"];
        let stands_still = stands_still.iter().any(|known| sql.contains(known));
        stands_still.then_some(StatementFault::HoldAnswer)
    });
    let begin = Instant::now();
    for ended in work("held-up").await {
        let error = ended.unwrap_err().to_string();
        assert_eq!(error, "the database is not available: it does not answer");
    }
    let took = begin.elapsed();
    assert!((30..40).contains(&took.as_secs()), "{took:?}");
    assert_eq!(proxy.faults(), 3);

    proxy.heal();
    let begin = Instant::now();
    for ended in work("healed").await {
        ended.unwrap();
    }
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_broke_are_replaced() {
    let it = Fixture::postgres().await;
    it.database.ping().await.unwrap();
    let admin = postgres_client(&it.url).await;
    let end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let none_left = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..3 {
        admin.batch_execute(end_all).await.unwrap();
        while admin
            .query_one(none_left, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {}
        // a query on a connection that is ending may fail; the next query does not
        let _ = it.database.ping().await;
        it.database.ping().await.unwrap();
        it.database
            .save_result(&it.result(answered(), None))
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_grants_fewer_connections_than_the_pool_holds_is_used_with_those() {
    let it = Fixture::postgres().await;
    let operator = postgres_client(&it.url).await;
    let (server, name) = it.url.rsplit_once('/').unwrap();
    let role = name.replace("refract_test", "limited");
    let set_up = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'limited' CONNECTION LIMIT 3;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
    );
    operator.batch_execute(&set_up).await.unwrap();
    let (_, server) = server.rsplit_once('@').unwrap();
    let settings = DatabaseSettings {
        url: format!("postgres://{role}:limited@{server}/{name}")
            .as_str()
            .into(),
        pool: 16,
    };
    for begins_with_lanes in [true, false] {
        let database = Database::connect(&settings, Handle::current()).await;
        let database = database.unwrap();
        let on_lanes = database.for_this_thread(NonZeroUsize::MIN);
        let one_call = async |database: &Database| {
            let new = it.result(answered(), None);
            database.save_result(&new).await.unwrap();
            let found = database.find_result(it.account, new.result.id).await;
            assert!(found.unwrap().is_some());
        };
        let first = if begins_with_lanes {
            &on_lanes
        } else {
            &database
        };
        join_all((0..12).map(|_| one_call(first))).await;
        let begin = Instant::now();
        database.ping().await.unwrap();
        on_lanes.ping().await.unwrap();
        join_all((0..12).flat_map(|_| [one_call(&database), one_call(&on_lanes)])).await;
        assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    }
    let gone = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    operator.batch_execute(&gone).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_were_opened_while_the_server_was_read_only_are_given_up() {
    let it = Fixture::postgres().await;
    let settings = DatabaseSettings {
        url: it.url.as_str().into(),
        pool: 4,
    };
    let operator = postgres_client(&it.url).await;
    let name = operator.query_one("SELECT current_database()", &[]).await;
    let name: String = name.unwrap().get(0);
    let set = async |mode: &str| {
        let statement =
            format!("ALTER DATABASE \"{name}\" SET default_transaction_read_only = {mode}");
        operator.batch_execute(&statement).await.unwrap();
    };
    let now = async || {
        let moment = operator
            .query_one("SELECT clock_timestamp()::text", &[])
            .await;
        moment.unwrap().get::<_, String>(0)
    };
    set("on").await;
    let begin = now().await;
    let database = Database::connect(&settings, Handle::current())
        .await
        .unwrap();
    let on_lanes = database.for_this_thread(NonZeroUsize::MIN);
    on_lanes.ping().await.unwrap();
    let refused = database.save_result(&it.result(answered(), None)).await;
    assert!(
        matches!(&refused, Err(error @ PersistenceError::ReadOnly(_)) if error.is_passing()),
        "{refused:?}"
    );
    // over a lane, which is opened now
    let grouped = on_lanes.save_result(&it.result(answered(), None)).await;
    assert!(grouped.is_err());
    set("off").await;
    let of_before = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND backend_start BETWEEN '{begin}' AND '{}'",
        now().await
    );
    let healing = async {
        loop {
            let mut are_saved = on_lanes.ping().await.is_ok();
            for database in [&database, &on_lanes] {
                let saved = database.save_result(&it.result(answered(), None)).await;
                are_saved &= saved.is_ok();
            }
            let left = operator.query_one(&of_before, &[]).await.unwrap();
            if are_saved && left.get::<_, i64>(0) == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), healing)
        .await
        .unwrap();
}
