//! The cookie that recognises a browser from an earlier sign-in. It signs nobody in: it gives the
//! browser its own count of sign-in attempts, so that nobody else can lock the person out.

use actix_web::HttpRequest;
use cookie::Cookie;
use cookie::time::Duration;
use refract_http_serving::ClientAddress;
use refract_identity::people::token::Token;
use refract_identity::people::{AppUrl, Session, SignInClient};

use crate::app_site::AppSite;
use crate::cookies::sent_cookies::OwnCookie;
use crate::cookies::session_cookie;

const COOKIE: OwnCookie = OwnCookie {
    plain: "refract_browser",
    bound: "__Host-refract_browser",
};
/// Lifetime of the cookie: as long as the database remembers the browser.
const KEPT: Duration = Duration::days(365);

/// The client of a request: its network and its browser cookies.
pub(crate) fn client(
    request: &HttpRequest,
    address: Option<ClientAddress>,
    site: &AppSite,
) -> SignInClient {
    let network = address.map(|address| address.network().to_string());
    let browsers = COOKIE.tokens(request, &site.url);
    SignInClient::new(network.unwrap_or_default(), browsers)
}

/// The two cookies set at sign-in: session and browser.
pub(crate) fn signed_in(session: &Session, app: &AppUrl) -> [Cookie<'static>; 2] {
    [
        session_cookie::for_token(&session.token, app),
        for_token(&session.browser, app),
    ]
}

fn for_token(token: &Token, app: &AppUrl) -> Cookie<'static> {
    COOKIE.with(token.reveal(), KEPT, app)
}
