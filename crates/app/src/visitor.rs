//! Who is signed in.

use refract_answering::people::{SignedIn, session};
use refract_answering::{Answering, InternalError};
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_domain::role::Role;
use refract_domain::token::Token;

/// A person who is signed in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// The account that the person belongs to.
    pub(crate) account: AccountId,
    pub(crate) person: PersonId,
    /// The name that the person chose.
    pub(crate) name: String,
    pub(crate) role: Role,
    /// The first change of the person by somebody else that they are still to be told of.
    pub(crate) untold_event: Option<EventId>,
}

impl Visitor {
    /// The person whose session a cookie names, while the session lasts.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn find(
        answering: &Answering,
        token: &str,
    ) -> Result<Option<Self>, InternalError> {
        let Some(token) = Token::parse(token) else {
            return Ok(None);
        };
        let found = session(answering.database(), &token).await?;
        Ok(found.map(Self::from))
    }
}

impl From<SignedIn> for Visitor {
    fn from(signed_in: SignedIn) -> Self {
        Self {
            account: signed_in.account,
            person: signed_in.person,
            name: signed_in.name,
            role: signed_in.role,
            untold_event: signed_in.untold_event,
        }
    }
}
