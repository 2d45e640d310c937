//! `/sign-in/{token}`: signs in by a single-use link. Opening the page neither uses the link up nor
//! signs anybody in or out: link scanners in mail programs open it too.
//!
//! `/join/{token}` uses the parts that all pages with a token in their address have.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, REFERRER_POLICY};
use maud::html;
use refract_identity::people::{SignInError, Token};

use crate::pages::sign_in::welcome;
use crate::replies::{Page, PageError, PageReply};
use crate::requests::OpenVisit;

/// Shows the sign-in button if the link is valid.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageError> {
    let is_good = match token(&visit) {
        Some(token) => visit.refract.people().is_sign_in_link(&token).await,
        None => Ok(false),
    };
    if !is_good? {
        return Ok(void(&visit));
    }
    let main = html! {
        h1 { "Sign in" }
        @if let Some(visitor) = &visit.visitor {
            p { "You are signed in as " bdi { (visitor.name) } ". This link signs that out here." }
        }
        p { "This link signs you in once." }
        form method="post" action=(visit.sent.path) {
            button.main type="submit" autofocus { "Sign in" }
        }
    };
    Ok(reply(visit.page("Sign in", main)))
}

/// Signs in and uses the link up.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    let session = match token(&visit) {
        Some(token) => {
            let request = Some(visit.request.clone());
            let people = visit.refract.people();
            let signing_in = people.sign_in_by_link(&visit.sent.client, &token, request);
            signing_in.await
        }
        None => Ok(None),
    };
    match session {
        Ok(Some(session)) => welcome(&visit, &session, "/", None).await,
        Err(SignInError::Persistence(error)) => Err(error.into()),
        Err(SignInError::Secret(error)) => Err(error.into()),
        // a link has no password that could be wrong
        Ok(None)
        | Err(
            SignInError::Wrong
            | SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. },
        ) => Ok(void(&visit)),
    }
}

/// The page for a link that was used, is older than a day or never existed.
fn void(visit: &OpenVisit) -> PageReply {
    let words = "It signs in once, within a day. Start the demo again for a new one.";
    void_link(visit, words)
}

/// The token in the address.
pub(super) fn token(visit: &OpenVisit) -> Option<Token> {
    Token::parse(visit.sent.values.get("token"))
}

/// The page for a link that was used, expired, was replaced or never existed. `words` describes the
/// next step.
pub(super) fn void_link(visit: &OpenVisit, words: &str) -> PageReply {
    let main = html! {
        h1 { "This link no longer works" }
        p { (words) }
        p { a.button href="/sign-in" { "Sign in" } }
    };
    reply(visit.page("Link not good", main).status(StatusCode::GONE))
}

/// The reply of a page whose address contains a token. Its referrer policy hides the path but keeps
/// the origin, since older browsers need the origin to prove that the form comes from the app.
pub(super) fn reply(page: Page<'_>) -> PageReply {
    let origin_only = HeaderValue::from_static("strict-origin");
    page.reply().with_header(REFERRER_POLICY, origin_only)
}
