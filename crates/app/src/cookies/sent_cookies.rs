//! Reads the cookies of a request, and builds the app's cookies.

use actix_web::HttpRequest;
use actix_web::http::header::COOKIE;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use refract_identity::people::AppUrl;
use refract_identity::people::token::Token;

/// The most cookies of one name that are read.
const MOST_COOKIES: usize = 8;

/// A cookie of the app, by two names: the plain one without TLS, and with TLS one whose prefix
/// binds it to the host.
#[derive(Clone, Copy)]
pub(crate) struct OwnCookie {
    pub(crate) plain: &'static str,
    pub(crate) bound: &'static str,
}

impl OwnCookie {
    /// The tokens that a request sends under this name. There may be several: without TLS, another
    /// host of the same domain can plant a cookie in front of the app's own.
    pub(crate) fn tokens(self, request: &HttpRequest, app: &AppUrl) -> Vec<Token> {
        let named = sent(request).filter(|cookie| cookie.name() == self.name(app));
        let tokens = named.filter_map(|cookie| Token::parse(cookie.value()));
        tokens.take(MOST_COOKIES).collect()
    }

    /// The cookies of a request whose names begin with this one: the rest of the name, and the value.
    pub(crate) fn with_names(self, request: &HttpRequest, app: &AppUrl) -> Vec<(String, String)> {
        let own = self.name(app);
        let named = sent(request).filter_map(|cookie| {
            let rest = cookie.name().strip_prefix(own)?.to_owned();
            Some((rest, cookie.value().to_owned()))
        });
        named.take(MOST_COOKIES).collect()
    }

    /// The cookie with this value and this lifetime.
    pub(crate) fn with(self, value: &str, kept: Duration, app: &AppUrl) -> Cookie<'static> {
        self.named("", value, kept, app)
    }

    /// The cookie whose name ends so, with this value and this lifetime.
    pub(crate) fn named(
        self,
        rest: &str,
        value: &str,
        kept: Duration,
        app: &AppUrl,
    ) -> Cookie<'static> {
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
}
