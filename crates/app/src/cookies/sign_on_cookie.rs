//! The cookies of sign-ons by the provider, from the redirect to it until it sends the browser back:
//! one for each, so that several tabs sign in. Each holds a secret, the time at which it was begun,
//! and the page that was asked for.

use actix_web::HttpRequest;
use cookie::Cookie;
use cookie::time::Duration;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use refract_identity::people::{AppUrl, Flow, ProviderAnswer, SignOnStart, Token};

use crate::cookies::OwnCookie;

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
