//! TLS, proxies and kept connections. The tests of the protocols cover the rest.

mod client_certificates;
mod closed;
mod proxied;

use std::time::Duration;

use bytes::Bytes;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use refract_tls_files::TrustedCertificates;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::error::CertificateFault;
use crate::settings::ConnectionSettings;

/// Puts TLS in front of a plain server. Returns a certificate for `name` and the address.
async fn tls_server(name: &str, behind: &ModelServer) -> (CertificateDer<'static>, Uri) {
    let (certificate, uri) = tls_server_with_certificate(name, behind).await;
    (certificate.der().clone(), uri)
}

async fn tls_server_with_certificate(
    name: &str,
    behind: &ModelServer,
) -> (rcgen::Certificate, Uri) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("https://{}/v1/systemone", listener.local_addr().unwrap());
    let port = behind.port();
    actix_rt::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let mut plain = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                copy_bidirectional(&mut stream, &mut plain).await.ok();
            }
        }
    });
    (certificate, uri.parse().unwrap())
}

/// Prepared requests to a server.
fn access(uri: &Uri, settings: &ConnectionSettings) -> ServerAccess {
    ServerAccess::new(uri.clone(), None, &Transport::new(settings)).unwrap()
}

/// Connections with these settings.
fn connections_with(uri: &Uri, settings: &ConnectionSettings) -> ModelConnections {
    ModelConnections::new(Arc::new(access(uri, settings)))
}

/// Connections that trust only these certificates.
fn trusting(
    uri: &Uri,
    certificates: impl IntoIterator<Item = CertificateDer<'static>>,
) -> ModelConnections {
    trusting_with(uri, certificates, &ConnectionSettings::default())
}

fn trusting_with(
    uri: &Uri,
    certificates: impl IntoIterator<Item = CertificateDer<'static>>,
    settings: &ConnectionSettings,
) -> ModelConnections {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    let mut tls = transport::client_config().unwrap();
    let provider = Arc::clone(tls.crypto_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
    tls.dangerous()
        .set_certificate_verifier(verifier.build().unwrap());
    ModelConnections::new(Arc::new(ServerAccess {
        tls: Some(Arc::new(tls)),
        ..access(uri, settings)
    }))
}

/// Connections that check certificates as in operation.
fn connections(uri: &Uri) -> ModelConnections {
    connections_with(uri, &ConnectionSettings::default())
}

fn body() -> RequestBody {
    RequestBody::new(["{", "", "}"].map(Bytes::from))
}

/// Asks once and returns the answer's body.
async fn answer(connections: &ModelConnections, body: RequestBody) -> Result<Bytes, ModelError> {
    match connections.exchange(body, None, &Cell::default()).await? {
        ServerReply::Answer(answer) => Ok(answer),
        ServerReply::CallError(refusal) => panic!("{}", refusal.status),
    }
}

async fn failure(connections: &ModelConnections) -> ModelError {
    match connections.exchange(body(), None, &Cell::default()).await {
        Ok(_) => panic!("it was answered"),
        Err(failure) => failure,
    }
}

#[actix_rt::test]
async fn a_server_with_a_trusted_certificate_is_asked_over_one_connection() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, uri) = tls_server("127.0.0.1", &server).await;
    let connections = trusting(&uri, [certificate]);
    for _ in 0..2 {
        assert_eq!(answer(&connections, body()).await.unwrap(), "answer");
    }
    assert_eq!(
        (server.counts().connections, server.counts().requests),
        (1, 2)
    );
}

#[actix_rt::test]
async fn a_certificate_of_the_file_is_trusted_in_addition() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, uri) = tls_server_with_certificate("127.0.0.1", &server).await;
    let other = rcgen::generate_simple_self_signed(["other.example".to_owned()]).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let both = format!("# ours\n{}{}", other.cert.pem(), certificate.pem());
    std::fs::write(file.path(), both).unwrap();
    let settings = ConnectionSettings {
        certificates: TrustedCertificates::in_file(file.path()).unwrap(),
        ..ConnectionSettings::default()
    };
    let trusting = connections_with(&uri, &settings);
    assert_eq!(answer(&trusting, body()).await.unwrap(), "answer");
}

#[actix_rt::test]
async fn a_certificate_that_nobody_vouches_for_is_refused() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (_, uri) = tls_server("127.0.0.1", &server).await;
    let failure = failure(&connections(&uri)).await;
    assert_eq!(
        failure.to_string(),
        "The model server could not be reached: its certificate is by no authority that is trusted \
         here."
    );
    assert_eq!(server.counts().requests, 0);
}

#[actix_rt::test]
async fn a_certificate_for_another_name_is_refused() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, uri) = tls_server("models.example", &server).await;
    let failure = failure(&trusting(&uri, [certificate])).await;
    let other_name = Unreachable::Certificate(CertificateFault::OtherName);
    assert_eq!(failure, ModelError::Unreachable(other_name));
    assert_eq!(server.counts().requests, 0);
}

#[actix_rt::test]
async fn a_server_without_tls_is_no_server_for_https() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("https://{}/v1/systemone", listener.local_addr().unwrap());
    let uri = uri.parse().unwrap();
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        stream
    };
    let connections = connections(&uri);
    let (failure, _stream) = tokio::join!(failure(&connections), plain);
    assert_eq!(failure, ModelError::Unreachable(Unreachable::Tls));
}

#[actix_rt::test]
async fn every_way_to_send_the_length_of_an_answer_is_read_over_tls() {
    for reply in [
        ScriptedReply::body("answer"),
        ScriptedReply::body("answer").chunked(),
        ScriptedReply::body("answer").until_close(),
        ScriptedReply::body("answer").until_close_in_1_1(),
    ] {
        let server = ModelServer::start(reply);
        let (certificate, uri) = tls_server("127.0.0.1", &server).await;
        let connections = trusting(&uri, [certificate]);
        assert_eq!(answer(&connections, body()).await.unwrap(), "answer");
    }
}

#[actix_rt::test]
async fn a_connection_is_not_used_again_after_it_was_idle_for_too_long() {
    for (keep_alive, connections) in [(KEEP_ALIVE, 1), (Duration::ZERO, 2)] {
        let server = ModelServer::start(ScriptedReply::body("answer"));
        let uri: Uri = format!("{}/systemone", server.url()).parse().unwrap();
        let ours = ModelConnections::new(Arc::new(ServerAccess {
            keep_alive,
            ..access(&uri, &ConnectionSettings::default())
        }));
        for _ in 0..2 {
            assert!(ours.exchange(body(), None, &Cell::default()).await.is_ok());
        }
        assert_eq!(server.counts().connections, connections, "{keep_alive:?}");
    }
    // below the five seconds of common servers, and as long as the official clients over TLS
    assert!(KEEP_ALIVE < Duration::from_secs(5));
    assert_eq!(KEEP_ALIVE_TLS, Duration::from_secs(30));
}

#[test]
fn the_key_is_not_shown_with_what_connections_share() {
    let key = "sk-secret".parse().unwrap();
    let uri = Uri::from_static("http://127.0.0.1/v1/systemone");
    let settings = ConnectionSettings::default();
    let access = ServerAccess::new(uri, Some(&key), &Transport::new(&settings)).unwrap();
    assert!(!format!("{access:?}").contains("secret"));
}
