use hyper::StatusCode;
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use super::*;

const WAIT: Duration = Duration::from_mins(1);

/// A client that trusts these certificates alone.
fn trusting(certificates: &[CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}

/// Starts a collector that answers one request with this status. Returns the collector's
/// certificate, its port, and a task that ends with the received request. The request's body must
/// end with `spans`.
async fn tls_collector(status: u16) -> (CertificateDer<'static>, u16, Handled) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.clone()], key);
    let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let handled = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.ok()?;
        let mut received = Vec::new();
        while !received.ends_with(b"spans") {
            assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0);
        }
        let answer = format!("HTTP/1.1 {status} Said\r\ncontent-length: 5\r\n\r\ntaken");
        stream.write_all(answer.as_bytes()).await.unwrap();
        Some(String::from_utf8(received).unwrap())
    });
    (certificate, port, handled)
}

type Handled = tokio::task::JoinHandle<Option<String>>;

/// Sends a batch from a thread whose runtime has no timers and sockets, like the SDK's thread.
fn send_batch(
    main: &Runtime,
    tls: Arc<ClientConfig>,
    timeout: Duration,
    uri: &str,
) -> Result<Response<Bytes>, HttpError> {
    let collector = Collector {
        runtime: main.handle().clone(),
        tls,
        timeout,
        log: CollectorLog::default(),
    };
    let request = Request::post(uri).body(Bytes::from_static(b"spans"));
    let bare = Builder::new_current_thread().build().unwrap();
    bare.block_on(collector.send_bytes(request.unwrap()))
}

#[test]
fn a_batch_is_sent_over_tls_to_a_collector_that_is_trusted() {
    let main = Runtime::new().unwrap();
    for status in [200, 503] {
        let (certificate, port, handled) = main.block_on(tls_collector(status));
        let uri = format!("https://localhost:{port}/v1/traces");
        let answer = send_batch(&main, trusting(&[certificate]), WAIT, &uri).unwrap();
        let expected = (StatusCode::from_u16(status).unwrap(), &b"taken"[..]);
        assert_eq!((answer.status(), &answer.body()[..]), expected);
        let received = main.block_on(handled).unwrap().unwrap();
        assert!(
            received.starts_with("POST /v1/traces HTTP/1.1\r\n"),
            "{received}"
        );
        let host = format!("host: localhost:{port}\r\n");
        assert!(received.contains(&host), "{received}");
    }
}

#[test]
fn a_collector_that_nobody_vouches_for_is_sent_nothing() {
    let main = Runtime::new().unwrap();
    let (_, port, handled) = main.block_on(tls_collector(200));
    let uri = format!("https://localhost:{port}/v1/traces");
    let refused = send_batch(&main, trusting(&[]), WAIT, &uri);
    assert!(refused.unwrap_err().to_string().contains("certificate"));
    assert_eq!(main.block_on(handled).unwrap(), None);
}

#[test]
fn a_collector_that_does_not_answer_is_given_up() {
    let main = Runtime::new().unwrap();
    // the connection waits in the backlog, and nobody serves it
    let listener = main.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let uri = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let given_up = send_batch(&main, trusting(&[]), Duration::from_millis(1), &uri);
    assert_eq!(
        given_up.unwrap_err().to_string(),
        "it does not answer in time"
    );
}

#[test]
fn a_collector_that_stays_away_is_mentioned_once_in_a_while() {
    let log = CollectorLog::default();
    let begin = Instant::now();
    let last = |seconds| log.is_due(begin + Duration::from_secs(seconds));
    assert_eq!(
        [0, 5, 299, 300, 301, 600].map(last),
        [true, false, false, true, false, true]
    );
}

#[test]
fn a_collector_that_goes_away_again_is_mentioned_again() {
    let log = CollectorLog::default();
    let now = Instant::now();
    assert!(log.is_due(now));
    log.taken();
    assert!(log.is_due(now));
}
