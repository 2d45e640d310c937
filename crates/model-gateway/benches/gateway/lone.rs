//! The time of calls that come one by one over https, from the threads of a node in turn, to a
//! server at a distance.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use refract_model_gateway::{
    ConnectionSettings, ModelGateway, ModelSettings, Protocol, TrustedCertificates,
};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use crate::prompts::{settings, submission, version};

const THREADS: usize = 4;
const CALLS: usize = 24;
/// The time of a byte to the server, or back.
const ONE_WAY: Duration = Duration::from_millis(20);

/// Prints the time of the first call and of the others.
pub(crate) fn print() {
    let server = ModelServer::start(ScriptedReply::answers());
    let handshakes = Arc::new(AtomicUsize::new(0));
    let (address, pem) = serve_tls(server.port(), Arc::clone(&handshakes));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    let gateway = ModelGateway::new(ModelSettings {
        connections: ConnectionSettings {
            certificates: TrustedCertificates::in_file(file.path()).unwrap(),
            ..ConnectionSettings::default()
        },
        ..settings(Protocol::SystemOne, &format!("https://{address}/v1"))
    });
    let gateway = gateway.unwrap();
    let threads: Vec<_> = (0..THREADS).map(|_| NodeThread::start(&gateway)).collect();
    let mut times: Vec<f64> = (0..CALLS)
        .map(|call| threads[call % THREADS].call().as_secs_f64() * 1e3)
        .collect();
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    println!(
        "one call after the other over https, {THREADS} threads in turn, {:.0} ms there and back: \
         first {first:.0} ms, others {:.1} ms in the middle and {:.1} ms at most, {} TLS handshakes",
        ONE_WAY.as_secs_f64() * 2e3,
        times[times.len() / 2],
        times[times.len() - 1],
        handshakes.load(Ordering::Relaxed)
    );
}

/// A thread of a node, which goes on serving its connections between calls.
struct NodeThread {
    calls: tokio::sync::mpsc::UnboundedSender<mpsc::Sender<Duration>>,
}

impl NodeThread {
    fn start(gateway: &ModelGateway) -> Self {
        let gateway = gateway.clone();
        let (calls, mut called) = tokio::sync::mpsc::unbounded_channel();
        thread::spawn(move || {
            runtime().block_on(async {
                let model = gateway.model();
                let version = version(1);
                let submission = submission(&version, 100);
                while let Some(ended) = called.recv().await {
                    let ended: mpsc::Sender<Duration> = ended;
                    let begin = Instant::now();
                    model.answer(&version, &submission).await.outcome.unwrap();
                    ended.send(begin.elapsed()).unwrap();
                }
            });
        });
        Self { calls }
    }

    /// The time of one call.
    fn call(&self) -> Duration {
        let (ended, end) = mpsc::channel();
        self.calls.send(ended).unwrap();
        end.recv().unwrap()
    }
}

/// Serves TLS at a distance in front of a plain server. Returns the address and the certificate.
fn serve_tls(plain: u16, handshakes: Arc<AtomicUsize>) -> (SocketAddr, String) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (bound, address) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            let near = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let far = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let server = far.local_addr().unwrap();
            bound.send(near.local_addr().unwrap()).unwrap();
            tokio::spawn(async move {
                while let Ok((client, _)) = near.accept().await {
                    let (from, to) = client.into_split();
                    let (back, there) = TcpStream::connect(server).await.unwrap().into_split();
                    tokio::spawn(delayed(from, there));
                    tokio::spawn(delayed(back, to));
                }
            });
            while let Ok((stream, _)) = far.accept().await {
                let (acceptor, handshakes) = (acceptor.clone(), Arc::clone(&handshakes));
                tokio::spawn(async move {
                    let mut stream = acceptor.accept(stream).await.unwrap();
                    handshakes.fetch_add(1, Ordering::Relaxed);
                    let mut server = TcpStream::connect(("127.0.0.1", plain)).await.unwrap();
                    copy_bidirectional(&mut stream, &mut server).await.ok();
                });
            }
        });
    });
    (address.recv().unwrap(), made.cert.pem())
}

/// Passes bytes on after the time of the way.
async fn delayed(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        tokio::time::sleep(ONE_WAY).await;
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}
