//! The signed-in person.

use std::ops::Deref;

use refract_service::InternalError;
use refract_service::Refract;
use refract_service::people::SignedIn;
use refract_service::people::token::Token;

/// A signed-in person.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(SignedIn);

impl Deref for Visitor {
    type Target = SignedIn;

    fn deref(&self) -> &SignedIn {
        &self.0
    }
}

impl Visitor {
    /// The person whose valid session a cookie names. Of several cookies the first with a valid
    /// session counts: a cookie planted in front of it must not sign the person out.
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
