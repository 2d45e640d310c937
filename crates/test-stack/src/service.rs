//! A service for one test: a database, a model server, a key, a prism, and nodes.

use std::net::SocketAddr;
use std::path::Path;

use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::postgres::{self, TestDatabase};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Request;
use crate::http::answer::HttpAnswer;
use crate::node::Node;
use crate::program::{self, Ended, Runner};

/// The example prism's file.
pub const PRISM_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.json"
);
/// The example lens's file.
pub const LENS_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.lens.json"
);
/// The slug of the example prism.
pub const PRISM: &str = "support-triage";
/// A text for the example prism.
pub const TEXT: &str = "Where is my order?";

pub use refract_test_support::backend::Backend;

/// Options of a service, chosen by each test.
#[derive(Debug)]
pub struct Setup<'a> {
    /// How nodes and commands are run.
    pub runner: Runner,
    /// The number of nodes to start.
    pub nodes: usize,
    /// The replies of the model server.
    pub script: Script,
    /// The nodes' settings besides database, model and addresses.
    pub settings: &'a [(&'a str, &'a str)],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            runner: Runner::InProcess,
            nodes: 1,
            script: Script::from(ScriptedReply::answers()),
            settings: &[],
        }
    }
}

/// A running service.
#[derive(Debug)]
pub struct Service {
    runner: Runner,
    // dropped first, since nodes use the other members
    /// The running nodes.
    pub nodes: Vec<Node>,
    /// The scripted model server.
    pub model: ModelServer,
    /// The API key of the account `default`.
    pub key: String,
    /// The id of the key.
    pub key_id: String,
    /// The id of the example prism.
    pub prism_id: String,
    /// The folder of the service's files.
    pub folder: TempDir,
    /// The address of the database.
    pub database_url: String,
    database: Option<TestDatabase>,
}

impl Service {
    /// Starts a service with one node and a model that answers.
    pub async fn start(backend: Backend) -> Self {
        Self::with(backend, Setup::default()).await
    }

