//! Load from `wrk`, and its cost on the servers.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tempfile::NamedTempFile;

use crate::process::{ServerProcess, cpu_seconds, cpu_seconds_of};

/// A repeated request.
pub struct Call {
    url: String,
    pid: u32,
    headers: Vec<String>,
    script: Option<NamedTempFile>,
}

/// The measurements of one round of load.
pub struct Measured {
    pub per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// The server's processor time per request.
    pub cpu_seconds: f64,
    /// PostgreSQL's processor time per request.
    pub database_seconds: f64,
}

impl Call {
    pub fn get(server: &ServerProcess, path: &str) -> Self {
        Self {
            url: server.url(path),
            pid: server.pid(),
            headers: Vec::new(),
            script: None,
        }
    }

    pub fn post(server: &ServerProcess, path: &str, body: &str) -> Self {
        let script = format!("wrk.method = 'POST'\nwrk.body = [==[{body}]==]\n");
        Self::scripted(server, path, &script)
    }

    /// Requests made by a Lua script of `wrk`.
    pub fn scripted(server: &ServerProcess, path: &str, script: &str) -> Self {
        let mut file = NamedTempFile::new().expect("a file for wrk");
        file.write_all(script.as_bytes()).expect("wrk's script");
        Self {
            headers: vec!["Content-Type: application/json".to_owned()],
            script: Some(file),
            ..Self::get(server, path)
        }
    }

    pub fn header(mut self, header: String) -> Self {
        self.headers.push(header);
        self
    }

    /// Makes the request on `connections` connections for `time`.
    pub fn load(&self, connections: usize, time: Duration) -> anyhow::Result<Measured> {
        let mut wrk = Command::new("wrk");
        wrk.args(["--threads", "1", "--latency", "--timeout", "20"]);
        wrk.args(["--connections", &connections.to_string()]);
        wrk.args(["--duration", &format!("{}s", time.as_secs())]);
        for header in &self.headers {
            wrk.args(["--header", header]);
        }
        if let Some(script) = &self.script {
            wrk.arg("--script").arg(script.path());
        }
        let before = (cpu_seconds(self.pid)?, cpu_seconds_of("postgres"));
        let done = wrk.arg(&self.url).stderr(Stdio::inherit()).output();
        let after = (cpu_seconds(self.pid)?, cpu_seconds_of("postgres"));
        let output = String::from_utf8(done.context("cannot run wrk: install it")?.stdout)?;
        if output.contains("Non-2xx") || output.contains("Socket errors") {
            bail!("calls failed under load:\n{output}");
        }
        let per_second = number(&output, "Requests/sec:")?;
        let requests = per_second * time.as_secs_f64();
        Ok(Measured {
            per_second,
            p50_ms: milliseconds(word(&output, "50%")?)?,
            p99_ms: milliseconds(word(&output, "99%")?)?,
            cpu_seconds: (after.0 - before.0) / requests,
            database_seconds: (after.1 - before.1) / requests,
        })
    }
}

/// The word after a label in the output of `wrk`.
fn word<'a>(output: &'a str, label: &str) -> anyhow::Result<&'a str> {
    let mut words = output.split_whitespace();
    words
        .by_ref()
        .find(|word| *word == label)
        .and_then(|_| words.next())
        .with_context(|| format!("wrk's output lacks {label}:\n{output}"))
}

fn number(output: &str, label: &str) -> anyhow::Result<f64> {
    Ok(word(output, label)?.parse()?)
}

/// Parses a time such as `830.00us`, `1.25ms` or `1.02s`.
fn milliseconds(time: &str) -> anyhow::Result<f64> {
    let of = |number: &str, factor: f64| Ok(number.parse::<f64>()? * factor);
    if let Some(number) = time.strip_suffix("us") {
        of(number, 0.001)
    } else if let Some(number) = time.strip_suffix("ms") {
        of(number, 1.0)
    } else {
        of(time.trim_end_matches('s'), 1000.0)
    }
}
