//! Everything that an account has, read as lines and written into either database.

mod filled_rows;

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;
use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::event::{Actor, EventAction, EventDetail, EventTarget};
use refract_domain::ids::AccountId;
use refract_persistence::{
    ACCOUNT_TABLES, AccountImportState, AccountRows, AccountSelection, AccountTable, Database,
    FileRow, ImportContext, ImportRows, ImportRowsOutcome, RowError, TABLES_LEFT_OUT,
};
use refract_test_support::backend::Backend;
use refract_test_support::on_both;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use self::filled_rows::{ACCOUNT, AT, KEY, PERSON, RETEST, RUN, id, rows};
use crate::fixture::{Fixture, new_stamp, scripts};
use crate::schemas::sqlite_columns;

on_both!(
    every_row_comes_out_as_it_went_in,
    rows_of_another_account_are_not_taken_over,
);

#[test]
fn every_column_is_exported_or_left_out_for_a_reason() {
    let mut connection = SqliteConnection::establish(":memory:").unwrap();
    for script in scripts("sqlite", "up.sql") {
        connection.batch_execute(&script).unwrap();
    }
    let left_out: BTreeSet<&str> = TABLES_LEFT_OUT.iter().map(|(table, _)| *table).collect();
    let columns = sqlite_columns(&mut connection).into_keys();
    let of_database: BTreeSet<(String, String)> = columns
        .filter(|(table, _)| !left_out.contains(table.as_str()))
        .collect();
    let listed: BTreeSet<(String, String)> = ACCOUNT_TABLES
        .iter()
        .flat_map(|table| {
            let pair = |column: &str| (table.name().to_owned(), column.to_owned());
            table.columns().map(pair).collect::<Vec<_>>()
        })
        .collect();
    let missing: Vec<_> = of_database.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&of_database).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "decide in queries/transfer/tables.rs what an export and an import make of these columns: \
         {missing:?}; these are no longer there: {gone:?}"
    );
}

fn context(account: AccountId) -> ImportContext {
    ImportContext {
        account,
        account_name: "taken".to_owned(),
        exported: Uuid::parse_str(&id(ACCOUNT)).unwrap(),
        now: DateTime::parse_from_rfc3339(AT).unwrap().to_utc(),
        taken_emails: BTreeSet::new(),
    }
}

fn exported_account() -> AccountId {
    AccountId::new(Uuid::parse_str(&id(ACCOUNT)).unwrap())
}

/// Imports lines of all tables; returns the retries that are to be set at the end.
async fn import(
    database: &Database,
    lines: &BTreeMap<&'static str, Vec<String>>,
    context: &ImportContext,
) -> Result<Vec<(Uuid, Uuid)>, &'static str> {
    let mut late = Vec::new();
    for table in ACCOUNT_TABLES {
        let parsed = lines[table.name()].iter().map(|line| {
            let row = FileRow::parse(table, line).unwrap();
            let row = row.imported(table, context).unwrap();
            late.extend(row.late_retry);
            row
        });
        let batch = ImportRows::new(table, parsed.collect());
        let importing = database.import_rows(context.account, vec![batch], None);
        match importing.await.unwrap() {
            ImportRowsOutcome::Saved => {}
            ImportRowsOutcome::ElsewhereOwned(table) => return Err(table),
        }
    }
    database.import_retries(late.clone()).await.unwrap();
    Ok(late)
}

/// Everything that an account has, by table.
async fn read(database: &Database, account: AccountId) -> BTreeMap<&'static str, Vec<String>> {
    let (sender, mut pages) = mpsc::channel::<AccountRows>(1);
    let selection = AccountSelection {
        account,
        since: None,
        without_texts: false,
    };
    let receiving = async {
        let mut lines: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        while let Some(page) = pages.recv().await {
            let text = String::from_utf8(page.lines).unwrap();
            let of_table = lines.entry(page.table.name()).or_default();
            of_table.extend(text.lines().map(str::to_owned));
        }
        lines
    };
    let (read, lines) = tokio::join!(database.read_account(selection, sender), receiving);
    read.unwrap();
    lines
}

fn lines() -> BTreeMap<&'static str, Vec<String>> {
    let lines = |rows: Vec<Value>| rows.iter().map(Value::to_string).collect();
    rows()
        .into_iter()
        .map(|(table, rows)| (table, lines(rows)))
        .collect()
}

