//! One `refract serve` process: starting, watching and stopping a node.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::watch;

use crate::http::{Answer, Request, within_patience};
use crate::program;

/// A running node, which is killed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) child: Child,
    log: watch::Receiver<Vec<String>>,
    pub(crate) api: SocketAddr,
    pub(crate) ops: SocketAddr,
    pub(crate) app: SocketAddr,
}

impl Node {
    /// Starts a node on free ports and waits until it listens.
    pub(crate) async fn start(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut all = vec![
            ("REFRACT_LISTEN", "127.0.0.1:0"),
            ("REFRACT_OPS_LISTEN", "127.0.0.1:0"),
            ("REFRACT_APP_LISTEN", "127.0.0.1:0"),
        ];
        all.extend_from_slice(settings);
        Self::of(program::command(folder, &all, &["serve"])).await
    }

    /// Starts a node with this command and waits until it listens.
    pub(crate) async fn of(mut command: Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let log = gather(child.stderr.take().unwrap());
        let listening = line(&log, |line| line.contains("listening")).await;
        Self {
            api: address(&listening, "api"),
            ops: address(&listening, "ops"),
            app: address(&listening, "app"),
            child,
            log,
        }
    }

    /// The lines that the node has logged.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    /// Waits for a log line that `is_it` accepts, and returns the line.
    pub(crate) async fn logged(&self, is_it: impl Fn(&str) -> bool) -> String {
        line(&self.log, is_it).await
    }

    /// Requests a path of the operator's listener.
    pub(crate) async fn ops(&self, path: &str) -> Answer {
        Request::outside("GET", path).send(self.ops).await
    }

    /// The metrics in the requested format.
    pub(crate) async fn metrics_as(&self, accept: &str) -> Answer {
        let request = Request::outside("GET", "/metrics").header("accept", accept);
        request.send(self.ops).await
    }

    /// The value of a metric without labels.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.ops("/metrics").await.body;
        let mut samples = text.lines().filter_map(|line| line.split_once(' '));
        let sample = samples.find(|(sample, _)| *sample == name);
        sample.expect(&text).1.parse().unwrap()
    }

    /// Waits until a metric has this value.
    pub(crate) async fn until_metric(&self, name: &str, value: f64) {
        within_patience(async {
            while (self.metric(name).await - value).abs() > f64::EPSILON {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) async fn signal(&self, name: &str) {
        program::signal(&self.child, name).await;
    }

    /// Waits until the node ends, and returns its exit status.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        within_patience(self.child.wait()).await.unwrap().code()
    }

    /// Stops the node with SIGTERM; the exit status must be 0.
    pub(crate) async fn stop(mut self) {
        self.signal("TERM").await;
        assert_eq!(self.exit_code().await, Some(0), "{:?}", self.log());
    }
}

/// An address in the log line about listening, in text or JSON.
fn address(line: &str, name: &str) -> SocketAddr {
    let fields: Value = serde_json::from_str(line).unwrap_or_default();
    let mut words = line.split(' ');
    let in_text = || words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let address = fields[name].as_str().or_else(in_text).expect(line);
    address.parse().expect(line)
}

/// Collects the lines of a stream until it ends.
fn gather(stderr: ChildStderr) -> watch::Receiver<Vec<String>> {
    let (sender, receiver) = watch::channel(Vec::new());
    tokio::spawn(async move {
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            sender.send_modify(|log: &mut Vec<String>| log.push(line));
        }
    });
    receiver
}

async fn line(log: &watch::Receiver<Vec<String>>, is_it: impl Fn(&str) -> bool) -> String {
    let mut log = log.clone();
    let find = |log: &Vec<String>| log.iter().any(|line| is_it(line));
    let waited = within_patience(log.wait_for(find)).await.is_ok();
    assert!(waited, "the program ended: {:?}", log.borrow());
    let found = log.borrow().iter().find(|line| is_it(line)).cloned();
    found.unwrap()
}
