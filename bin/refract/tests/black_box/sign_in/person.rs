//! A person who signs in with the right password.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Service, text};
use refract_test_support::provider::TestProvider;

const EMAIL: &str = "ada%40example.com";
const PASSWORD: &str = "zy%213kQ9+dab.x";

/// A person with the browser of their last sign-in.
pub(crate) struct Person {
    app: SocketAddr,
    address: &'static str,
    /// The browser's cookies.
    cookies: String,
}

impl Person {
    /// A person who joined with a browser at this address.
    pub(crate) async fn joined(service: &Service, address: &'static str) -> Self {
        let invite = ["person", "invite", "ada@example.com"];
        let link = text(&service.run(&invite).await.object(), "link");
        let (_, token) = link.split_once("/join/").unwrap();
        let mut person = Self {
            app: service.nodes[0].app,
            address,
            cookies: String::new(),
        };
        let body = format!("name=Ada&password={PASSWORD}&password_again={PASSWORD}");
        let answer = person.post(&format!("/join/{token}"), address, &body).await;
        person.keep(&answer);
        person
    }

    /// Signs in again with the same browser, and returns the duration.
    pub(crate) async fn signs_in_again(&mut self) -> Duration {
        let began = Instant::now();
        let answer = self.sign_in(self.address).await;
        let took = began.elapsed();
        self.keep(&answer);
        took
    }

    /// Signs in with an unknown browser, and returns the duration.
    pub(crate) async fn signs_in_from_a_new_browser(&self, address: &'static str) -> Duration {
        let stranger = Self {
            app: self.app,
            address,
            cookies: String::new(),
        };
        let began = Instant::now();
        stranger.sign_in(address).await;
        began.elapsed()
    }

    /// Signs on by the provider with an unknown browser, and returns the time that this node took:
    /// the way to the provider and back, and the sign-in.
    pub(crate) async fn signs_on(
        service: &Service,
        provider: &TestProvider,
        address: &str,
    ) -> Duration {
        let app = service.nodes[0].app;
        let start = Instant::now();
        let request = Request::outside("GET", "/sign-on").header("X-Forwarded-For", address);
        let sent = request.send(app).await;
        let to_provider = start.elapsed();
        let back = provider.walk(sent.header("location").unwrap()).await;
        let path = back.strip_prefix(&format!("http://{app}")).unwrap();
        let back = Request::outside("GET", path)
            .header("X-Forwarded-For", address)
            .header("Cookie", &sent.cookies().join("; "));
        let came = Instant::now();
        let answer = back.send(app).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        to_provider + came.elapsed()
    }

    async fn sign_in(&self, address: &str) -> HttpAnswer {
        let body = format!("email={EMAIL}&password={PASSWORD}");
        self.post("/sign-in", address, &body).await
    }

    async fn post(&self, path: &str, address: &str, body: &str) -> HttpAnswer {
        let request = Request::outside("POST", path)
            .header("Sec-Fetch-Site", "same-origin")
            .header("X-Forwarded-For", address)
            .header("Cookie", &self.cookies)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(body);
        let answer = request.send(self.app).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        answer
    }

    fn keep(&mut self, answer: &HttpAnswer) {
        self.cookies = answer.cookies().join("; ");
    }
}
