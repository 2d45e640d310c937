//! A node: starting, watching and stopping it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use clap::{CommandFactory as _, Parser};
use refract::{ServeCommand, StartedNode, block_on};
use refract_terminal::command_line;
use refract_terminal::settings::DatabaseArgs;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::{oneshot, watch};

use crate::http::answer::HttpAnswer;
use crate::http::{Request, within_patience};
use crate::program::{self, Runner};

/// A running node. One that is a process is killed when the value is dropped, one in the test's
/// process stops.
#[derive(Debug)]
pub struct Node {
    /// The address of the API.
    pub api: SocketAddr,
    /// The address of the operator's listener.
    pub ops: SocketAddr,
    /// The address of the app.
    pub app: SocketAddr,
    serving: NodeServing,
}

/// How a node runs: on threads or as a process.
#[derive(Debug)]
enum NodeServing {
    /// On threads of the test's process, until `stop` sends `true` or is dropped; `ended` receives
    /// the exit status.
    Threads {
        stop: watch::Sender<bool>,
        ended: oneshot::Receiver<Option<i32>>,
    },
    /// As a process of the built program, with the lines that it has logged.
    Process {
        child: Child,
        log: watch::Receiver<Vec<String>>,
    },
}

/// The command line of a node in the test's process.
#[derive(Parser)]
struct ServeLine {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    serve: ServeCommand,
}

impl Node {
    /// Starts a node on free ports and waits until it listens.
    pub async fn start(runner: Runner, folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut all = vec![
            ("REFRACT_LISTEN", "127.0.0.1:0"),
            ("REFRACT_OPS_LISTEN", "127.0.0.1:0"),
            ("REFRACT_APP_LISTEN", "127.0.0.1:0"),
        ];
        // later values of a setting replace earlier ones
        for (name, value) in settings {
            all.retain(|(known, _)| known != name);
            all.push((name, value));
        }
        match runner {
            Runner::Binary(path) => {
                Self::of(program::command(path, folder, &all, &["serve"])).await
            }
            Runner::InProcess => Self::on_threads(folder, &all).await,
        }
    }

    /// Starts a node in the test's process, on its own runtime.
    async fn on_threads(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let line = program::line(&ServeLine::command(), folder, settings, &[]);
        let line: ServeLine = command_line::read(line).unwrap();
        let (started, starting) = oneshot::channel();
        let (ending, ended) = oneshot::channel();
        let (stop, mut stopped) = watch::channel(false);
        thread::spawn(move || {
            let status = block_on(async {
                let node = Box::pin(line.serve.start(&line.database)).await?;
                started.send(addresses(&node)).ok();
                let code = node
                    .run(async move { _ = stopped.wait_for(|stop| *stop).await })
                    .await?;
                Ok(program::status(code))
            });
            ending.send(status.unwrap()).ok();
        });
        let (api, ops, app) = within_patience(starting).await.expect("a node starts");
        Self {
            api,
            ops,
            app,
            serving: NodeServing::Threads { stop, ended },
        }
    }

    /// Starts a node with this command and waits until it listens.
    pub async fn of(mut command: Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let log = gather(child.stderr.take().unwrap());
        let listening = line(&log, |line| line.contains("listening")).await;
        Self {
            api: address(&listening, "api"),
            ops: address(&listening, "ops"),
            app: address(&listening, "app"),
            serving: NodeServing::Process { child, log },
        }
    }

    /// The process of the node.
    pub fn child(&self) -> &Child {
        match &self.serving {
            NodeServing::Process { child, .. } => child,
            NodeServing::Threads { .. } => panic!("a node in the test's process is no child"),
        }
    }

    fn lines(&self) -> &watch::Receiver<Vec<String>> {
        match &self.serving {
            NodeServing::Process { log, .. } => log,
            NodeServing::Threads { .. } => panic!("a node in the test's process has no log"),
        }
    }

    /// The lines that the node has logged. The node must be a process.
    pub fn log(&self) -> Vec<String> {
        self.lines().borrow().clone()
    }

    /// Waits for a log line that `is_it` accepts, and returns the line.
    pub async fn logged(&self, is_it: impl Fn(&str) -> bool) -> String {
        line(self.lines(), is_it).await
    }

    /// Requests a path of the operator's listener.
    pub async fn ops(&self, path: &str) -> HttpAnswer {
        Request::outside("GET", path).send(self.ops).await
    }

    /// The metrics in the requested format.
    pub async fn metrics_as(&self, accept: &str) -> HttpAnswer {
        let request = Request::outside("GET", "/metrics").header("accept", accept);
        request.send(self.ops).await
    }

    /// The value of a metric without labels.
    pub async fn metric(&self, name: &str) -> f64 {
        let text = self.ops("/metrics").await.body;
        let mut samples = text.lines().filter_map(|line| line.split_once(' '));
        let sample = samples.find(|(sample, _)| *sample == name);
        sample.expect(&text).1.parse().unwrap()
    }

    /// Waits until a metric has this value.
    pub async fn until_metric(&self, name: &str, value: f64) {
        within_patience(async {
            while (self.metric(name).await - value).abs() > f64::EPSILON {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// Sends a signal, such as `TERM`.
    pub async fn signal(&self, name: &str) {
        program::signal(self.child(), name).await;
    }

    /// Stops the node without waiting for its end.
    pub async fn begin_stop(&self) {
        match &self.serving {
            NodeServing::Threads { stop, .. } => drop(stop.send_replace(true)),
            NodeServing::Process { child, .. } => program::signal(child, "TERM").await,
        }
    }

    /// Waits until the node ends, and returns its exit status.
    pub async fn exit_code(&mut self) -> Option<i32> {
        match &mut self.serving {
            NodeServing::Threads { ended, .. } => within_patience(ended).await.unwrap(),
            NodeServing::Process { child, .. } => {
                within_patience(child.wait()).await.unwrap().code()
            }
        }
    }

    /// Stops the node; the exit status must be 0.
    pub async fn stop(mut self) {
        self.begin_stop().await;
        assert_eq!(self.exit_code().await, Some(0));
    }
}

/// The addresses of API, operator's listener and app.
fn addresses(node: &StartedNode) -> (SocketAddr, SocketAddr, SocketAddr) {
    let ops = node.ops().unwrap().expect("the operator's listener");
    let app = node.app().unwrap().expect("the app");
    (node.api().unwrap(), ops, app)
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
