//! Provenance is stored with results.

use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::answer::Probability;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::Cost;
use refract_persistence::{PersistenceError, Provenance, SaveOutcome};
use refract_test_support::on_both;
use refract_test_support::postgres::fresh_database;
use uuid::Uuid;

use crate::fixture::{Fixture, account, answered, connect, failed, scripts, sqlite_url};
use crate::schemas::postgres_client;

on_both!(
    it_is_kept_of_ok_and_failed_results_and_of_retries,
    it_is_its_account_s_alone,
    results_are_the_same_with_it_and_without,
    the_models_of_some_results_are_listed,
);

fn reported() -> Provenance {
    Provenance {
        protocol: Some("chat".to_owned()),
        model: Some("qwen3-8b; \"DROP\" 模型".to_owned()),
        prompt_version: Some(1),
        input_tokens: Some(u64::from(u32::MAX) + 1),
        cached_tokens: Some(u64::from(u32::MAX) + 2),
        output_tokens: Some(0),
        cost: Cost::parse("999999.000000000000000001"),
        host_request_id: Some("req_\"1\"".to_owned()),
        requests: Some(103),
        attempts: Some(u32::MAX),
        on_codes: Some(Probability::CERTAIN),
        unread: Probability::from_millionths(1),
        truncated_to: Some(4_096),
    }
}

/// The provenance of a server that reports nothing.
fn unreported() -> Provenance {
    Provenance {
        protocol: Some("systemone".to_owned()),
        requests: Some(1),
        attempts: Some(2),
        ..Provenance::default()
    }
}

async fn it_is_kept_of_ok_and_failed_results_and_of_retries(it: Fixture) {
    let mut ok = it.result(answered(), None);
    ok.provenance = reported();
    let mut keyed = it.result(failed(), Some("order 1"));
    keyed.provenance = unreported();
    // a retry with a key is inserted in a separate transaction
    let mut retry = it.retry(&keyed.result, answered());
    retry.provenance = reported();
    for new in [ok, keyed, retry] {
        assert_eq!(
            it.database.save_result(&new).await.unwrap(),
            SaveOutcome::Saved
        );
        let found = it.database.find_provenance(it.account, new.result.id).await;
        assert_eq!(found.unwrap(), Some(new.provenance));
    }
}

async fn it_is_its_account_s_alone(it: Fixture) {
    let new = it.result(answered(), None);
    it.database.save_result(&new).await.unwrap();
    let elsewhere = account(&it.database, "elsewhere").await;
    let nobody = ResultId::new(Uuid::now_v7());
    for (account, result) in [(elsewhere, new.result.id), (it.account, nobody)] {
        let found = it.database.find_provenance(account, result).await;
        assert_eq!(found.unwrap(), None);
    }
}

async fn results_are_the_same_with_it_and_without(it: Fixture) {
    for provenance in [Provenance::default(), reported()] {
        let mut new = it.result(answered(), None);
        new.provenance = provenance;
        it.database.save_result(&new).await.unwrap();
        assert_eq!(it.read(new.result.id).await, Some(new.result));
    }
}

async fn the_models_of_some_results_are_listed(it: Fixture) {
    let mut ids = Vec::new();
    for provenance in [reported(), reported(), unreported()] {
        let mut new = it.result(answered(), None);
        new.provenance = provenance;
        it.database.save_result(&new).await.unwrap();
        ids.push(new.result.id);
    }
    let list = async |account, ids: &[ResultId]| {
        let names = it.database.list_model_names(account, ids).await.unwrap();
        names.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(list(it.account, &ids[..2]).await, [reported().model]);
    assert_eq!(list(it.account, &ids).await, [None, reported().model]);
    // more ids than one statement takes
    let mut many: Vec<_> = (0..2_500).map(|_| ResultId::new(Uuid::now_v7())).collect();
    many.push(ids[0]);
    assert_eq!(list(it.account, &many).await, [reported().model]);
    let elsewhere = account(&it.database, "elsewhere").await;
    assert_eq!(list(elsewhere, &ids).await, []);
}

/// SQL that inserts an account and a prism with one id, under the first migration.
fn a_prism_of_the_first_migration(id: &str, moment: &str) -> String {
    format!(
        "INSERT INTO accounts (id, name, created_at) VALUES ({id}, 'a', {moment});
         INSERT INTO prisms (id, account_id, slug, name, latest_version, lens_revision, created_at)
            VALUES ({id}, {id}, 'p', 'p', 1, 0, {moment});
         INSERT INTO prism_versions (prism_id, version, definition, created_at)
            VALUES ({id}, 1, '{{}}', {moment});
         {RECORD}"
    )
}

/// SQL that inserts a result of this prism like a node that knows only the first migration.
fn a_result_of_an_old_node(id: &str, prism: &str, moment: &str) -> String {
    format!(
        "INSERT INTO results (id, account_id, prism_id, version, status, answers, fields, took_ms,
            created_at)
         VALUES ({id}, {prism}, {prism}, 1, 'ok', '{{}}', '{{\"text\":\"Hello\"}}', 7, {moment})"
    )
}

