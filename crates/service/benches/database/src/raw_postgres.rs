//! Raw statements over `tokio-postgres`: prepared, over as many connections as the program's pool
//! has, with the statements of many callers pipelined on each.

use std::cell::Cell;
use std::hint::black_box;

use chrono::{DateTime, Utc};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};
use uuid::Uuid;

use crate::load::{Calls, Side, THREADS};
use crate::service::{POOL, Service, idempotency_key};
use crate::shapes::{self, CallKind, Template};

/// The raw side on PostgreSQL.
pub struct RawPostgres {
    url: String,
    hash: Vec<u8>,
    results: Vec<Uuid>,
}

impl RawPostgres {
    pub fn new(service: &Service) -> Self {
        Self {
            url: service.url().to_owned(),
            hash: service.api_key.hash().bytes().to_vec(),
            results: service.results.iter().map(|id| id.uuid()).collect(),
        }
    }
}

/// The connections of one thread.
pub struct PostgresCalls {
    connections: Vec<Prepared>,
    next: Cell<usize>,
    hash: Vec<u8>,
    results: Vec<Uuid>,
    template: Template<Uuid>,
}

/// A connection with its prepared statements.
struct Prepared {
    client: Client,
    read: Statement,
    before_create: Statement,
    create: Statement,
    replay: Statement,
}

impl Side for RawPostgres {
    type OfThread = PostgresCalls;

    async fn open(&self) -> anyhow::Result<PostgresCalls> {
        let mut connections = Vec::new();
        for _ in 0..POOL / THREADS {
            let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await?;
            tokio::spawn(connection);
            connections.push(Prepared {
                read: client.prepare(&shapes::read()).await?,
                before_create: client.prepare(&shapes::before_create()).await?,
                create: client.prepare(shapes::CREATE).await?,
                replay: client.prepare(&shapes::replay()).await?,
                client,
            });
        }
        let row = connections[0]
            .client
            .query_one(shapes::TEMPLATE, &[&self.results[0]])
            .await?;
        Ok(PostgresCalls {
            connections,
            next: Cell::new(0),
            hash: self.hash.clone(),
            results: self.results.clone(),
            template: Template {
                account: row.get(0),
                prism: row.get(1),
                api_key: row.get(2),
                answers: row.get(3),
                fields: row.get(4),
                protocol: row.get(5),
            },
        })
    }
}

impl Calls for PostgresCalls {
    async fn call(&self, kind: CallKind, number: usize) -> anyhow::Result<()> {
        self.next
            .set((self.next.get() + 1) % self.connections.len());
        let connection = &self.connections[self.next.get()];
        let client = &connection.client;
        match kind {
            CallKind::Read => {
                let id = self.results[number % self.results.len()];
                let row = client
                    .query_one(&connection.read, &[&self.hash, &id])
                    .await?;
                read_texts(&row);
            }
            CallKind::Create => {
                let parameters: [&(dyn ToSql + Sync); 2] = [&self.hash, &"bench"];
                black_box(
                    client
                        .query_one(&connection.before_create, &parameters)
                        .await?,
                );
                self.insert(connection).await?;
            }
            CallKind::Replay => {
                let key = idempotency_key(number);
                let parameters: [&(dyn ToSql + Sync); 3] = [&self.hash, &"bench", &key];
                read_texts(&client.query_one(&connection.replay, &parameters).await?);
            }
        }
        Ok(())
    }
}

fn read_texts(row: &Row) {
    let answers: &str = row.get("answers");
    let fields: &str = row.get("fields");
    black_box((answers, fields));
}

impl PostgresCalls {
    async fn insert(&self, connection: &Prepared) -> anyhow::Result<()> {
        let template = &self.template;
        let (no_text, no_id): (Option<&str>, Option<Uuid>) = (None, None);
        let (no_number, no_tokens): (Option<i32>, Option<i64>) = (None, None);
        let now: DateTime<Utc> = Utc::now();
        let parameters: [&(dyn ToSql + Sync); 22] = [
            &Uuid::now_v7(),
            &template.account,
            &template.prism,
            &1_i32,
            &template.api_key,
            &no_text,
            &no_text,
            &"ok",
            &template.answers,
            &no_text,
            &template.fields,
            &no_text,
            &0_i64,
            &now,
            &no_id,
            &template.protocol,
            &no_text,
            &no_number,
            &no_tokens,
            &no_tokens,
            &1_i64,
            &1_i64,
        ];
        let inserted = connection
            .client
            .execute(&connection.create, &parameters)
            .await?;
        anyhow::ensure!(inserted == 1, "nothing was inserted");
        Ok(())
    }
}
