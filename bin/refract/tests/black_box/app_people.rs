//! The app's pages for people: links, passwords, sessions and roles, over HTTP and without scripts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::http::{Answer, Connection, Request};
use crate::service::{Backend, Service, text};

on_both!(
    a_link_joins_once_and_signs_in,
    a_password_that_is_easily_guessed_is_refused_beside_its_input,
    signing_in_leads_back_to_where_one_was_going,
    what_was_typed_before_the_session_ended_is_given_back,
    a_new_password_signs_out_everywhere_else,
    no_token_and_no_address_is_logged,
);

pub(crate) const PASSWORD: &str = "zy!3kQ9 dab.x";

/// A person's browser, which keeps cookies.
pub(crate) struct Browser<'a> {
    service: &'a Service,
    pub(crate) node: usize,
    /// The client's address, sent as by a trusted proxy.
    pub(crate) address: Option<&'static str>,
    cookies: BTreeMap<String, String>,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(service: &'a Service) -> Self {
        Self {
            service,
            node: 0,
            address: None,
            cookies: BTreeMap::new(),
        }
    }

    /// A new browser at this client address.
    pub(crate) fn from(service: &'a Service, address: &'static str) -> Self {
        Self {
            address: Some(address),
            ..Self::new(service)
        }
    }

    /// The cookies as a header sends them.
    pub(crate) fn cookie(&self) -> String {
        let pairs = self.cookies.iter();
        let pairs: Vec<_> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    /// The value of a cookie.
    pub(crate) fn value_of(&self, cookie: &str) -> &str {
        self.cookies.get(cookie).expect(cookie)
    }

    /// Stores a cookie in the browser.
    pub(crate) fn keep(&mut self, cookie: &str, value: &str) {
        self.cookies.insert(cookie.to_owned(), value.to_owned());
    }

    /// Switches to another node.
    pub(crate) fn use_node(&mut self, node: usize) {
        self.node = node;
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::outside("GET", path)).await
    }

    /// Downloads a file that is sent in chunks.
    pub(crate) async fn download(&self, path: &str) -> Answer {
        let request = Request::outside("GET", path)
            .header("Cookie", &self.cookie())
            .header("Connection", "close");
        let mut connection = Connection::open(self.service.nodes[self.node].app).await;
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
                return Answer::new(head, file);
            }
            let (chunk, rest) = rest.split_at(length);
            file.push_str(chunk);
            chunks = rest.strip_prefix("\r\n").unwrap();
        }
    }

    pub(crate) async fn post(&mut self, path: &str, values: &[(&str, &str)]) -> Answer {
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

    pub(crate) async fn send(&mut self, request: Request) -> Answer {
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

    pub(crate) async fn join(&mut self, link: &str, name: &str) -> Answer {
        let path = path_of(link);
        let values = [
            ("name", name),
            ("password", PASSWORD),
            ("password_again", PASSWORD),
        ];
        self.post(&path, &values).await
    }

    pub(crate) async fn sign_in(&mut self, email: &str, password: &str) -> Answer {
        let values = [("email", email), ("password", password)];
        self.post("/sign-in", &values).await
    }
}

pub(crate) fn encoded(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        write!(text, "%{byte:02X}").unwrap();
        text
    })
}

/// The path of a link to the app, whatever its host.
pub(crate) fn path_of(link: &str) -> String {
    let (_, token) = link.split_once("/join/").expect(link);
    format!("/join/{token}")
}

pub(crate) async fn invited(service: &Service, email: &str, role: &str) -> String {
    let made = service
        .run(&["person", "invite", email, "--role", role])
        .await
        .object();
    text(&made, "link")
}

pub(crate) async fn joined<'a>(service: &'a Service, email: &str, role: &str) -> Browser<'a> {
    join_with(Browser::new(service), email, role).await
}

/// Makes a person join with a browser.
pub(crate) async fn join_with<'a>(
    mut browser: Browser<'a>,
    email: &str,
    role: &str,
) -> Browser<'a> {
    let link = invited(browser.service, email, role).await;
    let answer = browser.join(&link, "Ada").await;
    assert_eq!(answer.status, 303, "{answer:?}");
    browser
}

/// The person id in the address of an action, by row of the table.
pub(crate) fn id_of(page: &Answer, place: usize) -> String {
    let mut ids: Vec<_> = page.body.split("action=\"/people/").skip(1).collect();
    ids.retain(|rest| rest.split('/').nth(1).unwrap().starts_with("role"));
    ids[place].split('/').next().unwrap().to_owned()
}

async fn a_link_joins_once_and_signs_in(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada@example.com", "owner").await;
    let mut ada = Browser::new(&service);
    for _ in 0..2 {
        let form = ada.get(&path_of(&link)).await;
        assert_eq!(form.status, 200, "looking uses nothing up");
        assert!(form.body.contains("ada@example.com"));
        assert_eq!(form.header("referrer-policy"), Some("strict-origin"));
    }
    let answer = ada.join(&link, "Ada <b>Lovelace</b>").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let set = answer
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    let set: Vec<_> = set.map(|(_, cookie)| cookie.as_str()).collect();
    assert_eq!(set.len(), 2, "the session's and the browser's: {set:?}");
    assert!(set[0].starts_with("refract=") && set[1].starts_with("refract_browser="));
    for cookie in set {
        assert!(cookie.contains("; HttpOnly; SameSite=Lax;"), "{cookie}");
    }
    let page = ada.get("/people").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Ada &lt;b&gt;Lovelace&lt;/b&gt;"));
    let mut thief = Browser::new(&service);
    assert_eq!(thief.join(&link, "Eve").await.status, 410);
    assert_eq!(
        thief.get("/people").await.header("location"),
        Some("/sign-in?then=%2Fpeople")
    );
    assert_eq!(
        ada.post("/sign-out", &[]).await.header("location"),
        Some("/sign-in")
    );
    assert_eq!(ada.get("/people").await.status, 303);
}

