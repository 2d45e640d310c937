//! File runs, checks and marks of a service, and the files that they read and write.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::Ended;
use crate::service::{Backend, PRISM, Service, Setup, text};

/// The scripted model answers billing 0.7, yes 0.8 and `can_wait` 0.7 to every text.
pub const GOLD: &str = "\
text,ref,expected_topic,expected_angry,expected_urgency
my secret text,r1,billing,yes,can_wait
another secret,r2,delivery,Yes,
third secret,,Billing,no,Today
";

/// A service without nodes.
pub async fn service(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

impl Service {
    /// Writes a file into the service's folder and returns its path.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs `refract run support-triage INPUT …`.
    pub async fn run_file(&self, input: &str, arguments: &[&str]) -> Ended {
        let mut all = vec!["run", PRISM, input];
        all.extend_from_slice(arguments);
        self.run(&all).await
    }

    /// The content of a file that a command wrote.
    pub fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// The names that contain `words`, of the files in the service's folder.
    pub fn files_named(&self, words: &str) -> Vec<String> {
        let entries = self.folder.path().read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains(words)).collect()
    }

    /// The texts that the model received, sorted.
    pub fn asked_texts(&self) -> Vec<String> {
        let requests = self.model.requests();
        let mut texts: Vec<_> = requests
            .iter()
            .map(|request| text(&request.json()["state"], "text"))
            .collect();
        texts.sort();
        texts
    }

    /// Answers a text for each of these refs and returns the ids of the results.
    pub async fn answered(&self, refs: &[&str]) -> Vec<String> {
        let rows = refs.iter().map(|reference| {
            let row = json!({"text": "Where is it?", "ref": reference});
            format!("{row}\n")
        });
        self.write("texts.jsonl", rows.collect::<String>());
        let name = self.results().await.len().to_string();
        let run = ["--format", "jsonl", "--name", &name, "--concurrency", "1"];
        let rows = self.run_file("texts.jsonl", &run).await.stdout;
        let rows = rows.lines().map(|row| serde_json::from_str(row).unwrap());
        rows.map(|row: Value| text(&row, "result_id")).collect()
    }

    /// All results of the prism, as `results export` writes them.
    pub async fn results(&self) -> Vec<Value> {
        let export = ["results", "export", PRISM, "--format", "jsonl"];
        self.run(&export).await.lines()
    }

    /// Writes a file of marks and imports it; returns what the command printed.
    pub async fn import(&self, name: &str, content: impl AsRef<[u8]>) -> Value {
        self.write(name, content);
        self.run(&["marks", "import", PRISM, name]).await.object()
    }

    /// The marks of the prism as `marks export` writes them.
    pub async fn marks(&self, format: &str) -> String {
        let export = ["marks", "export", PRISM, "--format", format];
        self.run(&export).await.done()
    }

    /// Runs `refract check support-triage GOLD …`.
    pub async fn check(&self, gold: &str, arguments: &[&str]) -> Ended {
        let mut all = vec!["check", PRISM, gold];
        all.extend_from_slice(arguments);
        self.run(&all).await
    }

    /// Writes a definition into the folder `prisms`.
    pub fn define(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.folder.path().join("prisms")).unwrap();
        self.write(&format!("prisms/{name}"), content);
    }
}

/// The `text` of every JSON line.
pub fn texts(lines: &str) -> Vec<String> {
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.map(|row: Value| text(&row, "text")).collect()
}

/// A CSV file with this many rows, each with a `ref`.
pub fn numbered(count: usize) -> String {
    let rows = (1..=count).map(|number| format!("row {number},{number}\n"));
    std::iter::once("text,ref\n".to_owned())
        .chain(rows)
        .collect()
}
