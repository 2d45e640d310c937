//! A migrated database with an account.

use std::any::Any;

use refract_domain::event::Actor;
use refract_domain::ids::AccountId;
use refract_identity::Identity;
use refract_identity::events::event_stamp;
use refract_persistence::{AccountRow, Database, DatabaseSettings};
use refract_test_support::backend::Backend;
use refract_test_support::postgres;
use tokio::runtime::Handle;
use uuid::Uuid;

pub(crate) struct Fixture {
    pub(crate) database: Database,
    /// The use cases over the database.
    pub(crate) identity: Identity,
    pub(crate) account: AccountId,
    /// Keeps the database in existence until it is dropped.
    _keeper: Box<dyn Any + Send + Sync>,
}

impl Fixture {
    pub(crate) async fn on(backend: Backend) -> Self {
        match backend {
            Backend::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite://{}", folder.path().join("refract.db").display());
                Self::over(&url, folder).await
            }
            Backend::Postgres => {
                let server = postgres::migrated_database(async |url| {
                    connect(url).await.migrate().await.unwrap();
                });
                let server = server.await;
                let url = server.url().to_owned();
                Self::over(&url, server).await
            }
        }
    }

    async fn over(url: &str, keeper: impl Any + Send + Sync) -> Self {
        let database = connect(url).await;
        database.migrate().await.unwrap();
        Self {
            account: account(&database).await,
            identity: Identity::new(database.clone()),
            database,
            _keeper: Box::new(keeper),
        }
    }
}

async fn connect(url: &str) -> Database {
    let settings = DatabaseSettings {
        url: url.into(),
        pool: 8,
    };
    let connecting = Database::connect(&settings, Handle::current());
    connecting.await.unwrap()
}

/// A new account, named by its id.
pub(crate) async fn account(database: &Database) -> AccountId {
    let id = AccountId::new(Uuid::now_v7());
    let made = event_stamp(id, Actor::Operator, None);
    let row = AccountRow {
        id,
        name: id.to_string(),
        created_at: made.at,
    };
    database.create_account(&row, made).await.unwrap();
    id
}
