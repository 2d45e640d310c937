//! The signed-in person.

use std::ops::Deref;

use actix_web::rt;
use refract_service::InternalError;
use refract_service::Refract;
use refract_service::people::token::Token;
use refract_service::people::{SessionState, SignedIn};

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
            let signed_in = match refract.people().session(token).await? {
                SessionState::Ended => None,
                SessionState::SignedIn(person) => Some(person),
                SessionState::CheckDue => {
                    let (refract, token) = (refract.clone(), token.clone());
                    // goes on when the client disconnects: the provider's answer must be saved
                    let asking =
                        rt::spawn(
                            async move { refract.people().check_with_provider(&token).await },
                        );
                    // a panic signs nobody in
                    asking.await.unwrap_or(Ok(None))?
                }
            };
            if let Some(signed_in) = signed_in {
                return Ok(Some(Self(signed_in)));
            }
        }
        Ok(None)
    }
}
