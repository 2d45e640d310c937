//! Checks that an action comes from a page of the app (CSRF protection).

use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use refract_identity::people::AppUrl;

/// Names of this machine under which a browser may reach an app on loopback.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether the request comes from a page of the app, by headers that browsers set themselves and
/// pages cannot change.
///
/// `Sec-Fetch-Site` decides if it is present: only `same-origin` passes. Otherwise `Origin` must be
/// the app's address or, for an app on loopback, another name of its listener.
pub(crate) fn is_own(headers: &HeaderMap, app: &AppUrl) -> bool {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = header("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = header(ORIGIN.as_str()) else {
        return false;
    };
    let host = header(HOST.as_str()).unwrap_or_default();
    origin.eq_ignore_ascii_case(app.as_str())
        || is_loopback(app.as_str())
            && is_loopback(origin)
            && origin.strip_prefix("http://") == Some(host)
}

fn is_loopback(address: &str) -> bool {
    let Some(authority) = address.strip_prefix("http://") else {
        return false;
    };
    LOOPBACK.iter().any(|name| {
        let port = authority.strip_prefix(name);
        port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn is_own_with(app: &str, sent: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        is_own(&headers, &AppUrl::parse(app).unwrap())
    }

    #[test]
    fn the_browsers_word_decides() {
        let app = "https://refract.example.com";
        assert!(is_own_with(app, &[("sec-fetch-site", "same-origin")]));
        for other in ["same-site", "cross-site", "none", ""] {
            let sent = [("sec-fetch-site", other), ("origin", app)];
            assert!(!is_own_with(app, &sent), "{other}");
        }
    }

    #[test]
    fn an_older_browser_names_its_origin() {
        let app = "https://refract.example.com";
        assert!(is_own_with(app, &[("origin", app)]));
        for other in [
            "null",
            "",
            "https://evil.example.com",
            "http://refract.example.com",
            "https://refract.example.com.evil.com",
            "https://refract.example.com:444",
        ] {
            assert!(!is_own_with(app, &[("origin", other)]), "{other}");
        }
        assert!(!is_own_with(app, &[]));
    }

    #[test]
    fn an_app_on_loopback_has_several_names() {
        let app = "http://127.0.0.1:8081";
        let sent = [
            ("origin", "http://localhost:8081"),
            ("host", "localhost:8081"),
        ];
        assert!(is_own_with(app, &sent));
        let rebound = [
            ("origin", "http://evil.com:8081"),
            ("host", "evil.com:8081"),
        ];
        assert!(!is_own_with(app, &rebound));
        let other_port = [
            ("origin", "http://localhost:3000"),
            ("host", "localhost:8081"),
        ];
        assert!(!is_own_with(app, &other_port));
        let public = "https://refract.example.com";
        assert!(!is_own_with(public, &sent));
    }
}
