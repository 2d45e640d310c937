//! The ways to sign in that an installation offers.

use refract_sign_on::SignOn;

/// How people may sign in. Links that an operator makes work in every case.
#[derive(Clone)]
pub struct SignInWays {
    /// The sign-in provider; `None` where there is none.
    pub(crate) provider: Option<SignOn>,
    /// Whether passwords sign in.
    pub(crate) passwords: bool,
}

impl SignInWays {
    /// By a provider, and by passwords unless they are switched off. `None` without any way.
    pub fn new(provider: Option<SignOn>, passwords: bool) -> Option<Self> {
        (provider.is_some() || passwords).then_some(Self {
            provider,
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
