//! The parts shared by pages whose address contains a token.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, REFERRER_POLICY};
use maud::html;
use refract_identity::people::token::Token;

use crate::replies::{Page, PageReply};
use crate::requests::OpenVisit;

/// The token in the address.
pub(super) fn token(visit: &OpenVisit) -> Option<Token> {
    Token::parse(visit.sent.values.get("token"))
}

/// The page for a link that was used, expired, was replaced or never existed. `words` describes the
/// next step.
pub(super) fn void(visit: &OpenVisit, words: &str) -> PageReply {
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
