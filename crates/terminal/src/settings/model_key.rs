//! The key of the model server.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_service::model::ModelApiKey;

use crate::arguments::{self, cannot_be_used, setting_name};

/// The variable of the header.
const HEADER: &str = "REFRACT_MODEL_KEY_HEADER";

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
