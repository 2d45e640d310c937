//! Why a sign-on failed.

/// Why a sign-on failed, or why a person is no longer let in. The messages repeat no token and no
/// claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignOnError {
    /// The provider does not answer, or answers with a failure of its own.
    #[error("the sign-in provider does not answer")]
    Away,
    /// Too many sign-ons are under way at this moment.
    #[error("too many people sign in at this moment: try again in a few seconds")]
    Busy,
    /// The answer belongs to no sign-on of this browser, or to an older one.
    #[error("this sign-in was not begun in this browser, or was begun again since")]
    OtherFlow,
    /// The provider refused, with an error code of the standards.
    #[error("the sign-in provider refused: {code}")]
    Refused {
        /// The error code, such as `access_denied`.
        code: String,
    },
    /// The provider does not accept the client's id or secret.
    #[error(
        "the sign-in provider does not accept this installation: its client id or secret is wrong"
    )]
    ClientRefused,
    /// The provider answered with something that cannot be used here.
    #[error("the sign-in provider's {document} cannot be used: {fault}")]
    Document {
        /// What the provider sent.
        document: &'static str,
        /// What is wrong with it.
        fault: DocumentFault,
    },
    /// What the provider sent cannot be trusted.
    #[error("the sign-in provider's answer is not valid: {0}")]
    Untrusted(#[from] Distrust),
    /// The provider knows the person, but the rules of this installation do not let them in.
    #[error("{reason}")]
    NotLetIn {
        /// The rule that is not met.
        reason: NotLetIn,
        /// The person's id at the provider.
        subject: String,
    },
}

/// Why a document that a provider sent cannot be used. A member is named, its value never repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    /// The answer is something else than a JSON object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A member is absent.
    #[error("its `{0}` is missing")]
    Missing(&'static str),
    /// A member has a value that cannot be read.
    #[error("its `{0}` cannot be read")]
    Member(&'static str),
    /// The answer has a status that says that nothing is there, or that it is elsewhere.
    #[error("its status is {0}")]
    Status(u16),
    /// The discovery document is another issuer's.
    #[error(
        "it names another issuer than REFRACT_OIDC_ISSUER, which must be spelled exactly as there"
    )]
    OtherIssuer,
}

/// Why a provider's answer cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// The ID token is not a signed token.
    #[error("its ID token cannot be read")]
    Unreadable,
    /// The ID token is encrypted.
    #[error("its ID token is encrypted, which has to be switched off at the provider")]
    Encrypted,
    /// There is no ID token.
    #[error("it has no ID token")]
    NoIdToken,
    /// The ID token was issued by another issuer.
    #[error("it comes from another issuer")]
    Issuer,
    /// The ID token was issued for another client.
    #[error("it is meant for another client")]
    Audience,
    /// The ID token names another authorised party.
    #[error("it is meant for another client, by its `azp`")]
    AuthorizedParty,
    /// The ID token is unsigned, or signed with a shared secret or an unknown algorithm.
    #[error(
        "its signature has an algorithm that does not count: choose RS256 or ES256 at the provider"
    )]
    Algorithm,
    /// The ID token's signature is wrong, or by an unknown key.
    #[error("its signature is not the provider's")]
    Signature,
    /// The ID token belongs to another sign-on.
    #[error("it belongs to another sign-in")]
    Nonce,
    /// The ID token has expired, or is not valid yet: a clock is wrong.
    #[error("it is too old or too new, so one of the two clocks is wrong")]
    Clock,
    /// The ID token is about another person than before.
    #[error("it is about another person")]
    Subject,
    /// The ID token fails another check.
    #[error("it fails a check")]
    Other,
}

/// Why a person whom the provider knows is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLetIn {
    /// The provider names no email address.
    #[error("the sign-in provider names no email address for you")]
    NoEmail,
    /// The address has characters that no address here may have.
    #[error(
        "the sign-in provider names an email address for you that has hidden or unusual characters"
    )]
    UnusableEmail,
    /// The provider has not verified the address.
    #[error("the sign-in provider has not verified your email address")]
    UnverifiedEmail,
    /// The address is of no allowed domain.
    #[error("your email address is of a domain that may not sign in here")]
    Domain,
    /// No value of the role claim has a role.
    #[error("the sign-in provider names no role for you here")]
    NoRole,
    /// There is no role claim.
    #[error("the sign-in provider sent nothing about your role here")]
    NoRoleClaim,
}

impl DocumentFault {
    pub(crate) fn of(self, document: &'static str) -> SignOnError {
        SignOnError::Document {
            document,
            fault: self,
        }
    }
}

impl NotLetIn {
    pub(crate) fn of(self, subject: String) -> SignOnError {
        SignOnError::NotLetIn {
            reason: self,
            subject,
        }
    }
}

impl SignOnError {
    /// Whether the failure says that the person may not come in, as opposed to a failure of the
    /// provider, the network or this installation.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Untrusted(_) | Self::NotLetIn { .. } => true,
            // an unreadable answer may come from a proxy in front of a provider that is away
            Self::Away
            | Self::Busy
            | Self::OtherFlow
            | Self::ClientRefused
            | Self::Document { .. } => false,
        }
    }
}
