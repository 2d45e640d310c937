//! An answer of the server, and what every answer must have.

use serde_json::Value;

/// An answer of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status code.
    pub status: u16,
    /// Names (in lower case) and values.
    pub headers: Vec<(String, String)>,
    /// The body, which is text in every format.
    pub body: String,
}

impl HttpAnswer {
    /// Reads the head of an answer; `body` is its body.
    pub fn new(head: &str, body: String) -> Self {
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let headers = lines
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        Self {
            status: status.parse().unwrap(),
            headers,
            body,
        }
    }

    /// The value of a header; fails when the header is there twice.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(sent, _)| sent == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} twice: {self:?}");
        value
    }

    /// The cookies that are set, each with its name and value as a request sends it.
    pub fn cookies(&self) -> Vec<String> {
        let set = self.headers.iter().filter(|(name, _)| name == "set-cookie");
        let pairs = set.map(|(_, cookie)| cookie.split(';').next().unwrap().to_owned());
        pairs.collect()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }

    /// Fails unless status, type and body are exactly these, with the usual headers and no others.
    #[track_caller]
    pub fn assert(&self, status: u16, content_type: &str, body: &str) {
        assert_eq!(
            (self.status, self.body.as_str()),
            (status, body),
            "{self:?}"
        );
        let length = body.len().to_string();
        assert_eq!(self.header("content-type"), Some(content_type), "{self:?}");
        assert_eq!(self.header("content-length"), Some(length.as_str()));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert!((1..=128).contains(&self.header("x-request-id").unwrap().len()));
        let known = [
            "content-type",
            "content-length",
            "cache-control",
            "x-request-id",
            "date",
            "connection",
        ];
        for (name, _) in &self.headers {
            let is_known = known.contains(&name.as_str()) || status == 503 && name == "retry-after";
            assert!(is_known, "{name}: {self:?}");
        }
    }

    /// Fails unless the answer is exactly this error (spec 2.7).
    #[track_caller]
    pub fn assert_error(&self, status: u16, code: &str, message: &str) {
        let message = Value::from(message);
        let body = format!(r#"{{"error":{{"code":"{code}","message":{message}}}}}"#);
        self.assert(status, "application/json; charset=utf-8", &body);
    }
}
