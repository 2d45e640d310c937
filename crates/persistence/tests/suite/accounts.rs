//! Accounts.

use refract_domain::ids::AccountId;
use refract_persistence::{AccountRow, CreateOutcome, DEFAULT_ACCOUNT};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, moment, new_stamp};

on_both!(
    an_account_is_found_by_its_name,
    a_name_is_taken_once,
    the_default_account_is_made_once,
);

fn row(name: &str) -> AccountRow {
    AccountRow {
        id: AccountId::new(Uuid::now_v7()),
        name: name.to_owned(),
        created_at: moment(7),
    }
}

async fn create(it: &Fixture, row: &AccountRow) -> CreateOutcome {
    let made = new_stamp(row.id, 7);
    it.database.create_account(row, made).await.unwrap()
}

async fn an_account_is_found_by_its_name(it: Fixture) {
    let row = row("Ünïcode & 'quotes'");
    assert_eq!(create(&it, &row).await, CreateOutcome::Created);
    assert_eq!(
        it.database.find_account(&row.name).await.unwrap(),
        Some(row.clone())
    );
    assert_eq!(it.database.find_account("tests ").await.unwrap(), None);
    let listed = it.database.list_accounts().await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&row));
}

async fn a_name_is_taken_once(it: Fixture) {
    assert_eq!(create(&it, &row("two")).await, CreateOutcome::Created);
    assert_eq!(create(&it, &row("two")).await, CreateOutcome::NameTaken);
    assert_eq!(it.database.list_accounts().await.unwrap().len(), 2);
}

async fn the_default_account_is_made_once(it: Fixture) {
    let create = || {
        let database = it.database.clone();
        let id = AccountId::new(Uuid::now_v7());
        let made = new_stamp(id, 0);
        tokio::spawn(async move { database.find_or_create_default_account(made).await })
    };
    let creations: Vec<_> = (0..8).map(|_| create()).collect();
    let mut made = Vec::new();
    for creation in creations {
        made.push(creation.await.unwrap().unwrap());
    }
    made.dedup();
    let found = it
        .database
        .find_account(DEFAULT_ACCOUNT)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(made, [found]);
}