async fn every_row_comes_out_as_it_went_in(it: Fixture) {
    let tables: BTreeSet<&str> = ACCOUNT_TABLES.iter().map(AccountTable::name).collect();
    let filled = lines();
    assert_eq!(
        tables,
        filled.keys().copied().collect(),
        "a row of every table"
    );

    let database = &it.database;
    let account = exported_account();
    let export = EventDetail::account_export(&[7; 32]);
    let state = database.find_account_import(account, &export);
    assert_eq!(state.await.unwrap(), AccountImportState::Empty);
    let late = import(database, &filled, &context(account)).await.unwrap();
    assert_eq!(late.len(), 1, "one retry comes before its original");
    let found = read(database, account).await;
    let parsed = |lines: &BTreeMap<&'static str, Vec<String>>| -> BTreeMap<String, Vec<Value>> {
        let parse = |line: &String| serde_json::from_str(line).unwrap();
        let all = lines.iter();
        all.map(|(table, lines)| ((*table).to_owned(), lines.iter().map(parse).collect()))
            .collect()
    };
    assert_eq!(parsed(&found), parsed(&filled));

    // again: nothing is doubled, and what was read is written with the same bytes
    import(database, &found, &context(account)).await.unwrap();
    assert_eq!(read(database, account).await, found);
    let state = database.find_account_import(account, &export);
    let occupied = AccountImportState::Occupied("prisms");
    assert_eq!(state.await.unwrap(), occupied);
    for (action, expected) in [
        (EventAction::AccountImportStarted, AccountImportState::Begun),
        (EventAction::AccountImported, AccountImportState::Done),
    ] {
        let stamp = new_stamp(account, 0).noted(export.clone());
        assert_eq!(stamp.actor, Actor::Operator);
        let event = stamp.event(action, EventTarget::Account(account));
        database.save_event(event).await.unwrap();
        let state = database.find_account_import(account, &export);
        assert_eq!(state.await.unwrap(), expected);
    }
    // the account of the fixture has what it had
    assert_eq!(read(database, it.account).await["api_keys"].len(), 1);

    // the other database takes the lines, and gives them back with the same bytes
    let other = if it.url.starts_with("sqlite") {
        Fixture::postgres().await
    } else {
        Fixture::sqlite().await
    };
    import(&other.database, &found, &context(account))
        .await
        .unwrap();
    assert_eq!(read(&other.database, account).await, found);
}

async fn rows_of_another_account_are_not_taken_over(it: Fixture) {
    let (database, filled) = (&it.database, lines());
    import(database, &filled, &context(exported_account()))
        .await
        .unwrap();
    // the account's own row comes first, and belongs to nobody else
    let others = async || {
        let mut tables = read(database, it.account).await;
        tables.remove("accounts");
        tables
    };
    let before = others().await;
    let refused = import(database, &filled, &context(it.account)).await;
    assert_eq!(refused, Err("prisms"));
    assert_eq!(others().await, before);
    let emails = ["ada@example.com", "grace@example.com"].map(str::to_owned);
    let taken = database.list_taken_emails(it.account, emails.to_vec());
    assert_eq!(Vec::from_iter(taken.await.unwrap()), ["ada@example.com"]);
    let own = database.list_taken_emails(exported_account(), emails.to_vec());
    assert_eq!(own.await.unwrap(), BTreeSet::new());
}

#[test]
fn secrets_states_and_addresses_are_replaced() {
    let account = AccountId::new(Uuid::now_v7());
    let context = ImportContext {
        taken_emails: BTreeSet::from(["ada@example.com".to_owned()]),
        ..context(account)
    };
    let imported = |name: &str, row: Value| {
        let table = ACCOUNT_TABLES
            .iter()
            .find(|table| table.name() == name)
            .unwrap();
        let line = row.to_string();
        let parsed = FileRow::parse(table, &line).unwrap();
        let imported = parsed.imported(table, &context).unwrap();
        (format!("{imported:?}"), imported.is_taken)
    };
    let person = json!({"id": id(PERSON), "email": "ada@example.com", "name": "Ada"});
    let (person, is_taken) = imported("people", person);
    assert!(is_taken && !person.contains("\"Ada\""), "{person}");
    let now = context.now.timestamp_millis().to_string();
    assert!(person.contains(&now), "{person}");
    let run = json!({"id": id(RUN), "state": "running"});
    let (run, _) = imported("file_runs", run);
    assert!(
        run.contains("cancelled") && !run.contains("running"),
        "{run}"
    );
    let (retest, _) = imported("retests", json!({"id": id(RETEST), "state": "waiting"}));
    assert!(retest.contains("stopped"), "{retest}");
    let (key, _) = imported("api_keys", json!({"id": id(KEY), "revoked_at": null}));
    assert!(key.contains(&now), "{key}");
    let event = json!({"id": id(9), "target_id": id(ACCOUNT)});
    let (event, _) = imported("events", event);
    assert_eq!(
        event.matches(&account.uuid().simple().to_string()).count(),
        2
    );
}

