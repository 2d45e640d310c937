//! Who is signed in.

use std::ops::Deref;

use refract_service::InternalError;
use refract_service::Refract;
use refract_service::people::SignedIn;
use refract_service::people::token::Token;

/// A person who is signed in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(SignedIn);

impl Deref for Visitor {
    type Target = SignedIn;

    fn deref(&self) -> &SignedIn {
        &self.0
    }
}

impl Visitor {
    /// The person whose session a cookie names, while the session lasts. Of several cookies the first
    /// whose session lasts counts: one that was planted before it must not sign anybody out.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn find(
        refract: &Refract,
        tokens: &[Token],
    ) -> Result<Option<Self>, InternalError> {
        for token in tokens {
            let found = refract.people().session(token).await?;
            if let Some(signed_in) = found {
                return Ok(Some(Self(signed_in)));
            }
        }
        Ok(None)
    }
}
