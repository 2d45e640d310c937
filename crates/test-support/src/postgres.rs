//! PostgreSQL databases for single tests.
//!
//! `REFRACT_TEST_POSTGRES_URL` is the server's address; `make test` and `.ci/with-postgres` set the
//! variable. Every test gets a database with a new name, which is dropped at the end. This module
//! knows nothing about schemas.
#![expect(
    clippy::panic,
    reason = "a test whose database cannot be set up fails here with the reason"
)]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::{fs, io, thread};

use tokio::runtime;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

/// The environment variable with the server's address, `postgres://…`. The role in it must be
/// allowed to create databases.
pub const SERVER_VARIABLE: &str = "REFRACT_TEST_POSTGRES_URL";

/// A database for one test. Dropping this value drops the database from the server.
#[derive(Debug)]
pub struct TestDatabase {
    server: String,
    name: String,
    url: String,
}

impl TestDatabase {
    /// The address of the database, `postgres://…`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Executes statements without results; semicolons separate them.
    ///
    /// # Panics
    ///
    /// When the server does not answer or refuses one of them.
    pub async fn execute(&self, statements: &str) {
        execute(&connect_or_panic(&self.url).await, statements).await;
    }

    /// The text that a query of one row and one column returns.
    ///
    /// # Panics
    ///
    /// When the server does not answer or refuses it.
    pub async fn text(&self, query: &str) -> String {
        let client = connect_or_panic(&self.url).await;
        let row = client.query_one(query, &[]).await;
        row.unwrap_or_else(|error| refused(query, &error)).get(0)
    }

    fn named_afresh(server: String) -> Self {
        let name = format!("refract_test_{}", Uuid::now_v7().simple());
        let url = with_database(&server, &name);
        Self { server, name, url }
    }
}

impl Drop for TestDatabase {
    /// Tries to drop the database, on a separate runtime: the test's own may have ended or be busy.
    fn drop(&mut self) {
        let server = self.server.clone();
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let dropping = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.is_ok_and(|runtime| {
                runtime.block_on(async {
                    match connect(&server).await {
                        Ok(client) => client.batch_execute(&statement).await.is_ok(),
                        Err(_) => false,
                    }
                })
            })
        });
        dropping.join().ok();
    }
}

/// Creates an empty database.
///
/// # Panics
///
/// When the variable is not set, and when the server does not answer or refuses.
pub async fn fresh_database() -> TestDatabase {
    let server = server();
    let client = connect_or_panic(&server).await;
    let database = TestDatabase::named_afresh(server);
    create(&client, &database.name, "template1").await;
    database
}

/// Creates a database as a copy of a template. The first caller on the server prepares the
/// template.
///
/// `template_key` must change with the template's content: callers put a hash of the migrations
/// into it, so that a long-running server never copies an old schema. `prepare` gets the address of
/// an empty database and must close its connections. Callers in other threads and processes wait
/// until the template is ready; an unfinished template is never copied.
///
/// # Panics
///
/// When the variable is not set, the server does not answer or refuses, or the key is not 1 to 40
/// lower case letters, digits and underscores.
pub async fn from_template(template_key: &str, prepare: impl AsyncFnOnce(&str)) -> TestDatabase {
    let server = server();
    let client = connect_or_panic(&server).await;
    let template = template_name(template_key);
    if !exists(&client, &template).await {
        make_template(&client, &template, prepare).await;
    }
    let database = TestDatabase::named_afresh(server);
    create(&client, &database.name, &template).await;
    database
}

/// Creates a database with all migrations of this repository, as a copy of a template.
///
/// `migrate` gets the address of an empty database, runs the migrations and closes its connections.
///
/// # Panics
///
/// When a migration cannot be read, and as [`from_template`] does.
pub async fn migrated_database(migrate: impl AsyncFnOnce(&str)) -> TestDatabase {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres");
    let read = || -> io::Result<u64> {
        let migrations = fs::read_dir(folder)?.map(|entry| Ok(entry?.path().join("up.sql")));
        let mut migrations = migrations.collect::<io::Result<Vec<_>>>()?;
        migrations.sort_unstable();
        let mut hasher = DefaultHasher::new();
        for migration in migrations {
            fs::read(migration)?.hash(&mut hasher);
        }
        Ok(hasher.finish())
    };
    let hash = read().unwrap_or_else(|error| panic!("{folder}: {error}"));
    from_template(&format!("migrated_{hash:016x}"), migrate).await
}

/// Prepares the template under a temporary name and renames it once it is complete.
///
/// The advisory lock belongs to the session of `client`, so a failing caller releases it.
async fn make_template(client: &Client, template: &str, prepare: impl AsyncFnOnce(&str)) {
    let lock = format!("pg_advisory_lock(hashtextextended('{template}', 0))");
    execute(client, &format!("SELECT {lock}")).await;
    if !exists(client, template).await {
        let draft = fresh_database().await;
        prepare(draft.url()).await;
        let name = &draft.name;
        execute(
            client,
            &format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false"),
        )
        .await;
        execute(
            client,
            &format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
            ),
        )
        .await;
        execute(
            client,
            &format!("ALTER DATABASE {name} RENAME TO {template}"),
        )
        .await;
    }
    execute(
        client,
        &format!("SELECT {}", lock.replace("lock(", "unlock(")),
    )
    .await;
}

