//! The pages that links with a token lead to.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, REFERRER_POLICY};
use maud::html;
use refract_service::people::token::Token;

use crate::replies::page::Page;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::OpenVisit;

/// The token that the address names.
pub(super) fn token(visit: &OpenVisit) -> Option<Token> {
    Token::parse(visit.sent.values.get("token"))
}

/// The page of a link that was used, has expired, was replaced or never was. `words` say what to do.
pub(super) fn void(visit: &OpenVisit, words: &str) -> PageReply {
    let main = html! {
        h1 { "This link is not good any more" }
        p { (words) }
        p { a.button href="/sign-in" { "Sign in" } }
    };
    reply(visit.page("Link not good", main).status(StatusCode::GONE))
}

/// The page without its address in what it leads to: the address holds the token. The origin is
/// still named, since older browsers say by it that the form comes from the app.
pub(super) fn reply(page: Page<'_>) -> PageReply {
    let origin_only = HeaderValue::from_static("strict-origin");
    page.reply().with_header(REFERRER_POLICY, origin_only)
}
