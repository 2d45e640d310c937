//! Every command on a database that does not have exactly this program's migrations: it says so and
//! changes nothing. A walk over the manual, which has a page for each command.

use std::collections::BTreeSet;
use std::path::Path;

use refract_test_stack::program;
use refract_test_stack::service::{LENS_FILE, PRISM, PRISM_FILE};
use refract_test_support::postgres::fresh_database;

use crate::events_of_commands::commands;

const ID: &str = "0190b8f2-0000-7000-8000-0000000000aa";

/// Commands that open no database, that migrate one, or that copy it whatever its migrations.
const OTHERS: [&str; 16] = [
    "serve",
    "demo",
    "migrate",
    "backup",
    "health",
    "doctor",
    "settings",
    "completions",
    "help",
    "model check",
    "model detect",
    "prism init",
    "prism schema",
    "prism lint",
    "lens schema",
    "marks schema",
];

/// Every other command with arguments that it accepts.
const COMMANDS: &[&[&str]] = &[
    &["account", "create", "acme"],
    &["account", "list"],
    &["account", "set", "--no-budget"],
    &["apply", "support-triage.prism.json"],
    &["check", PRISM, "gold.csv"],
    &["compare", PRISM, "--a", "version=1", "--b", "version=2"],
    &["evaluate", PRISM],
    &["events"],
    &["examples", "export", PRISM],
    &["examples", "import", PRISM, "gold.csv"],
    &["examples", "list", PRISM],
    &["examples", "remove", PRISM, ID],
    &["export-account", "account"],
    &["import-account", "account"],
    &["key", "create"],
    &["key", "list"],
    &["key", "revoke", ID],
    &["key", "rotate", ID],
    &["key", "set", ID, "--any-network"],
    &["lens", "cutoffs", PRISM, "angry"],
    &["lens", "history", PRISM],
    &["lens", "preview", PRISM, LENS_FILE],
    &["lens", "put-back", PRISM, "0"],
    &["lens", "reset", PRISM],
    &["lens", "set", PRISM, LENS_FILE],
    &["lens", "show", PRISM],
    &["marks", "export", PRISM],
    &["marks", "import", PRISM, "marks.csv"],
    &["person", "codes", "ada@example.com", "--off"],
    &["person", "invite", "ada@example.com"],
    &["person", "list"],
    &["person", "remove", "ada@example.com"],
    &["person", "reset", "ada@example.com"],
    &["person", "role", "ada@example.com", "editor"],
    &["prism", "archive", PRISM],
    &["prism", "create", PRISM_FILE],
    &["prism", "list"],
    &["prism", "rename", PRISM, "New name"],
    &["prism", "restore", PRISM],
    &["prism", "save", PRISM, PRISM_FILE],
    &["prism", "show", PRISM],
    &["results", "erase", "--ref", "ada"],
    &["results", "export", PRISM],
    &["results", "list", PRISM],
    &["results", "purge", "--before", "2026-05-04"],
    &["results", "retry", PRISM],
    &["results", "show", ID],
    &["retest", PRISM],
    &["retests", "continue", ID],
    &["retests", "list", PRISM],
    &["retests", "start", PRISM],
    &["retests", "stop", ID],
    &["run", PRISM, "gold.csv"],
    &["runs", "cancel", ID],
    &["runs", "delete-file", ID],
    &["runs", "list"],
    &["runs", "pause", ID],
    &["runs", "resume", ID],
    &["runs", "show", ID],
    &["try", PRISM, "--text", "x"],
    &["usage"],
    &["watch", PRISM],
];

/// Writes the files that the commands name.
fn write_files(folder: &Path) {
    std::fs::copy(PRISM_FILE, folder.join("support-triage.prism.json")).unwrap();
    let gold = "text,expected_topic\nWhere is my order?,delivery\n";
    std::fs::write(folder.join("gold.csv"), gold).unwrap();
    std::fs::write(folder.join("marks.csv"), "ref,topic\na,billing\n").unwrap();
}

/// Runs every command, and fails where one succeeds, says something else than `words`, or changes
/// what `look` shows.
async fn all_are_refused(url: &str, words: &[&str], look: impl AsyncFn() -> String) {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let settings = [
        ("DATABASE_URL", url),
        ("REFRACT_MODEL_URL", "builtin:lexical"),
    ];
    let before = look().await;
    for arguments in COMMANDS {
        let line = program::run(folder.path(), &settings, arguments).await;
        let line = line.refused();
        for words in words {
            assert!(line.contains(words), "{arguments:?}: {line}");
        }
    }
    assert_eq!(look().await, before);
}

