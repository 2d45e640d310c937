//! The values of a request: path, query, form and client. And the check that an action comes from a
//! page of the app (CSRF protection).

use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use chrono::{
    DateTime, Datelike as _, FixedOffset, NaiveDate, NaiveTime, Offset as _, TimeDelta, Utc,
};
use form_urlencoded::Serializer;
use maud::{Markup, html};
use refract_identity::people::{AppUrl, SignInClient, Token};

use crate::cookies::BegunSignOns;
use crate::requests::form::Form;

/// The parts of a request that handlers read, before validation.
#[derive(Default)]
pub(crate) struct PageRequest {
    /// The path as it was sent; always a path of this app.
    pub(crate) path: String,
    pub(crate) values: PathValues,
    pub(crate) query: Query,
    /// The form; empty for a request without a body.
    pub(crate) form: Form,
    /// The client, as the limits on sign-in attempts count it.
    pub(crate) client: SignInClient,
    /// The session tokens of the request's cookies.
    pub(crate) sessions: Vec<Token>,
    /// The sign-ons by the provider that the browser has begun.
    pub(crate) sign_on: BegunSignOns,
}

/// The query string of an address, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a raw query string.
    pub(crate) fn parse(raw: &str) -> Self {
        Self(
            form_urlencoded::parse(raw.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// The first value of a name, trimmed; `None` if absent or blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        let value = found.map(|(_, value)| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// All values of a name, trimmed, without blank ones.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |(known, _)| known == name);
        found
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// The query with one more value of a name.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.0.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The query with a value replaced, or removed by `None`.
    pub(crate) fn with(&self, name: &str, value: Option<&str>) -> Self {
        let mut pairs = self.0.clone();
        pairs.retain(|(known, _)| known != name);
        if let Some(value) = value {
            pairs.push((name.to_owned(), value.to_owned()));
        }
        Self(pairs)
    }

    /// All names with their values, trimmed, without blank ones.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter().map(|(name, value)| (&**name, value.trim()));
        pairs.filter(|(_, value)| !value.is_empty())
    }

    /// The query without one value of a name.
    pub(crate) fn without(&self, name: &str, value: &str) -> Self {
        let mut pairs = self.0.clone();
        pairs.retain(|(known, it)| known != name || it.trim() != value);
        Self(pairs)
    }

    /// The query as hidden inputs of a form, whose own inputs are added to it.
    pub(crate) fn inputs(&self) -> Markup {
        let pairs = self.0.iter().filter(|(_, value)| !value.is_empty());
        html! {
            @for (name, value) in pairs { input type="hidden" name=(name) value=(value); }
        }
    }

    /// The query as part of an address, with its question mark; empty without values.
    pub(crate) fn in_address(&self) -> String {
        let pairs = self.0.iter().filter(|(_, value)| !value.is_empty());
        let text = Serializer::new(String::new()).extend_pairs(pairs).finish();
        if text.is_empty() {
            text
        } else {
            format!("?{text}")
        }
    }
}

impl PageRequest {
    /// The path with its query, for a redirect back.
    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.path, self.query.in_address())
    }
}

/// The values of a path's varying segments, by their names in the pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathValues(Vec<(&'static str, String)>);

impl PathValues {
    /// The values by name.
    pub(crate) fn new(values: Vec<(&'static str, String)>) -> Self {
        Self(values)
    }

    /// The decoded value of a segment; empty if the pattern has no such name.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// The validation error of a text that is not a day.
pub(crate) const NO_DAY: &str = "is no day: write it like 2026-05-04";

/// A day by a clock: with the offset of that clock from UTC, which scripts send, or in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) date: NaiveDate,
    pub(crate) offset: FixedOffset,
}

impl Day {
    /// Reads a day such as `2026-05-04` or `2026-05-04+02:00`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (date, offset) = text.split_at_checked("2026-05-04".len())?;
        let date = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
        let offset = match offset {
            "" => Utc.fix(),
            offset => offset.parse().ok()?,
        };
        (1970..=9998)
            .contains(&date.year())
            .then_some(Self { date, offset })
    }

    /// The moment at which the day begins.
    pub(crate) fn begin(self) -> DateTime<Utc> {
        let offset = TimeDelta::seconds(self.offset.local_minus_utc().into());
        self.date.and_time(NaiveTime::MIN).and_utc() - offset
    }

    /// The moment after the day.
    pub(crate) fn end(self) -> DateTime<Utc> {
        self.begin() + TimeDelta::days(1)
    }
}

/// Names of this machine under which a browser may reach an app on loopback.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether the request comes from a page of the app, by headers that browsers set themselves and
/// pages cannot change.
///
/// `Sec-Fetch-Site` decides if it is present: only `same-origin` passes. Otherwise `Origin` must be
/// the app's address or, for an app on loopback, another name of its listener.
pub(crate) fn is_own_origin(headers: &HeaderMap, app: &AppUrl) -> bool {
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

    #[test]
    fn a_query_is_read_replaced_and_written() {
        let query = Query::parse("status=failed&ref=a%20b&version=&x=%F0%9F%A6%8A");
        assert_eq!(query.get("ref"), Some("a b"));
        assert_eq!(query.get("version"), None);
        assert_eq!(query.get("nothing"), None);
        let other = query.with("status", None).with("ref", Some("ü&"));
        assert_eq!(other.in_address(), "?x=%F0%9F%A6%8A&ref=%C3%BC%26");
        assert_eq!(Query::default().in_address(), "");
        let several = Query::parse("value=a&value=+&value=b&x=1").and("value", "c");
        assert_eq!(several.all("value").collect::<Vec<_>>(), ["a", "b", "c"]);
        let left = several.without("value", "b").without("x", "2");
        let pairs: Vec<_> = left.pairs().collect();
        assert_eq!(pairs, [("value", "a"), ("x", "1"), ("value", "c")]);
    }

    #[test]
    fn a_day_is_of_a_clock() {
        for (text, begin) in [
            ("2026-05-04", Some("2026-05-04T00:00:00Z")),
            ("2026-05-04+02:00", Some("2026-05-03T22:00:00Z")),
            ("2026-05-04-09:30", Some("2026-05-04T09:30:00Z")),
            ("2026-05-04+25:00", None),
            ("2026-05-04Z", None),
            ("2026-5-4", None),
            ("9999-05-04", None),
            ("2026-05-0ä", None),
        ] {
            let begin: Option<DateTime<Utc>> = begin.map(|begin| begin.parse().unwrap());
            assert_eq!(Day::parse(text).map(Day::begin), begin, "{text}");
        }
    }

    fn is_own_with(app: &str, sent: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        is_own_origin(&headers, &AppUrl::parse(app).unwrap())
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
