//! A node of Refract with one prism and one key.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::load::Call;
use crate::process::ServerProcess;

/// A prism with one question of every type, which [`model`](crate::model) answers.
const PRISM: &str = include_str!("../../../../../docs/examples/support-triage.json");

/// `refract serve` on a database with one prism and one key.
pub struct Node {
    server: ServerProcess,
    binary: PathBuf,
    database: String,
    slug: String,
    key: String,
    _folder: TempDir,
}

impl Node {
    pub fn start(
        binary: &Path,
        database: &str,
        model: &str,
        concurrency: usize,
    ) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        std::fs::write(folder.path().join("prism.json"), PRISM)?;
        let settings = [
            ("DATABASE_URL", database.to_owned()),
            ("REFRACT_MODEL_URL", model.to_owned()),
            (
                "REFRACT_MODEL_CONCURRENCY",
                concurrency.max(1024).to_string(),
            ),
            ("REFRACT_MODEL_TIMEOUT_MS", "60000".to_owned()),
            ("REFRACT_WORKERS", "2".to_owned()),
        ];
        let run = |arguments: &[&str]| -> anyhow::Result<Value> {
            let mut command = Command::new(binary);
            let output = command
                .args(arguments)
                .current_dir(folder.path())
                .envs(settings.clone())
                .output()?;
            if !output.status.success() {
                bail!(
                    "refract {arguments:?}: {}",
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            Ok(serde_json::from_slice(&output.stdout)?)
        };
        let text = |value: &Value, key: &str| -> anyhow::Result<String> {
            Ok(value[key]
                .as_str()
                .context("a command's output lacks a key")?
                .to_owned())
        };
        run(&["migrate", "--json"])?;
        let slug = text(&run(&["prism", "create", "prism.json"])?, "slug")?;
        let key = text(&run(&["key", "create"])?, "key")?;
        let server = ServerProcess::start_refract(binary, folder.path(), &settings)?;
        Ok(Self {
            server,
            binary: binary.to_owned(),
            database: database.to_owned(),
            slug,
            key,
            _folder: folder,
        })
    }

    pub fn server(&self) -> &ServerProcess {
        &self.server
    }

    pub fn create_path(&self) -> String {
        format!("/v1/prisms/{}/results", self.slug)
    }

    /// The body of a create call: a text of 1,000 characters.
    pub fn call_body(&self) -> String {
        let text = "Where is my order? I have been waiting for two weeks and nobody answers. ";
        json!({ "text": text.repeat(14)[..1000] }).to_string()
    }

    pub fn authorization(&self) -> String {
        format!("Authorization: Bearer {}", self.key)
    }

    pub fn authorized(&self, call: Call) -> Call {
        call.header(self.authorization())
    }

    /// Exports the prism's results since a moment in RFC 3339 and discards the rows. Returns the
    /// duration of the command.
    pub fn export(&self, since: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        let status = Command::new(&self.binary)
            .args(["results", "export", &self.slug, "--format", "jsonl"])
            .args(["--since", since])
            .env("DATABASE_URL", &self.database)
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "refract results export: {status}");
        Ok(begun.elapsed())
    }

    /// Creates a result and returns its id.
    pub fn create_result(&self) -> anyhow::Result<String> {
        let headers = format!("{}\r\n", self.authorization());
        let body = self
            .server
            .send("POST", &self.create_path(), &headers, &self.call_body())?;
        let result: Value = serde_json::from_str(&body)?;
        Ok(result["id"].as_str().context("no id")?.to_owned())
    }

    /// Reads a result as JSON.
    pub fn read(&self, id: &str) -> anyhow::Result<String> {
        let headers = format!("{}\r\n", self.authorization());
        self.server
            .send("GET", &format!("/v1/results/{id}"), &headers, "")
    }
}
