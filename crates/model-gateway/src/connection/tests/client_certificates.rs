//! A model server that is signed by a private authority and demands a client certificate.

use std::fs;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use refract_tls_files::ClientCertificate;
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;

use super::*;

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate that ends in this year, with its key.
fn signed(
    authority: &CertifiedIssuer<'static, KeyPair>,
    name: &str,
    year: i32,
) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
    parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
    (parameters.signed_by(&key, authority).unwrap(), key)
}

/// A server with its authority, and a folder with files of certificates.
struct DemandingServer {
    authority: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
    uri: Uri,
    behind: ModelServer,
}

impl DemandingServer {
    async fn start() -> Self {
        let authority = authority();
        let (certificate, key) = signed(&authority, "127.0.0.1", 4096);
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let behind = ModelServer::start(ScriptedReply::body("answer"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("https://{}/v1/systemone", listener.local_addr().unwrap());
        let port = behind.port();
        actix_rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                actix_rt::spawn(async move {
                    match acceptor.accept(stream).into_fallible().await {
                        Ok(mut stream) => {
                            let mut plain = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                            copy_bidirectional(&mut stream, &mut plain).await.ok();
                        }
                        // a connection with unread bytes is reset, and the alert may be lost
                        Err((_, mut refused)) => {
                            refused.read_to_end(&mut Vec::new()).await.ok();
                        }
                    }
                });
            }
        });
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            uri: uri.parse().unwrap(),
            authority,
            behind,
        };
        fs::write(server.file("ca.pem"), server.authority.pem()).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the files of a client certificate.
    fn write(&self, (certificate, key): &(rcgen::Certificate, KeyPair)) {
        fs::write(self.file("tls.crt"), certificate.pem()).unwrap();
        fs::write(self.file("tls.key"), key.serialize_pem()).unwrap();
    }

    /// Connections that trust the server's authority and show the written certificate.
    fn connections(&self, has_certificate: bool) -> ModelConnections {
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| self.file(name));
        let client = has_certificate
            .then(|| Arc::new(ClientCertificate::in_files(&certificate, &key).unwrap()));
        let settings = ConnectionSettings {
            certificates: TrustedCertificates::in_file(&self.file("ca.pem")).unwrap(),
            client_certificate: client,
            ..ConnectionSettings::default()
        };
        connections_with(&self.uri, &settings)
    }
}

#[actix_rt::test]
async fn a_certificate_of_the_servers_authority_is_accepted() {
    let server = DemandingServer::start().await;
    server.write(&signed(&server.authority, "client.example", 4096));
    let connections = server.connections(true);
    assert_eq!(answer(&connections, body()).await.unwrap(), "answer");
}

#[actix_rt::test]
async fn without_a_certificate_or_with_an_unfit_one_the_reason_is_named() {
    let server = DemandingServer::start().await;
    let expected = "The model server could not be reached: it refused the client certificate, or \
                    demands one.";
    let without = failure(&server.connections(false)).await;
    assert_eq!(without.to_string(), expected);
    for unfit in [
        signed(&authority(), "client.example", 4096),
        signed(&server.authority, "client.example", 2001),
    ] {
        server.write(&unfit);
        let refused = failure(&server.connections(true)).await;
        assert_eq!(refused.to_string(), expected);
    }
    assert_eq!(server.behind.counts().requests, 0);
}

#[actix_rt::test]
async fn a_renewed_certificate_is_used_by_the_next_connection() {
    let server = DemandingServer::start().await;
    server.write(&signed(&server.authority, "client.example", 2001));
    let connections = server.connections(true);
    let refused = ModelError::Unreachable(Unreachable::ClientCertificate);
    assert_eq!(failure(&connections).await, refused);
    server.write(&signed(&server.authority, "client.example", 4096));
    assert_eq!(answer(&connections, body()).await.unwrap(), "answer");
}
