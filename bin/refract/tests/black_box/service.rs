//! A service for one test: a database, a model server, a key, a prism, and nodes.

use std::net::SocketAddr;
use std::path::Path;

use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use refract_test_support::postgres::{self, TestDatabase};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::{Answer, Request};
use crate::node::Node;
use crate::program::{self, Ended};

/// The example prism's file.
pub(crate) const PRISM_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.json"
);
/// The example lens's file.
pub(crate) const LENS_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/examples/support-triage.lens.json"
);
/// The slug of the example prism.
pub(crate) const PRISM: &str = "support-triage";
/// A text for the example prism.
pub(crate) const TEXT: &str = "Where is my order?";

/// The database of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

/// The parts of a service that tests choose.
pub(crate) struct Setup<'a> {
    /// The number of nodes to start.
    pub(crate) nodes: usize,
    pub(crate) script: Script,
    /// The nodes' settings besides database, model and addresses.
    pub(crate) settings: &'a [(&'a str, &'a str)],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            nodes: 1,
            script: Script::from(ScriptedReply::answers()),
            settings: &[],
        }
    }
}

/// A running service.
pub(crate) struct Service {
    // dropped first, since nodes use the other members
    pub(crate) nodes: Vec<Node>,
    pub(crate) model: ModelServer,
    /// The API key of the account `default`.
    pub(crate) key: String,
    pub(crate) key_id: String,
    pub(crate) prism_id: String,
    pub(crate) folder: TempDir,
    pub(crate) database_url: String,
    database: Option<TestDatabase>,
}

impl Service {
    /// Starts a service with one node and a model that answers.
    pub(crate) async fn start(backend: Backend) -> Self {
        Self::with(backend, Setup::default()).await
    }

    pub(crate) async fn with(backend: Backend, setup: Setup<'_>) -> Self {
        let database = match backend {
            Backend::Sqlite => None,
            Backend::Postgres => Some(postgres::fresh_database().await),
        };
        let url = database.as_ref().map(|database| database.url().to_owned());
        let service = Self::on(url, setup).await;
        Self {
            database,
            ..service
        }
    }

    /// Starts a service on this empty PostgreSQL database, or else on SQLite.
    pub(crate) async fn on(postgres_url: Option<String>, setup: Setup<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = || format!("sqlite://{}", folder.path().join("refract.db").display());
        let mut service = Self {
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
    pub(crate) async fn start_node(&mut self, settings: &[(&str, &str)]) {
        let url = self.model.url();
        let mut all = vec![
            ("DATABASE_URL", self.database_url.as_str()),
            ("REFRACT_MODEL_URL", url.as_str()),
            ("REFRACT_WORKERS", "2"),
            ("REFRACT_LOG_FORMAT", "json"),
        ];
        all.extend_from_slice(settings);
        let node = Node::start(self.folder.path(), &all).await;
        self.nodes.push(node);
    }

    /// The address of the first node's API.
    pub(crate) fn api(&self) -> SocketAddr {
        self.nodes[0].api
    }

    /// Runs a command on the service's database.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Ended {
        let url = self.model.url();
        let settings = [
            ("DATABASE_URL", self.database_url.as_str()),
            ("REFRACT_MODEL_URL", url.as_str()),
        ];
        program::run(self.folder.path(), &settings, arguments).await
    }

    /// Writes a file for a command and returns its path.
    pub(crate) fn file(&self, name: &str, content: &Value) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Creates a copy of the example prism under another name and returns its slug.
    pub(crate) async fn another_prism(&self, name: &str) -> String {
        let mut prism = example_prism();
        prism["name"] = json!(name);
        let file = self.file("another-prism.json", &prism);
        let made = self.run(&["prism", "create", &file]).await.object();
        text(&made, "slug")
    }

    /// Sends a request to the first node.
    pub(crate) async fn send(&self, request: Request) -> Answer {
        request.send(self.api()).await
    }

    /// Sends `POST /prisms/support-triage/results` with the key.
    pub(crate) async fn create(&self, body: &Value) -> Answer {
        self.send(self.create_request(PRISM, body)).await
    }

    pub(crate) fn create_request(&self, prism: &str, body: &Value) -> Request {
        Request::post(&format!("/prisms/{prism}/results"))
            .bearer(&self.key)
            .json(body)
    }

    /// Sends `GET /results/{id}` with the key; `query` begins with `?` or is empty.
    pub(crate) async fn read(&self, id: &str, query: &str) -> Answer {
        self.send(Request::get(&format!("/results/{id}{query}")).bearer(&self.key))
            .await
    }

    /// Sends `POST /results/{id}/retry` with the key.
    pub(crate) async fn retry(&self, id: &str) -> Answer {
        self.send(self.retry_request(id)).await
    }

    pub(crate) fn retry_request(&self, id: &str) -> Request {
        Request::post(&format!("/results/{id}/retry")).bearer(&self.key)
    }

    /// Makes a failed result with this body. The model answers again afterwards.
    pub(crate) async fn failed(&self, body: &Value) -> Answer {
        // a status that gets no second attempt
        self.model.then_once(ScriptedReply::status(400));
        let answer = self.create(body).await;
        assert_eq!(answer.status, 502, "{answer:?}");
        answer
    }

    /// Creates a result that is 40 days old, on PostgreSQL, where a test can change rows. On SQLite
    /// it does nothing.
    pub(crate) async fn create_old(&self, body: &Value) {
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
    pub(crate) async fn assert_in_no_table(&self, words: &str) {
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
    pub(crate) fn lose_database(&mut self) {
        drop(self.database.take().expect("it is on PostgreSQL"));
    }

    /// The exact number of results created with the key.
    pub(crate) async fn results_made(&self) -> usize {
        let keys = self.run(&["key", "list", "--json"]).await.lines();
        let ours = keys.iter().find(|key| key["id"] == *self.key_id).unwrap();
        let made = ours["results_made"].as_u64().unwrap();
        usize::try_from(made).unwrap()
    }

    /// The number of model requests that the model server has received.
    pub(crate) fn asked(&self) -> usize {
        self.model.counts().requests
    }
}

/// The example prism's file.
pub(crate) fn example_prism() -> Value {
    let file = std::fs::read(Path::new(PRISM_FILE)).unwrap();
    serde_json::from_slice(&file).unwrap()
}

/// The string under a key of a JSON object.
#[track_caller]
pub(crate) fn text(object: &Value, key: &str) -> String {
    object[key].as_str().expect(key).to_owned()
}
