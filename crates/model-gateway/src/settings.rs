//! What an operator sets about the model.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::endpoint::ModelEndpoint;
use crate::protocol::Protocol;
use crate::setting_fault::SettingFault;

/// How the model is reached and asked.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Where the model is.
    pub endpoint: ModelEndpoint,
    /// What the server speaks; without meaning for [`ModelEndpoint::Lexical`].
    pub protocol: Protocol,
    /// Sent as `model`.
    pub name: String,
    /// Sent as `Authorization: Bearer`.
    pub api_key: Option<ModelApiKey>,
    /// Estimated tokens above which a `systemone` or `decisions` request is split.
    pub request_tokens: usize,
    /// Timeout of one attempt, from sending to the last byte of the answer.
    pub timeout: Duration,
    /// Most requests in flight at once, at least 1; further requests wait.
    pub concurrency: usize,
    /// Most follow-up requests for one question of the protocol `chat`; 0 sends none.
    pub follow_ups: usize,
}

impl ModelSettings {
    /// The settings of each server alone, in the order of the list: for asking every one of them.
    pub fn of_each_server(&self) -> Vec<Self> {
        let endpoints = self.endpoint.each_alone();
        let settings = endpoints.into_iter().map(|endpoint| Self {
            endpoint,
            ..self.clone()
        });
        settings.collect()
    }
}

/// The key that a model server asks for. `Debug` does not show it.
#[derive(Clone)]
pub struct ModelApiKey(String);

impl ModelApiKey {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ModelApiKey {
    type Err = SettingFault;

    fn from_str(text: &str) -> Result<Self, SettingFault> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingFault::ApiKey);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for ModelApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelApiKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_key_is_shown_nowhere() {
        let key: ModelApiKey = " sk-secret ".parse().unwrap();
        assert_eq!(key.as_str(), "sk-secret");
        assert_eq!(format!("{key:?}"), "ModelApiKey(..)");
        for bad in ["", " ", "two words", "line\nbreak", "schlüssel"] {
            assert_eq!(
                bad.parse::<ModelApiKey>().err(),
                Some(SettingFault::ApiKey),
                "{bad}"
            );
        }
    }
}
