//! Flows: one sign-on from the first redirect to the provider's answer.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// The most characters of an error code that is repeated.
const CODE_CHARACTERS: usize = 64;

/// The secrets of one sign-on, all derived from one that the browser keeps in a cookie. It has no
/// `Debug`, so that no log shows one by accident.
pub struct Flow {
    /// Returned by the provider: binds its answer to the browser (CSRF).
    pub(crate) state: String,
    /// Returned in the ID token: binds the token to the sign-on.
    pub(crate) nonce: String,
    /// Shown when the code is redeemed: binds the code to the sign-on (PKCE, RFC 7636).
    pub(crate) verifier: String,
}

/// What the provider's redirect brings back, as it was sent.
#[derive(Clone, Copy, Default)]
pub struct ProviderAnswer<'a> {
    /// The parameter `state`.
    pub state: &'a str,
    /// The parameter `code`; empty when the provider refused.
    pub code: &'a str,
    /// The parameter `error`; empty when the provider did not refuse.
    pub error: &'a str,
}

impl Flow {
    /// The flow of the secret in a cookie, which nobody can guess.
    pub fn of(secret: &str) -> Self {
        Self {
            state: derived("state", secret),
            nonce: derived("nonce", secret),
            verifier: derived("verifier", secret),
        }
    }

    /// What the provider returns with its answer.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Whether an answer belongs to this flow.
    pub fn is_answered_by(&self, answer: &ProviderAnswer<'_>) -> bool {
        self.state == answer.state
    }
}

impl ProviderAnswer<'_> {
    /// The error code, if it has the form of one. The parameter comes from an address, which anybody
    /// can make.
    pub(crate) fn error_code(&self) -> Option<String> {
        if self.error.is_empty() {
            return None;
        }
        Some(error_code(self.error))
    }
}

/// An error code as it may be repeated: other texts than lower-case words are not.
pub(crate) fn error_code(sent: &str) -> String {
    let is_code = sent.len() <= CODE_CHARACTERS
        && sent
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_code && !sent.is_empty() {
        sent.to_owned()
    } else {
        "another reason".to_owned()
    }
}

/// 256 bits as 43 characters that need no escaping.
fn derived(purpose: &str, secret: &str) -> String {
    let hash = Sha256::new()
        .chain_update("refract sign-on ")
        .chain_update(purpose)
        .chain_update(" ")
        .chain_update(secret);
    BASE64_URL_SAFE_NO_PAD.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_derived_from_its_secret() {
        let (one, again, other) = (Flow::of("a"), Flow::of("a"), Flow::of("b"));
        assert_eq!(one.state, again.state);
        assert_ne!(one.state, other.state);
        let mut parts = vec![&one.state, &one.nonce, &one.verifier];
        assert!(parts.iter().all(|part| part.len() == 43));
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts.len(), 3);
    }

    #[test]
    fn another_browser_does_not_finish_a_flow() {
        let flow = Flow::of("a");
        let answer = |state| ProviderAnswer {
            state,
            code: "c",
            error: "",
        };
        let own = flow.state.clone();
        assert!(flow.is_answered_by(&answer(&own)));
        for other in ["", "a", &Flow::of("b").state, &flow.nonce] {
            assert!(!flow.is_answered_by(&answer(other)));
        }
    }

    #[test]
    fn only_codes_are_repeated() {
        let code = |error| {
            let answer = ProviderAnswer {
                error,
                ..ProviderAnswer::default()
            };
            answer.error_code()
        };
        assert_eq!(code(""), None);
        assert_eq!(code("access_denied").as_deref(), Some("access_denied"));
        for other in ["<b>", "call 555-1234", "Access_Denied", &"a".repeat(65)] {
            assert_eq!(code(other).as_deref(), Some("another reason"));
        }
    }
}
