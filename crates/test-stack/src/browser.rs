//! A person's browser without scripts, which keeps cookies and submits forms.

pub mod forms;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::http::answer::HttpAnswer;
use crate::http::{HttpConnection, Request};
use crate::service::{Service, text};

/// The password of every person of tests.
pub const PASSWORD: &str = "zy!3kQ9 dab.x";

/// A person's browser, which keeps cookies.
pub struct PlainBrowser<'a> {
    service: &'a Service,
    /// The index of the node that the browser visits.
    pub node: usize,
    /// The client's address, sent as by a trusted proxy.
    pub address: Option<&'static str>,
    cookies: BTreeMap<String, String>,
}

impl<'a> PlainBrowser<'a> {
    /// A browser without cookies that visits the first node.
    pub fn new(service: &'a Service) -> Self {
        Self {
            service,
            node: 0,
            address: None,
            cookies: BTreeMap::new(),
        }
    }

    /// A new browser at this client address.
    pub fn from(service: &'a Service, address: &'static str) -> Self {
        Self {
            address: Some(address),
            ..Self::new(service)
        }
    }

    /// The cookies as a header sends them.
    pub fn cookie(&self) -> String {
        let pairs = self.cookies.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    /// The value of a cookie.
    pub fn value_of(&self, cookie: &str) -> &str {
        self.cookies.get(cookie).expect(cookie)
    }

    /// Stores a cookie in the browser.
    pub fn keep(&mut self, cookie: &str, value: &str) {
        self.cookies.insert(cookie.to_owned(), value.to_owned());
    }

    /// Switches to another node.
    pub fn use_node(&mut self, node: usize) {
        self.node = node;
    }

    /// Requests a page.
    pub async fn get(&mut self, path: &str) -> HttpAnswer {
        self.send(Request::outside("GET", path)).await
    }

    /// Downloads a file that is sent in chunks.
    pub async fn download(&self, path: &str) -> HttpAnswer {
        let request = Request::outside("GET", path)
            .header("Cookie", &self.cookie())
            .header("Connection", "close");
        let mut connection = HttpConnection::open(self.service.nodes[self.node].app).await;
        connection.send(&request.bytes()).await;
        let whole = connection.rest().await;
        let (head, mut chunks) = whole.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{whole}");
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        let mut file = String::new();
        loop {
            let (length, rest) = chunks.split_once("\r\n").unwrap();
            let length = usize::from_str_radix(length, 16).unwrap();
            if length == 0 {
                return HttpAnswer::new(head, file);
            }
            let (chunk, rest) = rest.split_at(length);
            file.push_str(chunk);
            chunks = rest.strip_prefix("\r\n").unwrap();
        }
    }

    /// Submits a form with these values.
    pub async fn post(&mut self, path: &str, values: &[(&str, &str)]) -> HttpAnswer {
        let pairs = values
            .iter()
            .map(|(name, value)| format!("{name}={}", encoded(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = Request::outside("POST", path)
            .header("Sec-Fetch-Site", "same-origin")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body);
        self.send(request).await
    }

    /// Sends a request with the cookies, and keeps those that the answer sets.
    pub async fn send(&mut self, request: Request) -> HttpAnswer {
        let mut request = request.header("Cookie", &self.cookie());
        if let Some(address) = self.address {
            request = request.header("X-Forwarded-For", address);
        }
        let answer = request.send(self.service.nodes[self.node].app).await;
        for cookie in answer.cookies() {
            let (name, value) = cookie.split_once('=').unwrap();
            self.keep(name, value);
        }
        answer
    }

    /// Accepts an invitation by its link, with a name and [`PASSWORD`].
    pub async fn join(&mut self, link: &str, name: &str) -> HttpAnswer {
        let path = path_of(link);
        let values = [
            ("name", name),
            ("password", PASSWORD),
            ("password_again", PASSWORD),
        ];
        self.post(&path, &values).await
    }

    /// Signs in with an email address and a password.
    pub async fn sign_in(&mut self, email: &str, password: &str) -> HttpAnswer {
        let values = [("email", email), ("password", password)];
        self.post("/sign-in", &values).await
    }
}

/// The value as a form encodes it: every byte as `%XX`.
pub fn encoded(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        write!(text, "%{byte:02X}").unwrap();
        text
    })
}

/// The path of a link to the app, whatever its host.
pub fn path_of(link: &str) -> String {
    let (_, token) = link.split_once("/join/").expect(link);
    format!("/join/{token}")
}

/// Invites a person with a role by the command, and returns the link.
pub async fn invited(service: &Service, email: &str, role: &str) -> String {
    let made = service
        .run(&["person", "invite", email, "--role", role])
        .await
        .object();
    text(&made, "link")
}

/// Makes a person join with a new browser.
pub async fn joined<'a>(service: &'a Service, email: &str, role: &str) -> PlainBrowser<'a> {
    join_with(PlainBrowser::new(service), email, role).await
}

/// Makes a person join with a browser.
pub async fn join_with<'a>(
    mut browser: PlainBrowser<'a>,
    email: &str,
    role: &str,
) -> PlainBrowser<'a> {
    let link = invited(browser.service, email, role).await;
    let answer = browser.join(&link, "Ada").await;
    assert_eq!(answer.status, 303, "{answer:?}");
    browser
}

/// The person id in the address of an action, by row of the table.
pub fn id_of(page: &HttpAnswer, place: usize) -> String {
    let mut ids: Vec<_> = page.body.split("action=\"/people/").skip(1).collect();
    ids.retain(|rest| rest.split('/').nth(1).unwrap().starts_with("role"));
    ids[place].split('/').next().unwrap().to_owned()
}