/// Migrates a database, then brings it to this migration.
async fn migrate(url: &str, to: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", url)];
    let run = async |arguments: &[&str]| {
        let ended = program::run(folder.path(), &settings, arguments).await;
        ended.done();
    };
    run(&["migrate"]).await;
    if let Some(to) = to {
        run(&["migrate", "--to", to, "--yes"]).await;
    }
}

#[tokio::test]
async fn every_command_of_the_manual_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    let all = commands(folder.path()).await;
    let mut covered: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    for arguments in COMMANDS {
        let named = |length: usize| {
            let names = arguments.iter().take(length).copied();
            names.collect::<Vec<_>>().join(" ").replace('-', " ")
        };
        let known = [2, 1]
            .map(named)
            .into_iter()
            .find(|name| all.contains(name));
        covered.insert(known.unwrap_or_else(|| panic!("{arguments:?}")));
    }
    assert_eq!(covered, all);
}

/// The tables that a role sees without naming their schema, with their sizes.
const TABLES: &str =
    "SELECT coalesce(string_agg(relname || pg_relation_size(oid), ' ' ORDER BY 1), '')
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_newer_empty_or_foreign_postgres_database_is_left_as_it_is() {
    let database = fresh_database().await;
    let url = database.url();
    let look = async || database.text(TABLES).await;
    all_are_refused(url, &["the database is empty", "`refract migrate`"], look).await;
    database.execute("CREATE TABLE orders (id bigint)").await;
    all_are_refused(url, &["(orders)", "check the address"], look).await;
    database.execute("DROP TABLE orders").await;
    migrate(url, Some("23")).await;
    let older = [
        "the database is at migration 23,",
        "needs migration",
        "`refract migrate`",
    ];
    all_are_refused(url, &older, look).await;
    migrate(url, None).await;
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    database.execute(newer).await;
    let newer = [
        "the database is at migration 9999,",
        "`refract migrate --to ",
    ];
    all_are_refused(url, &newer, look).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_or_empty_sqlite_file_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refract.db");
    let url = format!("sqlite://{}", path.display());
    let look = async || {
        let names = std::fs::read_dir(folder.path()).unwrap();
        format!("{} {:?}", names.count(), std::fs::read(&path).unwrap())
    };
    std::fs::write(&path, "").unwrap();
    all_are_refused(&url, &["the database is empty", "`refract migrate`"], look).await;
    migrate(&url, Some("23")).await;
    let older = [
        "the database is at migration 23,",
        "needs migration",
        "`refract migrate`",
    ];
    all_are_refused(&url, &older, look).await;
    // a backup precedes an upgrade
    let before = look().await;
    let elsewhere = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", url.as_str())];
    let copied = program::run(elsewhere.path(), &settings, &["backup", "copy.db"]).await;
    assert!(copied.stderr.contains(older[0]), "{}", copied.stderr);
    copied.done();
    assert_eq!(look().await, before);
}

#[tokio::test]
async fn a_role_that_may_only_read_reads_but_not_an_older_database() {
    let database = fresh_database().await;
    migrate(database.url(), None).await;
    let role = format!("reader_{}", std::process::id());
    database
        .execute(&format!(
            "INSERT INTO accounts (id, name, created_at) VALUES (gen_random_uuid(), 'default', now());
             CREATE ROLE {role} LOGIN PASSWORD 'reads';
             GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
        ))
        .await;
    let (_, address) = database.url().rsplit_once('@').unwrap();
    let url = format!("postgres://{role}:reads@{address}");
    let settings = [("DATABASE_URL", url.as_str())];
    let folder = tempfile::tempdir().unwrap();
    let list = async || program::run(folder.path(), &settings, &["prism", "list"]).await;
    list().await.done();
    let older = "DELETE FROM __diesel_schema_migrations WHERE version > '0023'";
    database.execute(older).await;
    let line = list().await.refused();
    assert!(line.contains("the database is at migration 23,"), "{line}");
    let dropping = format!("DROP OWNED BY {role}; DROP ROLE {role}");
    database.execute(&dropping).await;
}

#[tokio::test]
async fn only_a_command_that_makes_a_missing_file_migrates_it_and_reports_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = async |arguments: &[&str]| program::run(folder.path(), &[], arguments).await;
    let made = run(&["account", "create", "acme"]).await;
    assert_eq!(made.stderr, "Made the database refract.db.\n");
    made.done();
    let again = run(&["account", "create", "other"]).await;
    assert_eq!(again.stderr, "");
    again.done();
}
