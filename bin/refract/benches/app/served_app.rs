//! A node of the binary, and a connection that reads its pages like a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};
use serde_json::Value;
use tempfile::TempDir;

use crate::filling::FilledDatabase;

/// A node that serves the app on a filled database, and a connection to it.
pub(crate) struct ServedApp {
    child: Child,
    address: String,
    cookie: String,
    connection: BufReader<TcpStream>,
    _model: ModelServer,
    _folder: TempDir,
}

/// A page as received.
pub(crate) struct SentPage {
    pub(crate) body: String,
    /// From the first byte of the request to the last byte of the page.
    pub(crate) took: Duration,
}

impl ServedApp {
    /// Starts a node and waits until it listens.
    pub(crate) fn start(database: &FilledDatabase) -> Self {
        let model = ModelServer::start(Script::from(ScriptedReply::body("{}")));
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_refract"))
            .arg("serve")
            .env_clear()
            .env("DATABASE_URL", &database.url)
            .env("REFRACT_MODEL_URL", model.url())
            .env("REFRACT_LISTEN", "127.0.0.1:0")
            .env("REFRACT_OPS_LISTEN", "off")
            .env("REFRACT_APP_LISTEN", "127.0.0.1:0")
            .env("REFRACT_LOG_FORMAT", "json")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = log.find_map(|line| {
            let line: Value = serde_json::from_str(&line.ok()?).ok()?;
            Some(line["app"].as_str()?.to_owned())
        });
        std::thread::spawn(move || log.for_each(drop));
        let address = address.expect("the node listens");
        let stream = TcpStream::connect(&address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            child,
            address,
            cookie: format!("refract={}", database.token.reveal()),
            connection: BufReader::new(stream),
            _model: model,
            _folder: folder,
        }
    }

    /// The full address of a path.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Reads a page, which must exist.
    pub(crate) fn page(&mut self, path: &str) -> SentPage {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n",
            self.address, self.cookie
        );
        let began = Instant::now();
        self.connection
            .get_mut()
            .write_all(request.as_bytes())
            .unwrap();
        let mut line = String::new();
        self.connection.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200"), "{path}: {line}");
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            self.connection.read_line(&mut line).unwrap();
            let line = line.to_ascii_lowercase();
            assert!(!line.starts_with("content-encoding"), "{path}: {line}");
            if let Some(text) = line.strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body).unwrap();
        let took = began.elapsed();
        let body = String::from_utf8(body).unwrap();
        SentPage { body, took }
    }
}

impl Drop for ServedApp {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
