//! A real `OpenID Connect` provider for tests of sign-on: npm's certified `oidc-provider`, which signs
//! in without asking the person whom a test names.
//!
//! `make test` and `.ci/with-provider` install it and set the variable with its folder. A test first
//! asks [`TestProvider::available`] and returns early without it. `provider.mjs` says what a test may
//! steer.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test whose provider cannot be used fails here with the reason"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The id of the client at every provider.
pub const CLIENT_ID: &str = "refract";
/// The first secret of the client.
pub const CLIENT_SECRET: &str = "the secret of the client";
/// The most redirects between a provider's pages.
const MOST_STEPS: usize = 10;
/// How long a provider may take to start, and how often it is started: Node sometimes hangs while it
/// starts.
const START: Duration = Duration::from_mins(1);
const STARTS: usize = 3;

/// A running provider on loopback, killed when this value is dropped.
#[derive(Debug)]
pub struct TestProvider {
    /// The issuer.
    pub issuer: String,
    _process: Child,
}

/// An answer of the provider.
struct ProviderPage {
    status: u16,
    headers: Vec<(String, String)>,
}

impl TestProvider {
    /// Whether the variable names a provider, so that [`TestProvider::start`] works.
    pub fn available() -> bool {
        folder().is_some()
    }

    /// Starts a provider, which signs in Ada (`ada@example.com`, verified).
    ///
    /// # Panics
    ///
    /// When no provider is available, and when it does not start.
    pub async fn start() -> Self {
        for _ in 0..STARTS {
            if let Ok(started) = timeout(START, Self::start_once()).await {
                return started;
            }
        }
        panic!("the provider did not start within {START:?}, {STARTS} times");
    }

    async fn start_once() -> Self {
        let folder = folder().expect("REFRACT_TEST_PROVIDER names the provider");
        let mut process = Command::new("node")
            .arg("provider.mjs")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Node starts");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let line = lines.next_line().await.expect("a line").expect("a line");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let issuer = line["issuer"].as_str().expect("an issuer").to_owned();
        Self {
            issuer,
            _process: process,
        }
    }

    /// Sets the addresses to which the provider may send people of the app at `app` back.
    pub async fn serves(&self, app: &str) {
        let client = json!({
            "redirects": [format!("{app}/sign-on/callback")],
            "signedOut": [format!("{app}/sign-in")],
        });
        self.steer("client", &client).await;
    }

    /// Signs in this person from now on, about whom the claims are said.
    pub async fn knows(&self, subject: &str, claims: &Value) {
        let account = json!({ "sub": subject, "claims": claims });
        self.steer("account", &account).await;
    }

    /// Steers what `provider.mjs` lists.
    ///
    /// # Panics
    ///
    /// When the provider does not take it.
    pub async fn steer(&self, what: &str, value: &Value) {
        let page = self
            .send("POST", &format!("/test/{what}"), "", &value.to_string())
            .await;
        assert_eq!(page.status, 200, "{what}");
    }

    /// Goes where a browser goes that is sent to this address of the provider, until it is sent to
    /// another host, and returns that address.
    ///
    /// # Panics
    ///
    /// When a page of the provider leads nowhere.
    pub async fn walk(&self, address: &str) -> String {
        let mut cookies = BTreeMap::new();
        let mut address = address.to_owned();
        for _ in 0..MOST_STEPS {
            let Some(path) = address.strip_prefix(&self.issuer) else {
                return address;
            };
            let pairs: Vec<_> = cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let page = self.send("GET", path, &pairs.join("; "), "").await;
            for (_, set) in page.headers.iter().filter(|(name, _)| name == "set-cookie") {
                let pair = set.split(';').next().unwrap_or_default();
                let (name, value) = pair.split_once('=').expect("a cookie");
                cookies.insert(name.to_owned(), value.to_owned());
            }
            let location = page.headers.iter().find(|(name, _)| name == "location");
            let (_, location) = location.unwrap_or_else(|| panic!("{path}: {}", page.status));
            address = if location.starts_with('/') {
                format!("{}{location}", self.issuer)
            } else {
                location.clone()
            };
        }
        panic!("the provider goes round in circles");
    }

    async fn send(&self, method: &str, path: &str, cookie: &str, body: &str) -> ProviderPage {
        let host = self.issuer.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host)
            .await
            .expect("the provider listens");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {cookie}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("read");
        let (head, _) = answer.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines.filter_map(|line| line.split_once(": "));
        ProviderPage {
            status: status.expect("a status").parse().expect("a number"),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
        }
    }
}

fn folder() -> Option<OsString> {
    std::env::var_os("REFRACT_TEST_PROVIDER").filter(|folder| !folder.is_empty())
}
