//! The replies: page layout, errors, files, and the headers of all replies.

mod page;
mod page_reply;
pub(crate) mod refusal_page;

use actix_web::http::StatusCode;
use refract_domain::account::Role;
use refract_http_serving::{Draining, Panicked};
use refract_identity::people::SecretError;
use refract_service::InternalError;
use refract_service::prisms::PrismError;
use refract_service::store::PersistenceError;

use crate::requests::FormSize;

pub(crate) use self::page::{Page, Section};
pub(crate) use self::page_reply::PageReply;

/// Why a page is not shown or an action not carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such page, or its content belongs to another account.
    #[error("there is no such page")]
    NotFound,
    /// The page has no such action.
    #[error("there is no such action")]
    MethodNotAllowed,
    /// Nobody is signed in.
    #[error("nobody is signed in")]
    SignedOut,
    /// The account requires one-time codes, and the visitor has none.
    #[error("the visitor has no one-time codes yet")]
    NeedsCodes,
    /// The visitor's role is too low.
    #[error("this is for a higher role")]
    NeedsRole {
        /// The least role that may do it.
        least: Role,
        /// The names of people who have it.
        people: Vec<String>,
    },
    /// The request comes from another site's page.
    #[error("the request does not come from the app")]
    OtherOrigin,
    /// The form exceeds the size limit of its sender.
    #[error("the form is too large")]
    FormTooLarge(FormSize),
    /// An uploaded file is larger than this many MiB.
    #[error("the file is too large")]
    UploadTooLarge(u64),
    /// The body is not a form, or did not arrive completely.
    #[error("the body is no form")]
    NoForm,
    /// A change to a prism was refused, for this reason.
    #[error("the prism is not changed: {0}")]
    NotChanged(String),
    /// The server is stopping.
    #[error(transparent)]
    Draining(#[from] Draining),
    /// The handler panicked: a bug.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The service failed.
    #[error("the service failed")]
    Internal(#[from] InternalError),
}

impl PageError {
    /// The HTTP status of the error.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::NeedsCodes | Self::NeedsRole { .. } | Self::OtherOrigin => StatusCode::FORBIDDEN,
            Self::FormTooLarge(_) | Self::UploadTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoForm => StatusCode::BAD_REQUEST,
            Self::NotChanged(_) => StatusCode::CONFLICT,
            Self::Draining(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Panicked(_) | Self::Secret(_) | Self::Internal(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// The title of the error page.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "No such action",
            Self::SignedOut => "Sign in again",
            Self::NeedsCodes => "One-time codes first",
            Self::NeedsRole { .. } => "Not for your role",
            Self::OtherOrigin => "Not from this app",
            Self::FormTooLarge(_) | Self::UploadTooLarge(_) => "Too large",
            Self::NoForm => "Nothing arrived",
            Self::NotChanged(_) => "Not changed",
            Self::Draining(_) => "One moment",
            Self::Panicked(_) | Self::Secret(_) | Self::Internal(_) => "Something failed",
        }
    }

    /// What happened and what to do, in one or two sentences.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::NotFound => {
                "There is nothing at this address, or it belongs to another account.".to_owned()
            }
            Self::MethodNotAllowed => {
                "This address has no such action. Go back and try from the page.".to_owned()
            }
            Self::SignedOut => "Your session ended. Sign in again to go on.".to_owned(),
            Self::NeedsCodes => {
                "Your account requires one-time codes, so nothing was done. Set them \
                                 up, then send this again."
                    .to_owned()
            }
            Self::NeedsRole { least, people } => needs_role(*least, people),
            Self::OtherOrigin => "The request came from another site, so nothing was changed. \
                                  Open the app and do it there."
                .to_owned(),
            Self::FormTooLarge(size) => size.message().to_owned(),
            Self::UploadTooLarge(mib) => format!(
                "The file is larger than {mib} MiB, so nothing of it was kept. Split it and run the \
                 parts, or use `refract run`, which takes files of any size."
            ),
            Self::NoForm => "The form did not arrive whole. Go back and send it again; nothing \
                             was saved."
                .to_owned(),
            Self::NotChanged(why) => format!("Nothing was changed: {why}."),
            Self::Draining(_) => "The server is restarting, so nothing was saved. Send it again \
                                  in a few seconds."
                .to_owned(),
            Self::Panicked(_) | Self::Secret(_) | Self::Internal(_) => {
                "Nothing that you typed is lost where you see it below. Try again; if it fails \
                 again, tell the people who run Refract the number below."
                    .to_owned()
            }
        }
    }
}

/// Who may do what a visitor may not.
fn needs_role(least: Role, people: &[String]) -> String {
    let who = match least {
        Role::Reviewer => "a reviewer, an editor or an owner",
        Role::Editor => "an editor or an owner",
        Role::Owner => "an owner",
    };
    if people.is_empty() {
        return format!("Only {who} of the account may do this.");
    }
    format!("Ask {who}: {}.", people.join(", "))
}

impl From<PersistenceError> for PageError {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(error.into())
    }
}

impl From<PrismError> for PageError {
    fn from(refusal: PrismError) -> Self {
        match refusal {
            PrismError::NotFound
            | PrismError::VersionNotFound
            | PrismError::LensRevisionNotFound => Self::NotFound,
            PrismError::Persistence(error) => error.into(),
            PrismError::Invalid(_)
            | PrismError::NoMoreVersions
            | PrismError::VersionMeanwhile { .. }
            | PrismError::LensMeanwhile
            | PrismError::Contended => Self::NotChanged(refusal.to_string()),
        }
    }
}
