//! A scripted model server over real TCP: what it answers, how it fails and when is the test's say.
//!
//! It runs on a thread and a runtime of its own, so that tests on any runtime can use it, and ends
//! with its value. It can speak System One by itself, see [`Reply::answers`], or say whatever a
//! test makes it say. Nothing in it sleeps: a reply that is held waits for
//! [`ModelServer::release`].
#![expect(
    clippy::panic,
    reason = "a test whose model server cannot be set up ends here, saying why"
)]

mod chat;
mod http;
mod reply;
mod system_one;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::{Semaphore, oneshot, watch};

pub use self::chat::{ChatModel, Continues, tokens_reply};
pub use self::http::ReceivedRequest;
pub use self::reply::Reply;
pub use self::system_one::reply as system_one_answers;

/// What a server answers: some replies in the order of the requests, then one for all others.
#[derive(Clone, Debug)]
pub struct Script {
    first: VecDeque<Reply>,
    then: Reply,
    keeps_requests: bool,
}

impl Script {
    /// These replies to the first requests, then answers.
    pub fn first(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            first: replies.into_iter().collect(),
            ..Self::from(Reply::answers())
        }
    }

    /// What all requests after the first get.
    #[must_use]
    pub fn then(self, reply: Reply) -> Self {
        Self {
            then: reply,
            ..self
        }
    }

    /// Forgets every request once it is answered: for load, of which nobody asks.
    #[must_use]
    pub fn forgetful(self) -> Self {
        Self {
            keeps_requests: false,
            ..self
        }
    }
}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        Self {
            first: VecDeque::new(),
            then: reply,
            keeps_requests: true,
        }
    }
}

/// A running server. It stops, and all its connections break, when this value is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts on a free port of the loopback interface.
    ///
    /// # Panics
    ///
    /// Where no port is to be had.
    pub fn start(script: impl Into<Script>) -> Self {
        Self::start_on(0, script)
    }

    /// Starts on this port: a server that comes back where it was.
    ///
    /// # Panics
    ///
    /// Where the port is taken.
    pub fn start_on(port: u16, script: impl Into<Script>) -> Self {
        let (listener, address) = bind(port)
            .unwrap_or_else(|error| panic!("the model server cannot listen on {port}: {error}"));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap_or_else(|error| panic!("the model server has no runtime: {error}"));
        let shared = Arc::new(Shared::new(script.into()));
        let serving = Arc::clone(&shared);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = accept(listener, serving) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The base address, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far, in the order in which they were read; none from a forgetful script.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.state().requests.clone()
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        *self.shared.counts.borrow()
    }

    /// Waits until it happened.
    pub async fn wait_until(&self, happened: impl Fn(&Counts) -> bool) {
        let mut counts = self.shared.counts.subscribe();
        // the sender lives in `self`, so waiting cannot fail
        counts.wait_for(happened).await.ok();
    }

    /// Puts a reply at the end of those that come before the one for all others.
    pub fn then_once(&self, reply: Reply) {
        self.shared.state().script.first.push_back(reply);
    }

    /// Replaces the reply for all others.
    pub fn then_always(&self, reply: Reply) {
        self.shared.state().script.then = reply;
    }

    /// Lets so many held replies go, also ones that are held only later.
    pub fn release(&self, replies: usize) {
        self.shared.held.add_permits(replies);
    }

    /// Holds nothing back any longer.
    pub fn release_all(&self) {
        self.shared.held.close();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// What happened at a server since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub connections: usize,
    /// Requests read whole.
    pub requests: usize,
    /// Replies sent whole.
    pub replies: usize,
    /// Held replies whose client hung up before they were let go.
    pub abandoned: usize,
}

/// What the connections share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    held: Semaphore,
    counts: watch::Sender<Counts>,
}

#[derive(Debug)]
struct State {
    script: Script,
    requests: Vec<ReceivedRequest>,
}

impl Shared {
    fn new(script: Script) -> Self {
        Self {
            state: Mutex::new(State {
                script,
                requests: Vec::new(),
            }),
            held: Semaphore::new(0),
            counts: watch::Sender::new(Counts::default()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the request and takes the reply that is due.
    fn reply_to(&self, request: &ReceivedRequest) -> Reply {
        let mut state = self.state();
        if state.script.keeps_requests {
            state.requests.push(request.clone());
        }
        match state.script.first.pop_front() {
            Some(reply) => reply,
            None => state.script.then.clone(),
        }
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(change);
    }
}

fn bind(port: u16) -> std::io::Result<(StdTcpListener, SocketAddr)> {
    let listener = StdTcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

async fn accept(listener: StdTcpListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    while let Ok((stream, _)) = listener.accept().await {
        shared.count(|counts| counts.connections += 1);
        tokio::spawn(serve(stream, Arc::clone(&shared)));
    }
}

/// Answers the requests of one connection until either side ends it.
async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    stream.set_nodelay(true).ok();
    let mut received = Vec::new();
    while let Some(request) = http::read_request(&mut stream, &mut received).await {
        let reply = shared.reply_to(&request);
        shared.count(|counts| counts.requests += 1);
        let kept_alive = reply.send(&mut stream, &request, &shared).await;
        if !kept_alive {
            return;
        }
    }
}
