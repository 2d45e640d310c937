//! The cookies that identify a session, a browser and a begun sign-on: reads those of a request,
//! and builds the app's.
//!
//! The browser's cookie recognises it from an earlier sign-in. It signs nobody in: it gives the
//! browser its own count of sign-in attempts, so that nobody else can lock the person out.
//!
//! The cookies of sign-ons by the provider, from the redirect to it until it sends the browser back:
//! one for each, so that several tabs sign in. Each holds a secret, the time at which it was begun,
//! and the page that was asked for.

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use refract_http_serving::ClientAddress;
use refract_identity::people::{
    AppUrl, Flow, ProviderAnswer, Session, SignInClient, SignOnStart, Token,
};

use crate::app_site::AppSite;

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

const FLOW: OwnCookie = OwnCookie {
    plain: "refract_sign_on_",
    bound: "__Host-refract_sign_on_",
};
/// How long a person may take at the provider.
const KEPT: Duration = Duration::hours(1);
/// The most sign-ons of a browser: beginning one more ends the oldest.
const MOST_FLOWS: usize = 6;
/// The longest address, encoded, that is come back to. With all cookies a request's head stays small.
const LONGEST_THEN: usize = 1_000;
/// The letters of a sign-on's state that are in its cookie's name.
const NAME_LETTERS: usize = 12;
/// What may not stand in a cookie's value (RFC 6265), the separator of its parts, and the sign of
/// an encoded character.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b',')
    .add(b';')
    .add(b'\\')
    .add(b'%')
    .add(b'!');

/// A begun sign-on of a browser, as it sends it back. Another host may have planted it.
pub(crate) struct BegunSignOn {
    /// The end of the cookie's name.
    name: String,
    pub(crate) secret: Token,
    /// When it was begun, in seconds since 1970.
    begun_at: i64,
    /// The address to redirect to afterwards; empty for the first page. It may be forged.
    pub(crate) then: String,
}

/// The begun sign-ons of a browser.
#[derive(Default)]
pub(crate) struct BegunSignOns(Vec<BegunSignOn>);

impl BegunSignOns {
    /// Those of a request.
    pub(crate) fn of(request: &HttpRequest, app: &AppUrl) -> Self {
        let sent = FLOW.with_names(request, app).into_iter();
        Self(
            sent.filter_map(|(name, value)| BegunSignOn::parse(name, &value))
                .collect(),
        )
    }

    /// The one to which a provider's answer belongs.
    pub(crate) fn answered_by(&self, answer: &ProviderAnswer<'_>) -> Option<&BegunSignOn> {
        let mut all = self.0.iter();
        all.find(|begun| Flow::of(begun.secret.reveal()).is_answered_by(answer))
    }

    /// The cookies that are set with the redirect to the provider: the new sign-on's, and those that
    /// delete the oldest ones where there are many.
    pub(crate) fn and(
        &self,
        start: &SignOnStart,
        then: &str,
        now: i64,
        app: &AppUrl,
    ) -> Vec<Cookie<'static>> {
        let mut oldest_first: Vec<_> = self.0.iter().collect();
        oldest_first.sort_by_key(|begun| begun.begun_at);
        let surplus = (oldest_first.len() + 1).saturating_sub(MOST_FLOWS);
        let mut cookies: Vec<_> = oldest_first
            .into_iter()
            .take(surplus)
            .map(|begun| begun.ended(app))
            .collect();
        let then = utf8_percent_encode(then, ENCODED).to_string();
        let then = if then.len() > LONGEST_THEN { "" } else { &then };
        let secret = start.flow.reveal();
        let name: String = Flow::of(secret)
            .state()
            .chars()
            .take(NAME_LETTERS)
            .collect();
        let value = format!("{secret}!{now}!{then}");
        cookies.push(FLOW.named(&name, &value, KEPT, app));
        cookies
    }
}

impl BegunSignOn {
    fn parse(name: String, value: &str) -> Option<Self> {
        let mut parts = value.splitn(3, '!');
        let secret = Token::parse(parts.next()?)?;
        let begun_at = parts.next()?.parse().ok()?;
        let then = percent_decode_str(parts.next()?).decode_utf8_lossy();
        Some(Self {
            name,
            secret,
            begun_at,
            then: then.into_owned(),
        })
    }

    /// The cookie that deletes this one.
    pub(crate) fn ended(&self, app: &AppUrl) -> Cookie<'static> {
        FLOW.named(&self.name, "", Duration::ZERO, app)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::COOKIE;
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

    fn start(letter: &str) -> SignOnStart {
        SignOnStart {
            address: String::new(),
            flow: Token::parse(&letter.repeat(43)).unwrap(),
        }
    }

    fn sent(cookies: &[Cookie<'static>], app: &AppUrl) -> BegunSignOns {
        let kept = cookies.iter().filter(|it| it.max_age() == Some(KEPT));
        let kept: Vec<_> = kept.map(|cookie| cookie.stripped().to_string()).collect();
        let request = TestRequest::default()
            .append_header((COOKIE, kept.join("; ")))
            .to_http_request();
        BegunSignOns::of(&request, app)
    }

    fn then_of<'b>(begun: &'b BegunSignOns, start: &SignOnStart) -> Option<&'b str> {
        let flow = Flow::of(start.flow.reveal());
        let answer = ProviderAnswer {
            state: flow.state(),
            ..ProviderAnswer::default()
        };
        begun.answered_by(&answer).map(|begun| begun.then.as_str())
    }

    #[test]
    fn each_tab_comes_back_to_its_own_page() {
        let app = AppUrl::parse("https://a").unwrap();
        let page = "/prisms/a/results?ref=a%20b;c!&x=\u{1f98a}";
        let (one, other) = (start("f"), start("g"));
        let mut cookies = BegunSignOns::default().and(&one, page, 1, &app);
        cookies.extend(BegunSignOns::default().and(&other, "/me", 1, &app));
        let begun = sent(&cookies, &app);
        assert_eq!(then_of(&begun, &one), Some(page));
        assert_eq!(then_of(&begun, &other), Some("/me"));
        assert_eq!(then_of(&begun, &start("h")), None);
    }

    #[test]
    fn the_oldest_sign_ons_end_where_there_are_many() {
        let app = AppUrl::parse("http://a").unwrap();
        let mut cookies: Vec<Cookie<'static>> = Vec::new();
        for (at, letter) in (0..).zip(["a", "b", "c", "d", "e", "f", "g", "h"]) {
            for cookie in sent(&cookies, &app).and(&start(letter), "/", at, &app) {
                cookies.retain(|kept| kept.name() != cookie.name());
                cookies.push(cookie);
            }
        }
        let begun = sent(&cookies, &app);
        assert_eq!(begun.0.len(), MOST_FLOWS);
        assert_eq!(then_of(&begun, &start("b")), None);
        assert_eq!(then_of(&begun, &start("c")), Some("/"));
        assert_eq!(then_of(&begun, &start("h")), Some("/"));
    }

    #[test]
    fn a_long_address_is_not_come_back_to() {
        let app = AppUrl::parse("https://a").unwrap();
        let cookies = BegunSignOns::default().and(&start("f"), &"/".repeat(1_001), 1, &app);
        assert_eq!(then_of(&sent(&cookies, &app), &start("f")), Some(""));
    }
}
