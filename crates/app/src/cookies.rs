//! The cookies that identify a session, a browser and a begun sign-on: reads those of a request,
//! and builds the app's.
//!
//! The browser's cookie recognises it from an earlier sign-in. It signs nobody in: it gives the
//! browser its own count of sign-in attempts, so that nobody else can lock the person out.

mod sign_on_cookie;

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use refract_http_serving::ClientAddress;
use refract_identity::people::{AppUrl, Session, SignInClient, Token};

use crate::app_site::AppSite;

pub(crate) use self::sign_on_cookie::BegunSignOns;

/// The most cookies of one name that are read.
const MOST_COOKIES: usize = 8;

/// A cookie of the app, by two names: the plain one without TLS, and with TLS one whose prefix
/// binds it to the host.
#[derive(Clone, Copy)]
struct OwnCookie {
    plain: &'static str,
    bound: &'static str,
}

impl OwnCookie {
    /// The tokens that a request sends under this name. There may be several: without TLS, another
    /// host of the same domain can plant a cookie in front of the app's own.
    fn tokens(self, request: &HttpRequest, app: &AppUrl) -> Vec<Token> {
        let named = sent(request).filter(|cookie| cookie.name() == self.name(app));
        let tokens = named.filter_map(|cookie| Token::parse(cookie.value()));
        tokens.take(MOST_COOKIES).collect()
    }

    /// The cookies of a request whose names begin with this one: the rest of the name, and the value.
    fn with_names(self, request: &HttpRequest, app: &AppUrl) -> Vec<(String, String)> {
        let own = self.name(app);
        let named = sent(request).filter_map(|cookie| {
            let rest = cookie.name().strip_prefix(own)?.to_owned();
            Some((rest, cookie.value().to_owned()))
        });
        named.take(MOST_COOKIES).collect()
    }

    /// The cookie with this value and this lifetime.
    fn with(self, value: &str, kept: Duration, app: &AppUrl) -> Cookie<'static> {
        self.named("", value, kept, app)
    }

    /// The cookie whose name ends so, with this value and this lifetime.
    fn named(self, rest: &str, value: &str, kept: Duration, app: &AppUrl) -> Cookie<'static> {
        Cookie::build((format!("{}{rest}", self.name(app)), value.to_owned()))
            .path("/")
            .http_only(true)
            .same_site(SameSite::Lax)
            .secure(app.is_secure())
            .max_age(kept)
            .build()
    }

    fn name(self, app: &AppUrl) -> &'static str {
        if app.is_secure() {
            self.bound
        } else {
            self.plain
        }
    }
}

/// The cookies of a request; what is no cookie is left out.
fn sent(request: &HttpRequest) -> impl Iterator<Item = Cookie<'_>> {
    let sent = request.headers().get_all(COOKIE);
    sent.filter_map(|header| header.to_str().ok())
        .flat_map(Cookie::split_parse)
        .flatten()
}

const SESSION: OwnCookie = OwnCookie {
    plain: "refract",
    bound: "__Host-refract",
};
/// Lifetime of the cookie: the maximum that browsers allow. Only the database decides whether a
/// session is still valid; a cookie that outlives its session lets the app tell an expired session
/// from a stranger.
const SESSION_KEPT: Duration = Duration::days(400);

/// The session tokens of a request: one, or several if another host planted a cookie.
pub(crate) fn session_tokens(request: &HttpRequest, app: &AppUrl) -> Vec<Token> {
    SESSION.tokens(request, app)
}

/// The session cookie, set at sign-in.
fn session_cookie(token: &Token, app: &AppUrl) -> Cookie<'static> {
    SESSION.with(token.reveal(), SESSION_KEPT, app)
}

/// The cookie that deletes the session cookie at sign-out.
pub(crate) fn ended_session(app: &AppUrl) -> Cookie<'static> {
    SESSION.with("", Duration::ZERO, app)
}

const BROWSER: OwnCookie = OwnCookie {
    plain: "refract_browser",
    bound: "__Host-refract_browser",
};
/// Lifetime of the cookie: as long as the database remembers the browser.
const BROWSER_KEPT: Duration = Duration::days(365);

/// The client of a request: its network and its browser cookies.
pub(crate) fn client(
    request: &HttpRequest,
    address: Option<ClientAddress>,
    site: &AppSite,
) -> SignInClient {
    let network = address.map(|address| address.network().to_string());
    let browsers = BROWSER.tokens(request, &site.url);
    SignInClient::new(network.unwrap_or_default(), browsers)
}

/// The two cookies set at sign-in: session and browser.
pub(crate) fn signed_in(session: &Session, app: &AppUrl) -> [Cookie<'static>; 2] {
    [
        session_cookie(&session.token, app),
        BROWSER.with(session.browser.reveal(), BROWSER_KEPT, app),
    ]
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    const COOKIE_OF_TESTS: OwnCookie = OwnCookie {
        plain: "refract",
        bound: "__Host-refract",
    };

    #[test]
    fn every_cookie_of_the_name_that_looks_like_a_token_is_found() {
        let app = AppUrl::parse("http://a").unwrap();
        let (first, second) = ("a".repeat(43), "b".repeat(43));
        let one = format!("refract=planted; x=y; refract={first}; refract_browser={second}");
        let other = format!("refract={second}");
        let request = TestRequest::default()
            .append_header((COOKIE, one))
            .append_header((COOKIE, other))
            .to_http_request();
        let tokens = COOKIE_OF_TESTS.tokens(&request, &app);
        let tokens: Vec<_> = tokens.iter().map(Token::reveal).collect();
        assert_eq!(tokens, [&first, &second]);
        let secure = AppUrl::parse("https://a").unwrap();
        assert!(COOKIE_OF_TESTS.tokens(&request, &secure).is_empty());
    }

    #[test]
    fn no_number_of_cookies_makes_more_than_a_few_tokens() {
        let app = AppUrl::parse("http://a").unwrap();
        let many = format!("refract={}; ", "a".repeat(43)).repeat(100);
        let request = TestRequest::default()
            .append_header((COOKIE, many))
            .to_http_request();
        assert_eq!(COOKIE_OF_TESTS.tokens(&request, &app).len(), MOST_COOKIES);
    }

    #[test]
    fn a_cookie_is_bound_to_the_host_where_there_is_tls() {
        let token = Token::parse(&"t".repeat(43)).unwrap();
        let text = |app: &AppUrl| session_cookie(&token, app).to_string();
        let secure = AppUrl::parse("https://a").unwrap();
        let expected = "HttpOnly; SameSite=Lax; Secure; Path=/; Max-Age=34560000";
        assert_eq!(
            text(&secure),
            format!("__Host-refract={}; {expected}", token.reveal())
        );
        let plain = AppUrl::parse("http://a").unwrap();
        let expected = "HttpOnly; SameSite=Lax; Path=/; Max-Age=34560000";
        assert_eq!(
            text(&plain),
            format!("refract={}; {expected}", token.reveal())
        );
        assert!(ended_session(&plain).to_string().contains("refract=; "));
    }
}
