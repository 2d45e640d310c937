//! A scripted model server over real TCP. A test decides what the server answers, and how and when
//! it fails.
//!
//! The server has a separate thread and runtime, so tests on any runtime can use it, and stops when
//! its value is dropped. It answers questions in the System One format
//! ([`ScriptedReply::answers`]), in the Decisions formats of OpenAI ([`ScriptedReply::decisions`])
//! and Google ([`ScriptedReply::gemini`]), or with any bytes of a test. A held reply waits for
//! [`ModelServer::release`]; only benchmarks let one wait for a time.

#![expect(
    clippy::panic,
    reason = "a test whose model server cannot be set up ends here, saying why"
)]

mod chat;
mod completion;
mod http;
mod llama_cpp;
mod progress;
mod reply;
mod script;
mod typed_answers;
mod vllm;

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::oneshot;

pub use self::chat::{ChatModel, CodeCut, Continues};
pub use self::completion::tokens_reply;
pub use self::http::ReceivedRequest;
pub use self::llama_cpp::LlamaCppServer;
pub use self::progress::ServerCounts;
use self::progress::ServerProgress;
pub use self::reply::ScriptedReply;
pub use self::script::Script;
use self::script::ScriptRun;
pub use self::typed_answers::system_one_reply as system_one_answers;
pub use self::vllm::VllmServer;

/// A running model server. Dropping it stops the server and breaks all its connections.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<ServerState>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port of the loopback interface.
    ///
    /// # Panics
    ///
    /// When no port is free.
    pub fn start(script: impl Into<Script>) -> Self {
        Self::start_on(0, script)
    }

    /// Starts a server on this port, so that a stopped server can be restarted at its previous
    /// address.
    ///
    /// # Panics
    ///
    /// When the port is taken.
    pub fn start_on(port: u16, script: impl Into<Script>) -> Self {
        let (listener, address) = bind(port)
            .unwrap_or_else(|error| panic!("the model server cannot listen on {port}: {error}"));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap_or_else(|error| panic!("the model server has no runtime: {error}"));
        let state = Arc::new(ServerState {
            run: Mutex::new(ScriptRun::new(script.into())),
            progress: ServerProgress::default(),
        });
        let serving = Arc::clone(&state);
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
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The base address of the server, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests so far, in the order of arrival; none with a forgetful script.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.run().requests()
    }

    /// The events at the server so far.
    pub fn counts(&self) -> ServerCounts {
        self.state.progress.counts()
    }

    /// Waits until `expected` accepts the counts.
    pub async fn wait_until(&self, expected: impl Fn(&ServerCounts) -> bool) {
        self.state.progress.wait_until(expected).await;
    }

    /// Appends a reply that is used once, before the reply to all other requests.
    pub fn then_once(&self, reply: ScriptedReply) {
        self.state.run().then_once(reply);
    }

    /// Replaces the reply to all other requests.
    pub fn then_always(&self, reply: ScriptedReply) {
        self.state.run().then_always(reply);
    }

    /// Releases this number of replies, held now or later.
    pub fn release(&self, replies: usize) {
        self.state.progress.release(replies);
    }

    /// Releases all held replies, now and from now on.
    pub fn release_all(&self) {
        self.state.progress.release_all();
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

/// The state shared by the server's connections.
#[derive(Debug)]
struct ServerState {
    run: Mutex<ScriptRun>,
    progress: ServerProgress,
}

impl ServerState {
    fn run(&self) -> MutexGuard<'_, ScriptRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bind(port: u16) -> std::io::Result<(StdTcpListener, SocketAddr)> {
    let listener = StdTcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

async fn accept(listener: StdTcpListener, state: Arc<ServerState>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    while let Ok((stream, _)) = listener.accept().await {
        state.progress.count(|counts| counts.connections += 1);
        tokio::spawn(serve(stream, Arc::clone(&state)));
    }
}

/// Answers the requests of one connection until either side closes it.
async fn serve(mut stream: TcpStream, state: Arc<ServerState>) {
    stream.set_nodelay(true).ok();
    let mut received = Vec::new();
    while let Some(request) = http::read_request(&mut stream, &mut received).await {
        let reply = state.run().reply_to(&request);
        state.progress.count(|counts| counts.requests += 1);
        let kept_alive = reply.send(&mut stream, &request, &state.progress).await;
        if !kept_alive {
            return;
        }
    }
}
