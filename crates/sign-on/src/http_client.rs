//! The HTTP client for the provider: no redirects, short times, small answers.

#[cfg(feature = "provider")]
use std::time::Duration;

use chrono::{DateTime, Utc};
#[cfg(feature = "provider")]
use http::header::DATE;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode};
use rustls::ClientConfig;

use crate::error::SignOnError;
use crate::settings::SignOnSettingError;

/// The longest wait for a connection.
#[cfg(feature = "provider")]
const CONNECT: Duration = Duration::from_secs(5);
/// The longest wait for a whole answer.
#[cfg(feature = "provider")]
const WHOLE: Duration = Duration::from_secs(10);
/// The largest answer that is read: key sets and discovery documents are a few KiB.
#[cfg(feature = "provider")]
const LARGEST: usize = 1024 * 1024;

/// Asks a provider. Redirects are not followed: an answer comes from the address that was asked.
#[derive(Clone)]
pub(crate) struct HttpClient(#[cfg(feature = "provider")] reqwest::Client);

/// What a provider answered.
pub(crate) struct ProviderReply {
    pub(crate) status: StatusCode,
    /// The provider's clock, to the second.
    pub(crate) date: Option<DateTime<Utc>>,
    pub(crate) body: Vec<u8>,
}

#[cfg(feature = "provider")]
impl HttpClient {
    pub(crate) fn new(tls: ClientConfig) -> Result<Self, SignOnSettingError> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT)
            .timeout(WHOLE)
            // a connection belongs to the runtime that opened it, and several threads ask
            .pool_max_idle_per_host(0)
            .build();
        client.map(Self).map_err(|_| SignOnSettingError::Client)
    }

    /// Sends a request and reads the whole answer. A failure is its reason, in which neither address nor
    /// answer is: both may have a code or a token in them.
    pub(crate) async fn exchange(
        &self,
        request: Result<Request<Vec<u8>>, http::Error>,
    ) -> Result<ProviderReply, String> {
        let request = request.map_err(|error| error.to_string())?;
        let request = reqwest::Request::try_from(request).map_err(reason)?;
        let mut answer = self.0.execute(request).await.map_err(reason)?;
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(reason)? {
            if body.len() + piece.len() > LARGEST {
                return Err("its answer is larger than 1 MiB".to_owned());
            }
            body.extend_from_slice(&piece);
        }
        let date = answer
            .headers()
            .get(DATE)
            .and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| DateTime::parse_from_rfc2822(date).ok());
        Ok(ProviderReply {
            status: answer.status(),
            date: date.map(|date| date.to_utc()),
            body,
        })
    }
}

/// The innermost cause, such as a refused connection: reqwest's own words only say that it failed.
#[cfg(feature = "provider")]
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

impl HttpClient {
    /// Sends a request and reads the whole answer; logs why there is none.
    pub(crate) async fn send(
        &self,
        request: Result<Request<Vec<u8>>, http::Error>,
    ) -> Result<ProviderReply, SignOnError> {
        self.exchange(request).await.map_err(|error| {
            tracing::warn!(%error, "the sign-in provider was not reached");
            SignOnError::Away
        })
    }
}

/// A build without the feature `provider` asks none.
#[cfg(not(feature = "provider"))]
impl HttpClient {
    pub(crate) fn new(_tls: ClientConfig) -> Result<Self, SignOnSettingError> {
        Err(SignOnSettingError::NotBuilt)
    }

    pub(crate) async fn exchange(
        &self,
        request: Result<Request<Vec<u8>>, http::Error>,
    ) -> Result<ProviderReply, String> {
        let _ = request;
        std::future::ready(Err(SignOnSettingError::NotBuilt.to_string())).await
    }
}

/// A question without a body.
pub(crate) fn get(
    address: &str,
    authorization: Option<HeaderValue>,
) -> Result<Request<Vec<u8>>, http::Error> {
    request(Method::GET, address, authorization).body(Vec::new())
}

/// A form.
pub(crate) fn post(
    address: &str,
    authorization: Option<HeaderValue>,
    form: String,
) -> Result<Request<Vec<u8>>, http::Error> {
    request(Method::POST, address, authorization)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form.into_bytes())
}

fn request(
    method: Method,
    address: &str,
    authorization: Option<HeaderValue>,
) -> http::request::Builder {
    let request = Request::builder().method(method).uri(address);
    let request = request.header(ACCEPT, "application/json");
    match authorization {
        Some(mut authorization) => {
            authorization.set_sensitive(true);
            request.header(AUTHORIZATION, authorization)
        }
        None => request,
    }
}
