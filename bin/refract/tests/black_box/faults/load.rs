//! Callers that follow the specification's advice: each call has an idempotency key and is repeated
//! until it is answered. In the end every acknowledged call has exactly one result.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refract_test_stack::expected::{ANSWERS, JSON, Saved};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{Request, extent, is_whole, within_patience};
use refract_test_stack::service::{PRISM, Service, Setup, TEXT};
use refract_test_support::cluster::Cluster;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::program::setup;

/// The pause before a caller repeats a call.
const PAUSE: Duration = Duration::from_millis(20);

/// The idempotency key of a call and its final answer.
pub(crate) struct Acknowledged {
    pub(crate) key: String,
    pub(crate) answer: HttpAnswer,
}

/// Callers that send calls until they are stopped.
pub(crate) struct Load {
    nodes: Arc<Mutex<Vec<SocketAddr>>>,
    stop: watch::Sender<bool>,
    progress: watch::Receiver<Progress>,
    callers: JoinSet<Vec<Acknowledged>>,
}

/// Counts of outcomes so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Calls that were answered.
    pub(crate) acknowledged: usize,
    /// Attempts that ended as 500 or 503.
    pub(crate) refused: usize,
    /// Attempts whose connection broke.
    pub(crate) broken: usize,
}

impl Load {
    /// Starts callers, spread over the service's nodes. Their idempotency keys begin with `name`.
    pub(crate) fn start(service: &Service, name: &str, callers: usize) -> Self {
        let nodes = service.nodes.iter().map(|node| node.api).collect();
        let nodes = Arc::new(Mutex::new(nodes));
        let (stop, stopped) = watch::channel(false);
        let (sender, progress) = watch::channel(Progress::default());
        let sender = Arc::new(sender);
        let mut set = JoinSet::new();
        for caller in 0..callers {
            let (nodes, stopped) = (Arc::clone(&nodes), stopped.clone());
            let (sender, bearer) = (Arc::clone(&sender), service.key.clone());
            let name = format!("{name}-{caller}");
            set.spawn(async move {
                let mut acknowledged = Vec::new();
                while !*stopped.borrow() {
                    let key = format!("{name}-{}", acknowledged.len());
                    let answer = call(&nodes, caller, &bearer, &key, &sender).await;
                    acknowledged.push(Acknowledged { key, answer });
                }
                acknowledged
            });
        }
        Self {
            nodes,
            stop,
            progress,
            callers: set,
        }
    }

    /// The counts at this moment.
    pub(crate) fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// Waits until the counts fulfil a condition.
    pub(crate) async fn until(&self, happened: impl Fn(&Progress) -> bool) {
        let mut progress = self.progress.clone();
        let waiting = progress.wait_for(|progress| happened(progress));
        within_patience(waiting).await.expect("callers are at work");
    }

    /// Waits until this number of further calls has been answered.
    pub(crate) async fn until_more(&self, calls: usize) {
        let goal = self.progress().acknowledged + calls;
        self.until(|progress| progress.acknowledged >= goal).await;
    }

    /// Sends further calls to the service's current nodes.
    pub(crate) fn turn_to(&self, service: &Service) {
        *self.nodes.lock().unwrap() = service.nodes.iter().map(|node| node.api).collect();
    }

    /// Starts no more calls, waits until the calls in flight are answered, and returns all calls.
    pub(crate) async fn stop(self) -> Vec<Acknowledged> {
        self.stop.send_replace(true);
        let ended = within_patience(self.callers.join_all()).await;
        ended.into_iter().flatten().collect()
    }
}

/// Repeats a call until it is answered.
async fn call(
    nodes: &Mutex<Vec<SocketAddr>>,
    caller: usize,
    bearer: &str,
    key: &str,
    progress: &watch::Sender<Progress>,
) -> HttpAnswer {
    let body = json!({"text": TEXT, "ref": key, "idempotency_key": key});
    let request = Request::post(&format!("/prisms/{PRISM}/results"))
        .bearer(bearer)
        .json(&body);
    let mut attempt = caller;
    loop {
        let node = {
            let nodes = nodes.lock().unwrap();
            nodes[attempt % nodes.len()]
        };
        attempt += 1;
        match try_send(&request, node).await {
            Ok(answer) if answer.status == 200 => {
                progress.send_modify(|progress| progress.acknowledged += 1);
                return answer;
            }
            Ok(answer) => {
                assert!(matches!(answer.status, 500 | 503), "{answer:?}");
                progress.send_modify(|progress| progress.refused += 1);
            }
            Err(_) => progress.send_modify(|progress| progress.broken += 1),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Sends a request to a node that may end at any moment.
async fn try_send(request: &Request, node: SocketAddr) -> io::Result<HttpAnswer> {
    let mut stream = TcpStream::connect(node).await?;
    stream.write_all(&request.bytes()).await?;
    let mut received = Vec::new();
    within_patience(async {
        while !is_whole(&received) {
            if stream.read_buf(&mut received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let (head_end, length) = extent(&received).unwrap();
        let (head, body) = received[..head_end + length].split_at(head_end);
        let body = String::from_utf8_lossy(body).into_owned();
        Ok(HttpAnswer::new(&String::from_utf8_lossy(head), body))
    })
    .await
}

/// Checks that every acknowledged call has its own result, that a read returns what was
/// acknowledged, and that a repeated call gets this result.
pub(crate) async fn assert_kept(service: &Service, acknowledged: &[Acknowledged]) {
    let mut ids = BTreeSet::new();
    for Acknowledged { key, answer } in acknowledged {
        let saved = Saved::of(answer);
        assert_eq!(saved.reference.as_ref(), Some(key));
        answer.assert(200, JSON, &saved.envelope(ANSWERS));
        assert_eq!(service.read(&saved.id, "").await.body, answer.body);
        let body = json!({"text": "ignored", "idempotency_key": key});
        assert_eq!(service.create(&body).await.body, answer.body);
        assert!(
            ids.insert(saved.id),
            "two calls have one result: {answer:?}"
        );
    }
}

/// Starts a PostgreSQL server for one test, where blocking is allowed.
pub(crate) fn cluster(settings: &[&str]) -> Cluster {
    tokio::task::block_in_place(|| Cluster::start(settings))
}

/// Starts a service on this PostgreSQL address or on SQLite. `grace_ms` is the shutdown grace time
/// in milliseconds, and also how long failed saves are retried.
pub(crate) async fn service(url: Option<String>, nodes: usize, grace_ms: &str) -> Service {
    let setup = Setup {
        nodes,
        settings: &[
            ("REFRACT_SHUTDOWN_GRACE_MS", grace_ms),
            ("REFRACT_DATABASE_POOL", "8"),
            ("REFRACT_LOG", "warn,refract=info"),
        ],
        ..setup()
    };
    Service::on(url, setup).await
}
