//! The provider's metadata and keys, found by discovery and kept for a while.

use std::time::{Duration, Instant};

use openidconnect::{IssuerUrl, ProviderMetadataWithLogout};
use tokio::sync::Mutex;

use crate::error::SignOnError;
use crate::http_client::HttpClient;

/// Age at which metadata are read again.
const FRESH: Duration = Duration::from_hours(1);
/// How long a failure is remembered, so that a provider that is away is not asked by every visitor.
const AWAY: Duration = Duration::from_secs(5);

/// The metadata of one provider, shared by all threads.
pub(crate) struct MetadataCache {
    issuer: IssuerUrl,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    metadata: Option<(ProviderMetadataWithLogout, Instant)>,
    failed_at: Option<Instant>,
}

impl MetadataCache {
    pub(crate) fn new(issuer: IssuerUrl) -> Self {
        Self {
            issuer,
            found: Mutex::default(),
        }
    }

    /// The metadata. When they are old and the provider is away, the old ones.
    pub(crate) async fn get(
        &self,
        client: &HttpClient,
    ) -> Result<ProviderMetadataWithLogout, SignOnError> {
        self.read(client, FRESH).await
    }

    /// The metadata, read anew: the provider may have new keys.
    pub(crate) async fn renewed(
        &self,
        client: &HttpClient,
    ) -> Result<ProviderMetadataWithLogout, SignOnError> {
        self.read(client, Duration::ZERO).await
    }

    async fn read(
        &self,
        client: &HttpClient,
        fresh: Duration,
    ) -> Result<ProviderMetadataWithLogout, SignOnError> {
        // one thread asks, the others wait for its answer
        let mut found = self.found.lock().await;
        if let Some((metadata, at)) = &found.metadata
            && at.elapsed() < fresh
        {
            return Ok(metadata.clone());
        }
        if found.failed_at.is_some_and(|at| at.elapsed() < AWAY) {
            return found.old();
        }
        let discovery = ProviderMetadataWithLogout::discover_async(self.issuer.clone(), client);
        match discovery.await {
            Ok(metadata) => {
                found.metadata = Some((metadata.clone(), Instant::now()));
                found.failed_at = None;
                Ok(metadata)
            }
            Err(error) => {
                found.failed_at = Some(Instant::now());
                tracing::warn!(
                    reason = discovery_failure(&error),
                    "the sign-in provider's metadata were not read"
                );
                found.old()
            }
        }
    }
}

impl Found {
    fn old(&self) -> Result<ProviderMetadataWithLogout, SignOnError> {
        let old = self.metadata.as_ref().map(|(metadata, _)| metadata.clone());
        old.ok_or(SignOnError::Away)
    }
}

/// The failure in words of ours: the provider's answer is not repeated.
fn discovery_failure<E: std::error::Error>(
    error: &openidconnect::DiscoveryError<E>,
) -> &'static str {
    use openidconnect::DiscoveryError::{Other, Parse, Request, Response, UrlParse, Validation};
    match error {
        Request(_) => "no answer",
        Response(..) => "the answer is not 200 with JSON",
        Parse(_) => "the answer is no discovery document or no key set",
        UrlParse(_) => "an address cannot be read",
        Validation(_) => {
            "the document names another issuer: REFRACT_OIDC_ISSUER must be exactly the one that it names"
        }
        Other(_) | _ => "another failure",
    }
}
