//! The model server: a program started and stopped here, or a server that already runs.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::http::PlainAddress;

/// Upper bound on the time for loading the model.
const LOADING: Duration = Duration::from_mins(10);
/// Pause between two polls of a server that loads its model.
const LOOK: Duration = Duration::from_millis(100);
/// Tokens of context of the started server, over all its slots. A choice of 255 outcomes has about
/// 4,000 tokens.
const CONTEXT: &str = "32768";
/// Number of requests that the started server answers in parallel.
const SLOTS: &str = "4";
/// Number of log lines to show of a server that did not start.
const LOG_LINES: usize = 8;

/// A llama.cpp server. Dropping it stops the process if it was started here.
pub(crate) struct ModelServerProcess {
    pub(crate) address: PlainAddress,
    /// `None` if the server was already running.
    process: Option<StartedProcess>,
}

struct StartedProcess {
    child: Child,
    /// Holds the process's log.
    folder: TempDir,
}

impl ModelServerProcess {
    /// Starts the program at this path with the model, or uses the server at this address.
    pub(crate) async fn reach(server: &str, model: Option<&Path>) -> anyhow::Result<Self> {
        let is_address = server.contains("://");
        let mut found = match (is_address, model) {
            (true, None) => Self {
                address: PlainAddress::parse(server)?,
                process: None,
            },
            (true, Some(_)) => bail!("the server at {server} has its model: name no other"),
            (false, Some(model)) => Self::start(server, model)?,
            (false, None) => bail!(
                "name the server's program and its model (SERVER=path MODEL=file.gguf), or the \
                 address of one that runs (SERVER=http://host:port)"
            ),
        };
        found.wait_until_ready().await?;
        Ok(found)
    }

    fn start(program: &str, model: &Path) -> anyhow::Result<Self> {
        if !model.is_file() {
            bail!("there is no model file {}", model.display());
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let folder = tempfile::tempdir()?;
        let log = File::create(folder.path().join("log"))?;
        let child = Command::new(program)
            .arg("--model")
            .arg(model)
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--ctx-size", CONTEXT, "--parallel", SLOTS])
            .args(["--jinja", "--reasoning-budget", "0"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        Ok(Self {
            address: PlainAddress::loopback(port),
            process: Some(StartedProcess { child, folder }),
        })
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let begin = Instant::now();
        loop {
            let answer = self.address.send(Method::GET, "/health", Bytes::new());
            let problem = match answer.await {
                Ok((StatusCode::OK, _)) => return Ok(()),
                Ok((StatusCode::SERVICE_UNAVAILABLE, _)) => anyhow!("it still loads its model"),
                Ok((status, _)) => bail!("the server answers /health with status {status}"),
                Err(error) if self.process.is_none() => return Err(error),
                Err(error) => error,
            };
            if let Some(process) = &mut self.process {
                process.check()?;
            }
            if begin.elapsed() > LOADING {
                return Err(problem.context("the server does not become ready"));
            }
            sleep(LOOK).await;
        }
    }
}

impl StartedProcess {
    /// Fails if the process has ended, with the end of its log.
    fn check(&mut self) -> anyhow::Result<()> {
        let Some(status) = self.child.try_wait()? else {
            return Ok(());
        };
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.len().saturating_sub(LOG_LINES);
        let end = lines.get(last..).unwrap_or_default().join("\n");
        bail!("the server ended ({status}) before it was ready:\n{end}");
    }
}

impl Drop for StartedProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
