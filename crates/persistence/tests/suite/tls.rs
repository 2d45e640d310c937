//! PostgreSQL over TLS, with certificates made by the tests.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use refract_persistence::{Database, DatabaseSettings};
use refract_test_support::cluster::Cluster;
use tempfile::TempDir;
use tokio::runtime::Handle;

use crate::schemas::postgres_client;

/// A server with a certificate, and a folder with its authority's certificate (`right.pem`) and
/// another authority's (`wrong.pem`).
struct Server {
    cluster: Cluster,
    folder: TempDir,
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

impl Server {
    fn start(name: &str) -> Self {
        let authority = authority();
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &authority).unwrap();
        let cluster = Cluster::start(&[]);
        let certificate = cluster.write("server.crt", &certificate.pem());
        let key = cluster.write("server.key", &key.serialize_pem());
        cluster.configure(&[
            &format!("ssl_cert_file = '{}'", certificate.display()),
            &format!("ssl_key_file = '{}'", key.display()),
            "ssl = on",
        ]);
        cluster.reload();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("right.pem"), authority.pem()).unwrap();
        fs::write(folder.path().join("wrong.pem"), self::authority().pem()).unwrap();
        Self { cluster, folder }
    }

    /// Opens the database with this `sslmode`, trusting the authority in the file `roots`.
    async fn open(&self, mode: &str, roots: &str) -> Result<Database, String> {
        let plain = self.cluster.url();
        let (address, _) = plain.split_once('?').unwrap();
        let roots = self.folder.path().join(roots);
        let settings = DatabaseSettings {
            url: format!("{address}?sslmode={mode}&sslrootcert={}", roots.display()).into(),
            pool: 2,
        };
        let opened = Database::connect(&settings, Handle::current()).await;
        let database = opened.map_err(|error| error.to_string())?;
        database.ping().await.map_err(|error| error.to_string())?;
        Ok(database)
    }

    /// Whether the connection that an open database keeps is encrypted.
    async fn is_encrypted(&self, _open: &Database) -> bool {
        let client = postgres_client(&self.cluster.url()).await;
        let query = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'refract'";
        client.query_one(query, &[]).await.unwrap().get(0)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trusted_server_is_spoken_to_in_secret_unless_that_is_disabled() {
    let server = Server::start("127.0.0.1");
    for (mode, is_encrypted) in [
        ("disable", false),
        ("prefer", true),
        ("require", true),
        ("verify-full", true),
    ] {
        let database = server.open(mode, "right.pem").await.unwrap();
        assert_eq!(server.is_encrypted(&database).await, is_encrypted, "{mode}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_untrusted_server_is_refused_where_tls_is_required() {
    let server = Server::start("127.0.0.1");
    for mode in ["require", "verify-full"] {
        let words = server.open(mode, "wrong.pem").await.err().unwrap();
        assert!(
            words.contains("TLS") && words.contains("certificate"),
            "{words}"
        );
        assert!(!words.contains(server.cluster.password()), "{words}");
    }
    // `prefer` falls back to a connection without TLS, as for a server that has none
    let database = server.open("prefer", "wrong.pem").await.unwrap();
    assert!(!server.is_encrypted(&database).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_for_another_name_is_refused() {
    let server = Server::start("elsewhere.example");
    for mode in ["require", "verify-full"] {
        let words = server.open(mode, "right.pem").await.err().unwrap();
        assert!(words.contains("not valid for name"), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roots_that_cannot_be_read_are_refused_with_their_path() {
    let server = Server::start("127.0.0.1");
    fs::write(server.folder.path().join("empty.pem"), "").unwrap();
    for roots in ["missing.pem", "empty.pem"] {
        let words = server.open("verify-full", roots).await.err().unwrap();
        assert!(words.contains(roots), "{words}");
    }
}
