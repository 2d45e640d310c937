//! Grants: the tokens with which a provider is asked again, and the answers of its token endpoint.

use rand::TryRng as _;
use rand::rngs::SysRng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::error::DocumentFault;

/// The longest ID token that is kept: it only saves a question at sign-out.
const LONGEST_ID_TOKEN: usize = 8 * 1024;

/// The tokens that a provider gave for a person. It has no `Debug`, so that no log shows one by
/// accident.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// With it the provider is asked again; `None` where it gave none.
    #[serde(rename = "r", skip_serializing_if = "Option::is_none")]
    pub(crate) refresh_token: Option<String>,
    /// The ID token, with which the provider ends its own session without asking.
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    pub(crate) id_token: Option<String>,
}

impl Grant {
    pub(crate) fn new(refresh_token: Option<String>, id_token: Option<String>) -> Self {
        Self {
            refresh_token,
            id_token: id_token.filter(|token| token.len() <= LONGEST_ID_TOKEN),
        }
    }

    /// Whether the provider can be asked again.
    pub fn can_be_refreshed(&self) -> bool {
        self.refresh_token.is_some()
    }

    /// The grant, encrypted and authenticated with a key that is used for this grant and its
    /// successors only. `None` when the system gives no random numbers.
    pub fn seal(&self, key: &[u8; 32]) -> Option<Vec<u8>> {
        let mut nonce = [0_u8; NONCE_LEN];
        SysRng.try_fill_bytes(&mut nonce).ok()?;
        let mut text = serde_json::to_vec(self).ok()?;
        let sealing = cipher(key)?.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::empty(),
            &mut text,
        );
        sealing.ok()?;
        let mut sealed = nonce.to_vec();
        sealed.append(&mut text);
        Some(sealed)
    }

    /// The grant that was sealed with this key; `None` for anything else.
    pub fn unseal(key: &[u8; 32], sealed: &[u8]) -> Option<Self> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let opened = cipher(key)?.open_in_place(nonce, Aad::empty(), &mut text);
        serde_json::from_slice(opened.ok()?).ok()
    }
}

fn cipher(key: &[u8; 32]) -> Option<LessSafeKey> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).ok()?;
    Some(LessSafeKey::new(key))
}

/// The tokens that the provider gave. It has no `Debug`, so that no log shows one by accident.
#[expect(clippy::struct_field_names, reason = "the names of RFC 6749")]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: Option<String>,
    pub(crate) id_token: Option<String>,
    pub(crate) refresh_token: Option<String>,
}

impl TokenAnswer {
    /// The tokens of an answer. Its other members are not used here, so that they may have any type.
    pub(crate) fn of(document: &Document) -> Result<Self, DocumentFault> {
        let text = |name| Ok(document.text(name)?.map(str::to_owned));
        let answer = Self {
            access_token: text("access_token")?,
            id_token: text("id_token")?,
            refresh_token: text("refresh_token")?,
        };
        if answer.access_token.is_none() && answer.id_token.is_none() {
            return Err(DocumentFault::Missing("access_token"));
        }
        Ok(answer)
    }

    /// The grant of a first answer.
    pub(crate) fn granted(&self) -> Grant {
        Grant::new(self.refresh_token.clone(), self.id_token.clone())
    }

    /// The grant after a refresh: what the provider gave no successor for stays.
    pub(crate) fn renewed(&self, before: &Grant) -> Grant {
        let now = self.granted();
        Grant {
            refresh_token: now.refresh_token.or_else(|| before.refresh_token.clone()),
            id_token: now.id_token.or_else(|| before.id_token.clone()),
        }
    }
}

/// The error code of an answer, if it has one: as the standard has it, or inside an object.
pub(crate) fn error_of(document: &Document) -> Option<String> {
    let error = document.get("error")?;
    let inner = |name: &str| error.get(name)?.as_str();
    let code = error.as_str().or_else(|| inner("code"));
    let code = code.or_else(|| inner("type")).unwrap_or_default();
    Some(crate::flow::error_code(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant::new(Some("refresh".to_owned()), Some("id.token.x".to_owned()))
    }

    #[test]
    fn a_sealed_grant_opens_with_its_key_only() {
        let sealed = grant().seal(&[1; 32]).unwrap();
        assert!(Grant::unseal(&[1; 32], &sealed) == Some(grant()));
        assert!(Grant::unseal(&[2; 32], &sealed).is_none());
        let shown = String::from_utf8_lossy(&sealed);
        assert!(!shown.contains("refresh") && !shown.contains("token"));
    }

    #[test]
    fn a_changed_grant_does_not_open() {
        let sealed = grant().seal(&[1; 32]).unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(Grant::unseal(&[1; 32], &changed).is_none(), "{at}");
        }
        for short in [0, 5, NONCE_LEN, NONCE_LEN + 3] {
            assert!(Grant::unseal(&[1; 32], &sealed[..short]).is_none());
        }
    }

    #[test]
    fn the_same_grant_is_never_sealed_to_the_same_bytes() {
        assert_ne!(grant().seal(&[1; 32]), grant().seal(&[1; 32]));
    }

    #[test]
    fn a_long_id_token_is_not_kept() {
        let long = Grant::new(None, Some("x".repeat(LONGEST_ID_TOKEN + 1)));
        assert!(long.id_token.is_none());
        assert!(!long.can_be_refreshed());
    }
}