    /// Starts a service with these parts.
    pub async fn with(backend: Backend, setup: Setup<'_>) -> Self {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(postgres::migrated_database(migrate).await),
        };
        let url = database.as_ref().map(|database| database.url().to_owned());
        let service = Self::over(url, setup).await;
        Self {
            database,
            ..service
        }
    }

    /// Starts a service on this PostgreSQL database, which may be empty, or else on SQLite.
    pub async fn on(postgres_url: Option<String>, setup: Setup<'_>) -> Self {
        if let Some(url) = &postgres_url {
            migrate(url).await;
        }
        Self::over(postgres_url, setup).await
    }

    async fn over(postgres_url: Option<String>, setup: Setup<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = || format!("sqlite://{}", folder.path().join("refract.db").display());
        let mut service = Self {
            runner: setup.runner,
            nodes: Vec::new(),
            model: ModelServer::start(setup.script),
            key: String::new(),
            key_id: String::new(),
            prism_id: String::new(),
            database_url: postgres_url.unwrap_or_else(file),
            folder,
            database: None,
        };
        let key = service.run(&["key", "create"]).await.object();
        service.key = text(&key, "key");
        service.key_id = text(&key, "id");
        let prism = service.run(&["prism", "create", PRISM_FILE]).await.object();
        service.prism_id = text(&prism, "id");
        for _ in 0..setup.nodes {
            service.start_node(setup.settings).await;
        }
        service
    }

    /// Starts one more node.
    pub async fn start_node(&mut self, settings: &[(&str, &str)]) {
        let url = self.model.url();
        let mut all = vec![
            ("DATABASE_URL", self.database_url.as_str()),
            ("REFRACT_MODEL_URL", url.as_str()),
            ("REFRACT_WORKERS", "2"),
            ("REFRACT_LOG_FORMAT", "json"),
        ];
        all.extend_from_slice(settings);
        let node = Node::start(self.runner, self.folder.path(), &all).await;
        self.nodes.push(node);
    }

    /// The address of the first node's API.
    pub fn api(&self) -> SocketAddr {
        self.nodes[0].api
    }

    /// Runs a command on the service's database.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with_input(arguments, b"").await
    }

    /// Runs a command on the service's database, with these bytes as stdin.
    pub async fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ended {
        let url = self.model.url();
        let settings = [
            ("DATABASE_URL", self.database_url.as_str()),
            ("REFRACT_MODEL_URL", url.as_str()),
        ];
        let folder = self.folder.path();
        let runner = self.runner;
        runner
            .run_with_input(folder, &settings, arguments, input)
            .await
    }

    /// Writes a file for a command and returns its path.
    pub fn file(&self, name: &str, content: &Value) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Creates a copy of the example prism under another name and returns its slug.
    pub async fn another_prism(&self, name: &str) -> String {
        let mut prism = example_prism();
        prism["name"] = json!(name);
        let file = self.file("another-prism.json", &prism);
        let made = self.run(&["prism", "create", &file]).await.object();
        text(&made, "slug")
    }

    /// Sends a request to the first node.
    pub async fn send(&self, request: Request) -> HttpAnswer {
        request.send(self.api()).await
    }

    /// Sends `POST /prisms/support-triage/results` with the key.
    pub async fn create(&self, body: &Value) -> HttpAnswer {
        self.send(self.create_request(PRISM, body)).await
    }

    /// The request `POST /prisms/{prism}/results` with the key.
    pub fn create_request(&self, prism: &str, body: &Value) -> Request {
        Request::post(&format!("/prisms/{prism}/results"))
            .bearer(&self.key)
            .json(body)
    }

    /// Sends `GET /results/{id}` with the key; `query` begins with `?` or is empty.
    pub async fn read(&self, id: &str, query: &str) -> HttpAnswer {
        self.send(Request::get(&format!("/results/{id}{query}")).bearer(&self.key))
            .await
    }

    /// Sends `POST /results/{id}/retry` with the key.
    pub async fn retry(&self, id: &str) -> HttpAnswer {
        self.send(self.retry_request(id)).await
    }

    /// The request `POST /results/{id}/retry` with the key.
    pub fn retry_request(&self, id: &str) -> Request {
        Request::post(&format!("/results/{id}/retry")).bearer(&self.key)
    }

    /// Makes a failed result with this body. The model answers again afterwards.
    pub async fn failed(&self, body: &Value) -> HttpAnswer {
        // a status that gets no second attempt
        self.model.then_once(ScriptedReply::status(400));
        let answer = self.create(body).await;
        assert_eq!(answer.status, 502, "{answer:?}");
        answer
    }

    /// Creates a result that is 40 days old, on PostgreSQL, where a test can change rows. On SQLite
    /// it does nothing.
    pub async fn create_old(&self, body: &Value) {
        let Some(database) = &self.database else {
            return;
        };
        let made = text(&self.create(body).await.value(), "id");
        let older = "UPDATE results SET created_at = created_at - interval '40 days'";
        database
            .execute(&format!("{older} WHERE id = '{made}'"))
            .await;
    }

    /// Fails if a row of any table of the PostgreSQL database contains a text.
    pub async fn assert_in_no_table(&self, words: &str) {
        let database = self.database.as_ref().expect("it is on PostgreSQL");
        let search = format!(
            "DO $$
            DECLARE
                name text;
                found bigint;
            BEGIN
                FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                    EXECUTE format('SELECT count(*) FROM %I AS row WHERE row::text LIKE %L',
                        name, '%{words}%') INTO found;
                    IF found > 0 THEN
                        RAISE EXCEPTION '% rows of % have it', found, name;
                    END IF;
                END LOOP;
            END $$"
        );
        database.execute(&search).await;
    }

    /// Drops the PostgreSQL database while nodes use it.
    pub fn lose_database(&mut self) {
        drop(self.database.take().expect("it is on PostgreSQL"));
    }

    /// The exact number of results created with the key.
    pub async fn results_made(&self) -> usize {
        let keys = self.run(&["key", "list", "--json"]).await.lines();
        let ours = keys.iter().find(|key| key["id"] == *self.key_id).unwrap();
        let made = ours["results_made"].as_u64().unwrap();
        usize::try_from(made).unwrap()
    }

    /// The number of model requests that the model server has received.
    pub fn asked(&self) -> usize {
        self.model.counts().requests
    }
}

/// Runs all migrations on a database.
async fn migrate(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", url)];
    let migrated = program::run(folder.path(), &settings, &["migrate"]).await;
    migrated.done();
}

/// All events, newest first.
pub async fn events(service: &Service) -> Vec<Value> {
    service.run(&["events", "--json"]).await.lines()
}

/// The example prism's file.
pub fn example_prism() -> Value {
    let file = std::fs::read(Path::new(PRISM_FILE)).unwrap();
    serde_json::from_slice(&file).unwrap()
}

/// The string under a key of a JSON object.
#[track_caller]
pub fn text(object: &Value, key: &str) -> String {
    object[key].as_str().expect(key).to_owned()
}
