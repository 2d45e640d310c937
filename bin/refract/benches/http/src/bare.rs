//! Bare handlers, which do the minimum for a read (a row by primary key) and a create (a model
//! request and an insert). Each exists three times: with connections leased from a pool; with one
//! pipelined connection per worker; and with all exchanges of an API call, which adds a look-up
//! before the model request, and a log line.

use std::fs::File;
use std::io::Write as _;

use actix_web::{App, HttpResponse, HttpServer, error, rt, web};
use deadpool_postgres::{Config, Pool, Runtime};
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

const SELECT: &str = "SELECT body FROM bare WHERE id = $1";
const INSERT: &str = "INSERT INTO bare VALUES ($1, $2)";
const WORKERS: usize = 2;
/// Leased connections per worker; two workers have the 16 connections of a node's default pool.
const LEASES: usize = 8;

struct BareWorker {
    client: Client,
    select: Statement,
    insert: Statement,
    pool: Pool,
    http: awc::Client,
    model: String,
    log: File,
}

/// Serves on the address in `LISTEN`, with the database in `DATABASE_URL`.
pub fn serve(model: &str) -> anyhow::Result<()> {
    let listen = std::env::var("LISTEN")?;
    let database = std::env::var("DATABASE_URL")?;
    let model = model.to_owned();
    rt::System::new().block_on(async move {
        connect(&database)
            .await?
            .batch_execute("CREATE TABLE IF NOT EXISTS bare (id uuid PRIMARY KEY, body text)")
            .await?;
        let server = HttpServer::new(move || {
            let (database, model) = (database.clone(), model.clone());
            App::new()
                .data_factory(move || BareWorker::new(database.clone(), model.clone()))
                .route("/rows", web::post().to(insert_pipelined))
                .route("/leased/{id}", web::get().to(read_leased))
                .route("/pipelined/{id}", web::get().to(read_pipelined))
                .route("/leased", web::post().to(create_leased))
                .route("/pipelined", web::post().to(create_pipelined))
                .route("/whole/{id}", web::get().to(read_whole))
                .route("/whole/{id}", web::post().to(create_whole))
        });
        server
            .workers(WORKERS)
            .backlog(8192)
            .bind(listen)?
            .run()
            .await?;
        Ok(())
    })
}

impl BareWorker {
    async fn new(database: String, model: String) -> anyhow::Result<Self> {
        let client = connect(&database).await?;
        let mut config = Config::new();
        config.url = Some(database);
        config.pool = Some(deadpool_postgres::PoolConfig::new(LEASES));
        Ok(Self {
            select: client.prepare(SELECT).await?,
            insert: client.prepare(INSERT).await?,
            client,
            pool: config
                .create_pool(Some(Runtime::Tokio1), NoTls)
                .expect("a pool"),
            // no limit: every call has its own connection to the model
            http: awc::Client::builder()
                .connector(awc::Connector::new().limit(0))
                .disable_timeout()
                .finish(),
            model,
            log: tempfile::tempfile()?,
        })
    }

    async fn ask(&self, text: String) -> actix_web::Result<String> {
        let request = self.http.post(&self.model).content_type("application/json");
        let mut answer = request
            .send_body(text)
            .await
            .map_err(error::ErrorBadGateway)?;
        let body = answer.body().await?;
        String::from_utf8(body.to_vec()).map_err(error::ErrorBadGateway)
    }
}

/// A log line as long as a node's.
const LINE: [u8; 256] = [b'x'; 256];

async fn connect(database: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(database, NoTls).await?;
    rt::spawn(connection);
    Ok(client)
}

async fn read_leased(
    id: web::Path<Uuid>,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    let client = worker
        .pool
        .get()
        .await
        .map_err(error::ErrorInternalServerError)?;
    let select = client
        .prepare_cached(SELECT)
        .await
        .map_err(error::ErrorInternalServerError)?;
    let row = client
        .query_one(&select, &[&*id])
        .await
        .map_err(error::ErrorInternalServerError)?;
    Ok(json(row.get(0)))
}

async fn read_pipelined(
    id: web::Path<Uuid>,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    let row = worker.client.query_one(&worker.select, &[&*id]).await;
    Ok(json(row.map_err(error::ErrorInternalServerError)?.get(0)))
}

async fn create_leased(
    text: String,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    let answer = worker.ask(text).await?;
    let client = worker
        .pool
        .get()
        .await
        .map_err(error::ErrorInternalServerError)?;
    let insert = client
        .prepare_cached(INSERT)
        .await
        .map_err(error::ErrorInternalServerError)?;
    client
        .execute(&insert, &[&Uuid::now_v7(), &answer])
        .await
        .map_err(error::ErrorInternalServerError)?;
    Ok(json(answer))
}

async fn create_pipelined(
    text: String,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    let answer = worker.ask(text).await?;
    insert_pipelined(answer.clone(), worker).await?;
    Ok(json(answer))
}

async fn read_whole(
    id: web::Path<Uuid>,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    let answer = read_pipelined(id, worker.clone()).await;
    (&worker.log).write_all(&LINE)?;
    answer
}

async fn create_whole(
    id: web::Path<Uuid>,
    text: String,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<HttpResponse> {
    read_pipelined(id, worker.clone()).await?;
    let answer = create_pipelined(text, worker.clone()).await;
    (&worker.log).write_all(&LINE)?;
    answer
}

async fn insert_pipelined(
    body: String,
    worker: web::Data<BareWorker>,
) -> actix_web::Result<String> {
    let id = Uuid::now_v7();
    let inserted = worker.client.execute(&worker.insert, &[&id, &body]).await;
    inserted.map_err(error::ErrorInternalServerError)?;
    Ok(id.to_string())
}

fn json(body: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(body)
}
