//! The settings of model servers: connections and the key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_service::model::{
    ClientCertificate, ConnectionSettings, ModelApiKey, ProxyVariables, TrustedCertificates,
};

use crate::arguments::{self, cannot_be_used, setting_name};

const CA: &str = "REFRACT_MODEL_CA_FILE";
const CERTIFICATE: &str = "REFRACT_MODEL_CLIENT_CERT_FILE";
const KEY: &str = "REFRACT_MODEL_CLIENT_KEY_FILE";
/// The variable of the header.
const HEADER: &str = "REFRACT_MODEL_KEY_HEADER";

/// The files of certificates for TLS to model servers.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
#[expect(
    clippy::struct_field_names,
    reason = "clap names flags after them, beside those of the commands that they are part of"
)]
pub(super) struct ModelConnectionArgs {
    /// A PEM file of certificate authorities to trust for model servers, besides the system's
    #[arg(long, env = "REFRACT_MODEL_CA_FILE", value_name = "FILE")]
    model_ca_file: Option<PathBuf>,

    /// A PEM file of the certificate, with its chain, for model servers that ask for one; it is read
    /// again when it changes
    #[arg(long, env = "REFRACT_MODEL_CLIENT_CERT_FILE", value_name = "FILE")]
    model_client_cert_file: Option<PathBuf>,

    /// A PEM file of that certificate's private key, without a password
    #[arg(long, env = "REFRACT_MODEL_CLIENT_KEY_FILE", value_name = "FILE")]
    model_client_key_file: Option<PathBuf>,
}

impl ModelConnectionArgs {
    /// The proxies of the environment and the certificates of the files.
    pub(super) fn connections(&self) -> anyhow::Result<ConnectionSettings> {
        let certificates = given(self.model_ca_file.as_ref());
        let certificates = certificates.map(TrustedCertificates::in_file).transpose();
        let certificates = certificates.with_context(|| cannot_be_used(CA))?;
        Ok(ConnectionSettings {
            proxies: ProxyVariables::of_environment(),
            certificates: certificates.unwrap_or_default(),
            client_certificate: self.client_certificate()?.map(Arc::new),
        })
    }

    fn client_certificate(&self) -> anyhow::Result<Option<ClientCertificate>> {
        let certificate = given(self.model_client_cert_file.as_ref());
        let key = given(self.model_client_key_file.as_ref());
        let (alone, other) = match (certificate, key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => {
                let read = ClientCertificate::in_files(certificate, key);
                let read = read.with_context(|| cannot_be_used(CERTIFICATE))?;
                return Ok(Some(read));
            }
            (Some(_), None) => (CERTIFICATE, KEY),
            (None, Some(_)) => (KEY, CERTIFICATE),
        };
        bail!(
            "{} is set without {other}: set both, or none",
            setting_name(alone)
        )
    }
}

/// A file, unless its name is empty.
fn given(file: Option<&PathBuf>) -> Option<&Path> {
    let file = file.map(PathBuf::as_path);
    file.filter(|path| !path.as_os_str().is_empty())
}

/// The settings of the model server's key.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
#[expect(
    clippy::struct_field_names,
    reason = "clap names flags after them, beside those of the commands that they are part of"
)]
pub(super) struct ModelKeyArgs {
    /// The server's API key; never logged
    #[arg(
        long,
        env = "REFRACT_MODEL_API_KEY",
        value_name = "KEY",
        hide_env_values = true
    )]
    model_api_key: Option<String>,

    /// A file that holds the key, instead of --model-api-key; it is read again when the server
    /// refuses the key
    #[arg(long, env = "REFRACT_MODEL_API_KEY_FILE", value_name = "FILE")]
    model_api_key_file: Option<PathBuf>,

    /// Header of the key, which is bare unless it is `Authorization` [default: Authorization; with
    /// `gemini` x-goog-api-key]
    #[arg(long, env = "REFRACT_MODEL_KEY_HEADER", value_name = "NAME")]
    model_key_header: Option<String>,
}

impl ModelKeyArgs {
    /// The key in its header, if there is one.
    pub(super) fn key(&self) -> anyhow::Result<Option<ModelApiKey>> {
        let header = self.model_key_header.as_deref();
        let Some(header) = header.filter(|name| !name.is_empty()) else {
            return self.bare_key();
        };
        let header = header.parse().with_context(|| cannot_be_used(HEADER))?;
        let Some(key) = self.bare_key()? else {
            bail!(
                "{} is set without a key: set REFRACT_MODEL_API_KEY or \
                 REFRACT_MODEL_API_KEY_FILE, or leave it out",
                setting_name(HEADER)
            );
        };
        Ok(Some(key.sent_in(header)))
    }

    fn bare_key(&self) -> anyhow::Result<Option<ModelApiKey>> {
        arguments::refuse_both("REFRACT_MODEL_API_KEY")?;
        let file = self.model_api_key_file.as_deref();
        if let Some(file) = file.filter(|path| !path.as_os_str().is_empty()) {
            let key = ModelApiKey::in_file(file);
            let key = key.with_context(|| cannot_be_used("REFRACT_MODEL_API_KEY_FILE"))?;
            return Ok(Some(key));
        }
        let key = self.model_api_key.as_deref().filter(|key| !key.is_empty());
        let key = key.map(str::parse).transpose();
        key.with_context(|| cannot_be_used("REFRACT_MODEL_API_KEY"))
    }
}