/// Creates a database by copying the template's files, which takes a third of the time of PostgreSQL's
/// default, writing all pages to its log. Before version 15 there was no other way.
async fn create(client: &Client, database: &str, template: &str) {
    let version = "SELECT current_setting('server_version_num')::int";
    let row = client.query_one(version, &[]).await;
    let version: i32 = row.unwrap_or_else(|error| refused(version, &error)).get(0);
    let strategy = if version < 150_000 {
        ""
    } else {
        " STRATEGY file_copy"
    };
    let statement = format!("CREATE DATABASE {database} TEMPLATE {template}{strategy}");
    execute(client, &statement).await;
}

async fn exists(client: &Client, database: &str) -> bool {
    client
        .query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&database])
        .await
        .unwrap_or_else(|error| refused("looking for the template", &error))
        .is_some()
}

async fn execute(client: &Client, statement: &str) {
    client
        .batch_execute(statement)
        .await
        .unwrap_or_else(|error| refused(statement, &error));
}

fn refused(what: &str, error: &tokio_postgres::Error) -> ! {
    let reason = error
        .as_db_error()
        .map_or_else(|| error.to_string(), ToString::to_string);
    panic!("the PostgreSQL for tests refused: {what}: {reason}");
}

async fn connect(server: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn connect_or_panic(server: &str) -> Client {
    connect(server).await.unwrap_or_else(|error| {
        panic!("the PostgreSQL that {SERVER_VARIABLE} names does not answer: {error}")
    })
}

fn server() -> String {
    std::env::var(SERVER_VARIABLE).unwrap_or_else(|_| {
        panic!("{SERVER_VARIABLE} is not set: run `make test`, or put `.ci/with-postgres` before the command")
    })
}

/// The server's address with a different database in the path.
fn with_database(server: &str, name: &str) -> String {
    let (address, parameters) = match server.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (server, String::new()),
    };
    let Some((scheme, rest)) = address.split_once("://") else {
        panic!("{SERVER_VARIABLE} must look like postgres://user:password@host:port/database");
    };
    let authority = rest
        .split_once('/')
        .map_or(rest, |(authority, _)| authority);
    format!("{scheme}://{authority}/{name}{parameters}")
}

fn template_name(key: &str) -> String {
    let fits = (1..=40).contains(&key.len())
        && key
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    assert!(
        fits,
        "a template key is 1 to 40 lower case letters, digits and underscores: {key:?}"
    );
    format!("refract_template_{key}")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    async fn names_like(pattern: &str) -> i64 {
        let client = connect_or_panic(&server()).await;
        client
            .query_one(
                "SELECT count(*) FROM pg_database WHERE datname LIKE $1",
                &[&pattern],
            )
            .await
            .unwrap()
            .get(0)
    }

    async fn fruit_in(url: &str) -> Vec<String> {
        let client = connect(url).await.unwrap();
        let rows = client.query("SELECT name FROM fruit", &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn plant(url: &str) {
        let client = connect(url).await.unwrap();
        client
            .batch_execute("CREATE TABLE fruit (name text); INSERT INTO fruit VALUES ('pear')")
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn a_fresh_database_is_empty_and_goes_when_it_is_dropped() {
        let database = fresh_database().await;
        let other = fresh_database().await;
        assert_ne!(database.url(), other.url());
        let client = connect(database.url()).await.unwrap();
        let tables = "SELECT 1 FROM pg_tables WHERE schemaname = 'public'";
        assert!(client.query(tables, &[]).await.unwrap().is_empty());

        let name = database.name.clone();
        assert_eq!(names_like(&name).await, 1);
        drop(database); // with a connection still open to it
        assert_eq!(names_like(&name).await, 0);
    }

    #[tokio::test]
    async fn a_template_is_prepared_once_for_callers_at_the_same_time() {
        let key = Uuid::now_v7().simple().to_string();
        let prepared = AtomicUsize::new(0);
        let clone = async || {
            from_template(&key, async |url| {
                prepared.fetch_add(1, Ordering::Relaxed);
                plant(url).await;
            })
            .await
        };
        let (one, two, three) = tokio::join!(clone(), clone(), clone());
        assert_eq!(prepared.load(Ordering::Relaxed), 1);
        for database in [&one, &two, &three] {
            assert_eq!(fruit_in(database.url()).await, ["pear"]);
        }
        let writer = connect(one.url()).await.unwrap();
        writer.batch_execute("DELETE FROM fruit").await.unwrap();
        assert_eq!(fruit_in(two.url()).await, ["pear"]);
    }

    #[tokio::test]
    async fn a_template_that_was_not_finished_is_never_used() {
        let key = Uuid::now_v7().simple().to_string();
        let half_way = key.clone();
        let tasks = tokio::task::LocalSet::new();
        let failing = tasks.spawn_local(async move {
            from_template(&half_way, async |_| panic!("half-way")).await
        });
        let outcome = tasks.run_until(failing).await;
        assert!(outcome.is_err());
        assert_eq!(names_like(&format!("%{key}")).await, 0);

        let database = from_template(&key, plant).await;
        assert_eq!(fruit_in(database.url()).await, ["pear"]);
    }

    #[test]
    fn the_database_is_replaced_in_every_form_of_address() {
        for (server, expected) in [
            (
                "postgres://u:p@host:5432/postgres",
                "postgres://u:p@host:5432/new",
            ),
            ("postgres://host", "postgres://host/new"),
            (
                "postgresql://host/?connect_timeout=2",
                "postgresql://host/new?connect_timeout=2",
            ),
            ("postgres://host?a=/b", "postgres://host/new?a=/b"),
        ] {
            assert_eq!(with_database(server, "new"), expected);
        }
    }

    #[test]
    #[should_panic(expected = "a template key is")]
    fn a_key_that_would_not_be_a_name_is_refused() {
        template_name("results; DROP");
    }
}
