//! The cookies of a sign-on by the provider, from the redirect to it until it sends the browser
//! back: a secret, and the page that was asked for.

use actix_web::HttpRequest;
use cookie::Cookie;
use cookie::time::Duration;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use refract_service::people::token::Token;
use refract_service::people::{AppUrl, SignOnStart};

use crate::cookies::sent_cookies::OwnCookie;

const FLOW: OwnCookie = OwnCookie {
    plain: "refract_sign_on",
    bound: "__Host-refract_sign_on",
};
const THEN: OwnCookie = OwnCookie {
    plain: "refract_then",
    bound: "__Host-refract_then",
};
/// How long a person may take at the provider.
const KEPT: Duration = Duration::hours(1);
/// The longest address, encoded, that is come back to: browsers drop larger cookies.
const LONGEST_THEN: usize = 2_000;

/// The begun sign-ons of a browser, as it sends them back.
#[derive(Default)]
pub(crate) struct BegunSignOns {
    /// The secrets: one, or several if another host planted a cookie.
    pub(crate) flows: Vec<Token>,
    /// The address to redirect to afterwards; empty for the first page. It may be forged.
    pub(crate) then: String,
}

impl BegunSignOns {
    /// Those of a request.
    pub(crate) fn of(request: &HttpRequest, app: &AppUrl) -> Self {
        let then = THEN.value(request, app).unwrap_or_default();
        let then = percent_decode_str(&then).decode_utf8_lossy().into_owned();
        Self {
            flows: FLOW.tokens(request, app),
            then,
        }
    }
}

/// The cookies that are set with the redirect to the provider.
pub(crate) fn begun(start: &SignOnStart, then: &str, app: &AppUrl) -> [Cookie<'static>; 2] {
    let then = utf8_percent_encode(then, NON_ALPHANUMERIC).to_string();
    let then = if then.len() > LONGEST_THEN { "" } else { &then };
    [
        FLOW.with(start.flow.reveal(), KEPT, app),
        THEN.with(then, KEPT, app),
    ]
}

/// The cookies that delete those of a sign-on that is over.
pub(crate) fn ended(app: &AppUrl) -> [Cookie<'static>; 2] {
    [
        FLOW.with("", Duration::ZERO, app),
        THEN.with("", Duration::ZERO, app),
    ]
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::COOKIE;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn what_is_set_is_sent_back() {
        let app = AppUrl::parse("https://a").unwrap();
        let start = SignOnStart {
            address: String::new(),
            flow: Token::parse(&"f".repeat(43)).unwrap(),
        };
        let then = "/prisms/a/results?ref=a%20b;c&x=\u{1f98a}";
        let sent = begun(&start, then, &app)
            .iter()
            .map(|cookie| cookie.stripped().to_string())
            .collect::<Vec<_>>()
            .join("; ");
        let request = TestRequest::default()
            .append_header((COOKIE, sent))
            .to_http_request();
        let begun = BegunSignOns::of(&request, &app);
        assert_eq!(begun.then, then);
        assert_eq!(begun.flows.len(), 1);
    }

    #[test]
    fn a_long_address_is_not_come_back_to() {
        let app = AppUrl::parse("https://a").unwrap();
        let start = SignOnStart {
            address: String::new(),
            flow: Token::parse(&"f".repeat(43)).unwrap(),
        };
        let [_, then] = begun(&start, &"/".repeat(700), &app);
        assert_eq!(then.value(), "");
    }
}
