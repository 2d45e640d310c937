//! A PostgreSQL server that demands a client certificate with the user's name, made by the tests.

use std::fs;
use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use refract_persistence::{Database, DatabaseSettings};
use refract_test_support::cluster::{Cluster, Shutdown};
use tempfile::TempDir;
use tokio::runtime::Handle;

type Authority = CertifiedIssuer<'static, KeyPair>;

/// A server that takes connections over TLS alone, and a folder with files of certificates.
struct Server {
    cluster: Cluster,
    authority: Authority,
    folder: TempDir,
}

fn authority(name: &str) -> Authority {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate of a user that ends in this year, and its key, as PEM.
fn signed(authority: &Authority, user: &str, year: i32) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, user);
    parameters.not_after = rcgen::date_time_ymd(year, 1, 1);
    let certificate = parameters.signed_by(&key, authority).unwrap();
    (certificate.pem(), key.serialize_pem())
}

impl Server {
    fn start() -> Self {
        let authority = authority("ours");
        let (certificate, key) = signed(&authority, "server", 4096);
        let cluster = Cluster::start(&[]);
        let certificate = cluster.write("server.crt", &certificate);
        let key = cluster.write("server.key", &key);
        let roots = cluster.write("ca.crt", &authority.pem());
        cluster.configure(&[
            &format!("ssl_cert_file = '{}'", certificate.display()),
            &format!("ssl_key_file = '{}'", key.display()),
            &format!("ssl_ca_file = '{}'", roots.display()),
            "ssl = on",
        ]);
        let rule = "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-full\n";
        fs::write(cluster.data().join("pg_hba.conf"), rule).unwrap();
        cluster.stop(Shutdown::Fast);
        cluster.start_again();
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            cluster,
            authority,
        };
        fs::write(server.file("ca.pem"), server.authority.pem()).unwrap();
        server
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the files of a client certificate.
    fn write(&self, (certificate, key): &(String, String)) {
        fs::write(self.file("tls.crt"), certificate).unwrap();
        fs::write(self.file("tls.key"), key).unwrap();
    }

    /// Opens the database with these parameters beside those that verify the server.
    async fn open(&self, parameters: &str) -> Result<Database, String> {
        let plain = self.cluster.url();
        let (address, _) = plain.split_once('?').unwrap();
        let roots = self.file("ca.pem");
        let url = format!(
            "{address}?sslmode=verify-full&sslrootcert={}{parameters}",
            roots.display()
        );
        let settings = DatabaseSettings {
            url: url.into(),
            pool: 2,
        };
        let opened = Database::connect(&settings, Handle::current()).await;
        let database = opened.map_err(|error| error.to_string())?;
        database.ping().await.map_err(|error| error.to_string())?;
        Ok(database)
    }

    /// Opens the database with the written client certificate.
    async fn open_with_certificate(&self) -> Result<Database, String> {
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| self.file(name));
        let parameters = format!(
            "&sslcert={}&sslkey={}",
            certificate.display(),
            key.display()
        );
        self.open(&parameters).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_users_certificate_opens_the_database_and_no_other() {
    let server = Server::start();
    server.write(&signed(&server.authority, "refract", 4096));
    server.open_with_certificate().await.unwrap();

    let without = server.open("").await.err().unwrap();
    assert!(
        without.contains("requires a valid client certificate"),
        "{without}"
    );
    for (unfit, reason) in [
        (signed(&authority("theirs"), "refract", 4096), "UnknownCA"),
        (
            signed(&server.authority, "refract", 2001),
            "CertificateExpired",
        ),
        (
            signed(&server.authority, "somebody", 4096),
            "authentication failed for user \"refract\"",
        ),
    ] {
        server.write(&unfit);
        let words = server.open_with_certificate().await.err().unwrap();
        assert!(words.contains(reason), "{words}");
        assert!(!words.contains(server.cluster.password()), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_cannot_be_used_are_named_before_a_connection_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let authority = authority("ours");
    let (certificate, _) = signed(&authority, "refract", 4096);
    let (_, other_key) = signed(&authority, "refract", 4096);
    fs::write(file("tls.crt"), certificate).unwrap();
    fs::write(file("other.key"), other_key).unwrap();
    let (certificate, other) = (file("tls.crt"), file("other.key"));
    let nowhere = file("nowhere");
    for (parameters, reason) in [
        (
            format!("sslcert={certificate}"),
            "sslcert needs sslkey".to_owned(),
        ),
        (format!("sslkey={other}"), "sslkey needs sslcert".to_owned()),
        (
            format!("sslcert={certificate}&sslkey={nowhere}"),
            format!("cannot read {nowhere}: No such file"),
        ),
        (
            format!("sslcert={certificate}&sslkey={other}"),
            format!(
                "the private key in {other} does not belong to the certificate in {certificate}"
            ),
        ),
    ] {
        let settings = DatabaseSettings {
            // nothing listens at this port
            url: format!("postgres://u:secret@127.0.0.1:1/d?sslmode=require&{parameters}").into(),
            pool: 2,
        };
        let opened = Database::connect(&settings, Handle::current()).await;
        let words = opened.err().unwrap().to_string();
        assert!(words.contains(&reason), "{words}");
        assert!(!words.contains("secret"), "{words}");
    }
}