async fn a_password_that_is_easily_guessed_is_refused_beside_its_input(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada.lovelace@example.com", "owner").await;
    let mut ada = Browser::new(&service);
    for (password, again, fault) in [
        ("short", "short", "at least 10 character"),
        ("Password123!", "Password123!", "most common"),
        ("ada.lovelace1", "ada.lovelace1", "your own address or name"),
        (PASSWORD, "another", "the two are not the same"),
    ] {
        let values = [
            ("name", "Ada"),
            ("password", password),
            ("password_again", again),
        ];
        let answer = ada.post(&path_of(&link), &values).await;
        assert_eq!(answer.status, 422);
        assert!(answer.body.contains(fault), "{password}");
        assert!(answer.body.contains("value=\"Ada\""), "the name is kept");
        assert!(
            !answer.body.contains(password),
            "no page repeats a password"
        );
    }
    assert_eq!(
        ada.join(&link, "Ada").await.status,
        303,
        "the link is as good as before"
    );
}

async fn signing_in_leads_back_to_where_one_was_going(backend: Backend) {
    let service = Service::start(backend).await;
    joined(&service, "ada@example.com", "owner").await;
    let mut ada = Browser::new(&service);
    for wrong in [
        ("ada@example.com", "zy!3kQ9 dab.X"),
        ("nobody@example.com", PASSWORD),
        ("x", ""),
    ] {
        let answer = ada.sign_in(wrong.0, wrong.1).await;
        assert_eq!(answer.status, 401);
        assert!(
            answer
                .body
                .contains("this address and password do not belong together")
        );
        assert_eq!(answer.header("set-cookie"), None);
    }
    for (then, expected) in [
        ("/people", "/people"),
        ("//evil.com", "/"),
        ("https://evil.com", "/"),
    ] {
        let values = [
            ("email", " ADA@example.com"),
            ("password", PASSWORD),
            ("then", then),
        ];
        let answer = ada.post("/sign-in", &values).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some(expected))
        );
    }
    let page = ada.get("/sign-in?then=%2Fpeople").await;
    assert_eq!(
        page.header("location"),
        Some("/people"),
        "somebody signed in goes on"
    );
    let other_site = Request::outside("POST", "/sign-out").header("Sec-Fetch-Site", "cross-site");
    assert_eq!(ada.send(other_site).await.status, 403);
    assert_eq!(ada.get("/people").await.status, 200, "still signed in");
}

async fn what_was_typed_before_the_session_ended_is_given_back(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let session = ada.value_of("refract").to_owned();
    ada.post("/sign-out", &[]).await;
    ada.keep("refract", &session);
    let typed = [("email", "grace@example.com"), ("role", "editor")];
    let answer = ada.post("/people", &typed).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.body.contains("name=\"kept.value.email\"")
            && answer.body.contains("grace@example.com")
    );
    let again = [
        ("email", "ada@example.com"),
        ("password", PASSWORD),
        ("kept.address", "/people"),
        ("kept.value.email", "grace@example.com"),
        ("kept.value.role", "editor"),
    ];
    let answer = ada.post("/sign-in", &again).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.body.contains("action=\"/people\"") && answer.body.contains("grace@example.com")
    );
    assert!(!answer.body.contains(PASSWORD));
    assert_eq!(
        ada.post("/people", &typed).await.status,
        200,
        "signed in again"
    );
}

async fn a_new_password_signs_out_everywhere_else(backend: Backend) {
    let service = Service::start(backend).await;
    let mut office = joined(&service, "ada@example.com", "owner").await;
    let made = service
        .run(&["person", "reset", "ada@example.com"])
        .await
        .object();
    assert_eq!(office.get("/people").await.status, 200, "nothing ends yet");
    let mut home = Browser::new(&service);
    let form = home.get(&path_of(&text(&made, "link"))).await;
    assert!(form.body.contains("Choose a new password") && form.body.contains("value=\"Ada\""));
    let password = "another 9kQ3 one";
    let values = [
        ("name", "Ada"),
        ("password", password),
        ("password_again", password),
    ];
    let answer = home.post(&path_of(&text(&made, "link")), &values).await;
    assert_eq!(answer.status, 303);
    assert_eq!(home.get("/people").await.status, 200);
    assert_eq!(office.get("/people").await.status, 303);
    assert_eq!(
        office.sign_in("ada@example.com", PASSWORD).await.status,
        401
    );
    assert_eq!(
        office.sign_in("ada@example.com", password).await.status,
        303
    );
}

async fn no_token_and_no_address_is_logged(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada@example.com", "owner").await;
    let mut ada = Browser::new(&service);
    ada.get(&path_of(&link)).await;
    ada.join(&link, "Ada").await;
    ada.sign_in("ada@example.com", "wrong words").await;
    ada.sign_in("ada@example.com", PASSWORD).await;
    let is_last = |line: &str| line.contains("/sign-in") && line.contains("303");
    service.nodes[0].logged(is_last).await;
    let log = service.nodes[0].log().join("\n");
    let token = path_of(&link).replace("/join/", "");
    for secret in [
        token.as_str(),
        ada.value_of("refract"),
        ada.value_of("refract_browser"),
        "ada@example.com",
        "wrong words",
        PASSWORD,
    ] {
        assert!(!log.contains(secret), "{log}");
    }
}
