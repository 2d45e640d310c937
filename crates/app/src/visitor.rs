//! Who is signed in.

use refract_answering::{Answering, InternalError};
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::role::Role;

/// A person who is signed in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// The account that the person belongs to.
    pub(crate) account: AccountId,
    pub(crate) person: PersonId,
    /// The name that the person chose.
    pub(crate) name: String,
    pub(crate) role: Role,
}

impl Visitor {
    /// The person whose session a cookie names, while the session lasts.
    ///
    /// # Errors
    /// When the database fails.
    pub(crate) async fn find(
        _answering: &Answering,
        _token: &str,
    ) -> Result<Option<Self>, InternalError> {
        Ok(None)
    }
}