#[test]
fn a_line_that_is_no_row_is_refused_without_its_values() {
    let table = &ACCOUNT_TABLES[1];
    for (line, expected) in [
        ("[1]", RowError::NoObject),
        ("{\"id\":", RowError::NoObject),
        ("{\"secret\":1}", RowError::UnknownColumn),
        ("{\"account_id\":null}", RowError::UnknownColumn),
    ] {
        assert_eq!(FileRow::parse(table, line).err(), Some(expected), "{line}");
    }
    for (line, column) in [
        ("{\"id\":\"x\"}", "id"),
        ("{\"latest_version\":1.5}", "latest_version"),
        ("{\"latest_version\":\"1\"}", "latest_version"),
        ("{\"created_at\":\"today\"}", "created_at"),
        ("{\"name\":1}", "name"),
    ] {
        let row = FileRow::parse(table, line).unwrap();
        let refused = row.imported(table, &context(exported_account()));
        assert_eq!(refused.err(), Some(RowError::Value(column)), "{line}");
    }
}

#[tokio::test]
async fn an_import_leaves_it_at_codes_for_everybody() {
    let it = crate::on(Backend::Sqlite).await;
    let requiring = it
        .database
        .set_codes_required(true, new_stamp(it.account, 0));
    requiring.await.unwrap();
    let mut lines = lines();
    for (table, rows) in &mut lines {
        rows.retain(|_| *table == "accounts");
    }
    let account = json!({
        "id": id(ACCOUNT), "name": "taken", "created_at": AT, "codes_required_at": null,
    });
    lines.insert("accounts", vec![account.to_string()]);
    import(&it.database, &lines, &context(it.account))
        .await
        .unwrap();
    assert!(it.database.are_codes_required(it.account).await.unwrap());
}

#[tokio::test]
async fn an_export_may_leave_out_texts_and_what_is_older() {
    let it = crate::on(Backend::Sqlite).await;
    import(&it.database, &lines(), &context(exported_account()))
        .await
        .unwrap();
    let read = async |since: Option<&str>| {
        let (sender, mut pages) = mpsc::channel::<AccountRows>(100);
        let moment = |text| DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        let selection = AccountSelection {
            account: exported_account(),
            since: since.map(moment),
            without_texts: true,
        };
        it.database.read_account(selection, sender).await.unwrap();
        let mut all = String::new();
        while let Some(page) = pages.recv().await {
            all += std::str::from_utf8(&page.lines).unwrap();
        }
        all
    };
    let whole = read(Some(AT)).await;
    assert_eq!(whole.matches("\"status\":").count(), 4);
    assert!(
        whole.contains("\"fields\":null,\"context\":null"),
        "{whole}"
    );
    assert!(!whole.contains("\"text\":"), "{whole}");
    assert!(whole.contains("\"content\":null"), "a draft: {whole}");
    let of_people = ["marked_by", "abstained_by"].map(|name| format!("\"{name}\":"));
    let marks = whole
        .lines()
        .filter(|line| of_people.iter().any(|name| line.contains(name)));
    assert!(marks.clone().count() >= 3, "{whole}");
    for mark in marks {
        assert!(mark.contains("\"note\":null"), "{mark}");
    }
    let newer = read(Some("2026-05-04T09:00:00.124Z")).await;
    assert!(!newer.contains("\"status\":") && !newer.contains("\"actor_kind\""));
    assert!(newer.contains("\"slug\":\"odd\""), "{newer}");
}