/// SQL that records a migration as run, as diesel does.
const RECORD: &str = "CREATE TABLE __diesel_schema_migrations (
        version VARCHAR(50) PRIMARY KEY NOT NULL,
        run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
    INSERT INTO __diesel_schema_migrations (version) VALUES ('0001');";

/// Migrates a database with result 1 of an old node, lets the old node save result 2, and reads
/// both results.
async fn assert_old_nodes_results_are_read(url: &str, save_another: impl AsyncFnOnce()) {
    let database = connect(url).await;
    let later = scripts("postgres", "up.sql").len() - 1;
    assert_eq!(database.migrate().await.unwrap(), later);
    save_another().await;
    let account = AccountId::new(Uuid::from_u128(1));
    for id in [1, 2] {
        let result = ResultId::new(Uuid::from_u128(id));
        let provenance = database.find_provenance(account, result).await.unwrap();
        assert_eq!(provenance, Some(Provenance::default()));
        let found = database.find_result(account, result).await.unwrap();
        let found = found.unwrap().result;
        assert_eq!(found.took_ms, 7);
        assert_eq!(found.submission.field_values().as_slice()[0].1, "Hello");
    }
}

#[tokio::test]
async fn sqlite_keeps_results_of_old_nodes_from_before_a_migration_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refract.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    let [one, two] = [1, 2].map(|id| format!("x'{id:032x}'"));
    for script in [
        include_str!("../../../../migrations/sqlite/0001_create_tables/up.sql"),
        &a_prism_of_the_first_migration(&one, "0"),
        &a_result_of_an_old_node(&one, &one, "0"),
    ] {
        connection.batch_execute(script).unwrap();
    }
    let save_another = async || {
        let insert = a_result_of_an_old_node(&two, &one, "0");
        connection.batch_execute(&insert).unwrap();
    };
    assert_old_nodes_results_are_read(&sqlite_url(&folder), save_another).await;
}

#[tokio::test]
async fn postgres_keeps_results_of_old_nodes_from_before_a_migration_and_after() {
    let server = fresh_database().await;
    let client = postgres_client(server.url()).await;
    let [one, two] = [1, 2].map(|id| format!("'{id:032x}'"));
    for script in [
        include_str!("../../../../migrations/postgres/0001_create_tables/up.sql"),
        &a_prism_of_the_first_migration(&one, "now()"),
        &a_result_of_an_old_node(&one, &one, "now()"),
    ] {
        client.batch_execute(script).await.unwrap();
    }
    let save_another = async || {
        let insert = a_result_of_an_old_node(&two, &one, "now()");
        client.batch_execute(&insert).await.unwrap();
    };
    assert_old_nodes_results_are_read(server.url(), save_another).await;
}

#[tokio::test]
async fn a_number_that_was_never_saved_is_unreadable() {
    let it = Fixture::sqlite().await;
    let new = it.result(answered(), None);
    it.database.save_result(&new).await.unwrap();
    let path = it.url.trim_start_matches("sqlite://");
    let mut connection = SqliteConnection::establish(path).unwrap();
    for (column, value) in [
        ("results.unread_millionths", "-1"),
        ("results.unread_millionths", "1000001"),
        ("results.cached_tokens", "-1"),
        ("results.truncated_to", "-1"),
        ("results.cost_nanos", "-1, cost_attos = 0"),
    ] {
        let update = column.trim_start_matches("results.");
        let update = format!(
            "UPDATE results SET unread_millionths = NULL, cached_tokens = NULL,
                truncated_to = NULL; UPDATE results SET {update} = {value}"
        );
        connection.batch_execute(&update).unwrap();
        let found = it.database.find_provenance(it.account, new.result.id).await;
        assert!(
            matches!(found, Err(PersistenceError::Unreadable { column: named }) if named == column),
            "{column}: {found:?}"
        );
    }
}
