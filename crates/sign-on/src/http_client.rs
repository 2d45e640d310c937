//! The HTTP client for the provider: no redirects, short times, small answers.

use std::pin::Pin;
use std::time::Duration;

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use rustls::ClientConfig;

use crate::settings::SignOnSettingError;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest wait for a whole answer.
const WHOLE: Duration = Duration::from_secs(10);
/// The largest answer that is read: key sets and discovery documents are a few KiB.
const LARGEST: usize = 1024 * 1024;

/// Asks a provider. Redirects are not followed: an answer comes from the address that was asked.
#[derive(Clone)]
pub(crate) struct HttpClient(reqwest::Client);

/// A request to the provider failed. No address and no answer is repeated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("the request failed")]
    Failed,
    #[error("the answer is larger than a provider's answers are")]
    TooLarge,
}

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

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, RequestError> {
        let request = reqwest::Request::try_from(request).map_err(|_| RequestError::Failed)?;
        let answer = self.0.execute(request).await;
        let mut answer = answer.map_err(|error| {
            // without its address, which may have a code in it
            tracing::warn!(error = %error.without_url(), "the sign-in provider was not reached");
            RequestError::Failed
        })?;
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|_| RequestError::Failed)? {
            if body.len() + piece.len() > LARGEST {
                return Err(RequestError::TooLarge);
            }
            body.extend_from_slice(&piece);
        }
        let mut response = http::Response::new(body);
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }
}

impl<'c> AsyncHttpClient<'c> for HttpClient {
    type Error = RequestError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, RequestError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
