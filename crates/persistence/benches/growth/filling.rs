//! Databases with many results in them.

use std::path::Path;

use chrono::Utc;
use diesel::connection::SimpleConnection as _;
use diesel::{Connection as _, SqliteConnection};
use refract_domain::api_key::ApiKeyHash;
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::prism::{Definition, PrismName};
use refract_domain::slug::Slug;
use refract_persistence::{AccountRow, Database, NewApiKey, NewPrism, PrismRow};
use refract_test_support::cluster::Cluster;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::callers::Callers;

/// The moment of the first result, in milliseconds since 1970; one more comes every 10 ms.
const BEGIN: u64 = 1_700_000_000_000;

const WARM_UP: &str = "CREATE EXTENSION pg_prewarm;
    SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'results%' AND relkind IN ('r', 'i')";

/// A database with many results.
pub(crate) struct Filled {
    pub(crate) database: Database,
    /// Who reads and inserts.
    pub(crate) callers: Callers,
    pub(crate) account: AccountId,
    pub(crate) key: NewApiKey,
    pub(crate) prism: PrismRow,
    pub(crate) results: u64,
    /// The process whose children serve the connections, unless the file is opened here.
    pub(crate) server: Option<u32>,
    /// On disk, indexes included.
    pub(crate) bytes_per_result: u64,
}

impl Filled {
    pub(crate) async fn postgres(cluster: &Cluster, results: u64) -> Self {
        let client = connect(&cluster.url()).await;
        let name = format!("growth_{results}");
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .await
            .unwrap();
        let url = cluster.url().replace("/postgres?", &format!("/{name}?"));
        let database = crate::open(url.clone()).await;
        let mut filled = Self::empty(database, results).await;
        let client = connect(&url).await;
        let id = "(lpad(to_hex(MS), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid";
        let id = id.replace("MS", &format!("({BEGIN} + n * 10)"));
        let moment = format!("to_timestamp(({BEGIN} + n * 10) / 1000.0)");
        let uuid = |id: Uuid| format!("'{id}'");
        let rows = format!("generate_series(0::bigint, {results} - 1) AS series (n)");
        client
            .batch_execute(&filled.insert(&id, &moment, uuid, &rows))
            .await
            .unwrap();
        // as it is after a while of use: in order, on the disk, and in the server's memory
        for settle in ["VACUUM ANALYZE", "CHECKPOINT", WARM_UP] {
            client.batch_execute(settle).await.unwrap();
        }
        let size = client
            .query_one("SELECT pg_total_relation_size('results')", &[])
            .await;
        let size: i64 = size.unwrap().get(0);
        filled.server = Some(cluster.process_id());
        filled.bytes_per_result = u64::try_from(size).unwrap() / results;
        filled
    }

    pub(crate) async fn sqlite(folder: &Path, results: u64) -> Self {
        let path = folder.join(format!("growth-{results}.db"));
        let database = crate::open(format!("sqlite://{}", path.display())).await;
        let mut filled = Self::empty(database, results).await;
        let id = format!("unhex(printf('%012x70008000%012x', {BEGIN} + n * 10, n))");
        let moment = format!("{BEGIN} + n * 10");
        let uuid = |id: Uuid| format!("x'{}'", id.simple());
        let rows = format!(
            "(WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series
              WHERE n < {results} - 1) SELECT n FROM series) AS series"
        );
        let sql = filled.insert(&id, &moment, uuid, &rows);
        let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
        let tidy_up = "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);";
        connection
            .batch_execute(&format!("{sql}; {tidy_up}"))
            .unwrap();
        filled.bytes_per_result = path.metadata().unwrap().len() / results;
        filled
    }

    /// The id of one of the results.
    pub(crate) fn id(&self, number: u64) -> ResultId {
        let number = number % self.results;
        let high = u128::from(BEGIN + number * 10) << 80;
        ResultId(Uuid::from_u128(
            high | 0x7000_8000 << 48 | u128::from(number),
        ))
    }

    /// An account with a key and a prism.
    async fn empty(database: Database, results: u64) -> Self {
        let (account, now) = (AccountId(Uuid::now_v7()), Utc::now());
        let row = AccountRow {
            id: account,
            name: "growth".to_owned(),
            created_at: now,
        };
        database.create_account(&row).await.unwrap();
        let key = NewApiKey {
            id: ApiKeyId(Uuid::now_v7()),
            account,
            name: "growth".to_owned(),
            hash: ApiKeyHash([1; 32]),
            first_characters: "rk_abcd".to_owned(),
            created_at: now,
        };
        database.create_api_key(&key).await.unwrap();
        let name = PrismName::parse("Growth").unwrap();
        let new = NewPrism {
            id: refract_domain::ids::PrismId(Uuid::now_v7()),
            name: &name,
            slugs: Slug::candidates("growth"),
            definition: &definition(),
            now,
        };
        let prism = database.create_prism(account, new).await.unwrap();
        Self {
            callers: Callers::new(&database),
            database,
            account,
            key,
            prism,
            results,
            server: None,
            bytes_per_result: 0,
        }
    }

    /// The statement that makes the results; every other one has an idempotency key.
    fn insert(&self, id: &str, moment: &str, uuid: fn(Uuid) -> String, rows: &str) -> String {
        let [account, prism, key] = [self.account.0, self.prism.id.0, self.key.id.0].map(uuid);
        include_str!("results.sql")
            .replace("{id}", id)
            .replace("{account}", &account)
            .replace("{prism}", &prism)
            .replace("{key}", &key)
            .replace("{moment}", moment)
            .replace("{rows}", rows)
    }
}

/// The example prism, as far as reading needs it.
fn definition() -> Definition {
    let json = serde_json::json!({
        "fields": [{"key": "text", "label": "Message"}],
        "context": null,
        "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}],
    });
    serde_json::from_value(json).unwrap()
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
