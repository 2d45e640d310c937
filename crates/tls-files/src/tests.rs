use tempfile::TempDir;

use super::*;

fn error(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, content).unwrap();
    let error = TrustedCertificates::in_file(&file).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error.replace(&file.display().to_string(), "FILE")
}

#[test]
fn a_file_without_usable_certificates_is_refused_in_one_line() {
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for content in ["", "no PEM", key] {
        let expected = "FILE has no certificate in PEM form";
        assert_eq!(error(content.as_bytes()), expected);
    }
    assert_eq!(
        error(nonsense.as_bytes()),
        "FILE: certificate 1 cannot be used"
    );
    let cut = error(b"-----BEGIN CERTIFICATE-----\nAAAA\n");
    assert!(cut.starts_with("cannot read FILE: "), "{cut}");
    let missing = TrustedCertificates::in_file(Path::new("/nowhere/ca.pem"));
    let missing = missing.unwrap_err().to_string();
    assert!(
        missing.starts_with("cannot read /nowhere/ca.pem: "),
        "{missing}"
    );
}

/// A certificate and its key, as PEM.
fn pair() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["client.example".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// The files of a pair.
struct PairFiles {
    folder: TempDir,
}

impl PairFiles {
    fn with(certificate: &str, key: &str) -> Self {
        let files = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        files.write("tls.crt", certificate);
        files.write("tls.key", key);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a file as most programs do: a new one takes its name.
    fn write(&self, name: &str, content: &str) {
        let new = self.path("new");
        std::fs::write(&new, content).unwrap();
        std::fs::rename(new, self.path(name)).unwrap();
    }

    fn read(&self) -> Result<ClientCertificate, CertificateFileError> {
        ClientCertificate::in_files(&self.path("tls.crt"), &self.path("tls.key"))
    }

    fn error(&self) -> String {
        let error = self.read().unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

#[test]
fn a_pair_that_cannot_be_used_is_refused_with_its_file_and_the_reason() {
    let (certificate, key) = pair();
    let (_, other_key) = pair();
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let damaged = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (certificate, key, expected) in [
        ("", &*key, "tls.crt has no certificate in PEM form"),
        (&*key, &*key, "tls.crt has no certificate in PEM form"),
        (nonsense, &*key, "tls.crt: certificate 1 cannot be used"),
        (&*certificate, "", "tls.key has no private key in PEM form"),
        (
            &*certificate,
            &*certificate,
            "tls.key has no private key in PEM form",
        ),
        (
            &*certificate,
            encrypted,
            "tls.key has a private key with a password, which is not supported: write it without \
             one, for example by `openssl pkey`",
        ),
        (
            &*certificate,
            damaged,
            "tls.key: the private key cannot be used: it must be RSA, ECDSA (P-256 or P-384) or \
             Ed25519",
        ),
        (
            &*certificate,
            &*other_key,
            "the private key in tls.key does not belong to the certificate in tls.crt",
        ),
    ] {
        assert_eq!(PairFiles::with(certificate, key).error(), expected);
    }
    let files = PairFiles::with(&certificate, &key);
    std::fs::remove_file(files.path("tls.key")).unwrap();
    let missing = files.error();
    assert!(missing.starts_with("cannot read tls.key: No such file"));
}

#[test]
fn one_file_may_hold_both() {
    let (certificate, key) = pair();
    let both = format!("{key}{certificate}");
    let files = PairFiles::with(&both, "");
    let file = files.path("tls.crt");
    let read = ClientCertificate::in_files(&file, &file).unwrap();
    assert!(read.has_certs());
    let shown = format!("{read:?}");
    assert_eq!(shown, format!("ClientCertificate({})", file.display()));
}

#[test]
fn a_renewed_pair_is_used_when_both_files_are_there() {
    let [(first, first_key), (second, second_key)] = [pair(), pair()];
    let files = PairFiles::with(&first, &first_key);
    let certificate = files.read().unwrap();
    let used = || certificate.current().cert.clone();
    let before = used();
    // the new certificate with the old key
    files.write("tls.crt", &second);
    assert_eq!(used(), before);
    files.write("tls.key", &second_key);
    assert_ne!(used(), before);
    let renewed = used();
    std::fs::remove_file(files.path("tls.crt")).unwrap();
    assert_eq!(used(), renewed);
}
