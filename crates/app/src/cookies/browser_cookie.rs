//! The cookie by which a browser is known in which somebody signed in before. It signs nobody in: it
//! gives the person's tries a count of their own, so that nobody else can lock them out.

use actix_web::HttpRequest;
use cookie::Cookie;
use cookie::time::Duration;
use refract_http_serving::ClientAddress;
use refract_service::people::token::Token;
use refract_service::people::{AppUrl, Session, SignInClient};

use crate::app_site::AppSite;
use crate::cookies::sent_cookies::OwnCookie;
use crate::cookies::session_cookie;

const COOKIE: OwnCookie = OwnCookie {
    plain: "refract_browser",
    bound: "__Host-refract_browser",
};
/// How long a browser keeps the cookie, which is as long as the database knows the browser.
const KEPT: Duration = Duration::days(365);

/// The client of a request: its network, and the cookies of its browser.
pub(crate) fn client(
    request: &HttpRequest,
    address: Option<ClientAddress>,
    site: &AppSite,
) -> SignInClient {
    let network = address.map(|address| address.network().to_string());
    let browsers = COOKIE.tokens(request, &site.url);
    SignInClient::new(network.unwrap_or_default(), browsers)
}

/// The cookies of somebody who signs in: the one of the session, and the one of the browser.
pub(crate) fn signed_in(session: &Session, app: &AppUrl) -> [Cookie<'static>; 2] {
    [
        session_cookie::for_token(&session.token, app),
        for_token(&session.browser, app),
    ]
}

fn for_token(token: &Token, app: &AppUrl) -> Cookie<'static> {
    COOKIE.with(token.reveal(), KEPT, app)
}
