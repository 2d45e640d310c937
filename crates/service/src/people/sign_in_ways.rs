//! The ways to sign in that an installation offers.

use refract_sign_on::{SignOn, SignOnSettingError, SignOnSettings};

/// How people may sign in. Links that an operator makes work in every case.
#[derive(Clone)]
pub struct SignInWays {
    /// The sign-in provider; `None` where there is none.
    pub(crate) provider: Option<SignOn>,
    /// Whether passwords sign in.
    pub(crate) passwords: bool,
}

impl SignInWays {
    /// By passwords, unless they are switched off, and by a provider, if there is one. The provider
    /// is not asked yet: a node starts without it. Its certificate is verified like a model
    /// server's.
    ///
    /// # Errors
    /// A setting of the provider that cannot be used.
    pub fn new(
        provider: Option<SignOnSettings>,
        passwords: bool,
    ) -> Result<Self, SignOnSettingError> {
        let provider = provider.map(|settings| {
            let tls = refract_model_gateway::tls_client_config();
            SignOn::new(settings, tls.map_err(|_| SignOnSettingError::Client)?)
        });
        Ok(Self {
            provider: provider.transpose()?,
            passwords,
        })
    }
}

/// Passwords only.
impl Default for SignInWays {
    fn default() -> Self {
        Self {
            provider: None,
            passwords: true,
        }
    }
}
