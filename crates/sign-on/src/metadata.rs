//! The provider's metadata and keys, found by discovery and kept for a while.

pub(crate) mod signing_keys;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio::sync::Mutex;
use url::Url;

use crate::document::Document;
use crate::error::{DocumentFault, SignOnError};
use crate::http_client::{HttpClient, ProviderReply, get};
use crate::metadata::signing_keys::SigningKeys;

/// Age at which metadata are read again.
const FRESH: Duration = Duration::from_hours(1);
/// How long a failure is remembered, so that a provider that is away is not asked by every visitor.
const AWAY: Duration = Duration::from_secs(5);

const DISCOVERY: &str = "discovery document";
const KEY_SET: &str = "key set";

/// What a provider says about itself, as far as it is used here.
#[derive(Debug)]
pub(crate) struct ProviderMetadata {
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    pub(crate) userinfo_endpoint: Option<Url>,
    pub(crate) end_session_endpoint: Option<Url>,
    /// How a client may show its secret; empty where the provider does not say.
    pub(crate) auth_methods: Vec<String>,
    pub(crate) scopes: Vec<String>,
    /// With what ID tokens are signed; empty where the provider does not say.
    pub(crate) algorithms: Vec<String>,
    pub(crate) keys: SigningKeys,
}

/// The metadata of one provider, shared by all threads.
pub(crate) struct MetadataCache {
    issuer: String,
    found: Mutex<Found>,
}

/// What one request for the discovery document brought, for an operator whose sign-on fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryTrial {
    /// The document's address.
    pub address: String,
    /// The status of the answer, or why there is none.
    pub status: Result<u16, String>,
    /// The provider's clock, to the second, where the answer has it.
    pub date: Option<DateTime<Utc>>,
}

impl fmt::Display for DiscoveryTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address, status, ..
        } = self;
        match status {
            Ok(status) => write!(f, "{address} answers with status {status}"),
            Err(reason) => write!(f, "nothing answers at {address}: {reason}"),
        }
    }
}

#[derive(Default)]
struct Found {
    metadata: Option<(Arc<ProviderMetadata>, Instant)>,
    failed: Option<(SignOnError, Instant)>,
}

impl ProviderMetadata {
    /// The metadata of a discovery document, with these keys.
    pub(crate) fn of(document: &Document, keys: SigningKeys) -> Result<Self, DocumentFault> {
        let texts = |name| {
            let words = document.words(name).into_iter();
            words.map(str::to_owned).collect()
        };
        Ok(Self {
            authorization_endpoint: endpoint(document, "authorization_endpoint")?,
            token_endpoint: endpoint(document, "token_endpoint")?,
            userinfo_endpoint: optional_endpoint(document, "userinfo_endpoint"),
            end_session_endpoint: optional_endpoint(document, "end_session_endpoint"),
            auth_methods: texts("token_endpoint_auth_methods_supported"),
            scopes: texts("scopes_supported"),
            algorithms: texts("id_token_signing_alg_values_supported"),
            keys,
        })
    }
}

impl MetadataCache {
    pub(crate) fn new(issuer: String) -> Self {
        Self {
            issuer,
            found: Mutex::default(),
        }
    }

    /// The metadata. When they are old and the provider is away, the old ones.
    pub(crate) async fn get(
        &self,
        client: &HttpClient,
    ) -> Result<Arc<ProviderMetadata>, SignOnError> {
        self.read(client, FRESH).await
    }

    /// The metadata, read anew: the provider may have new keys.
    pub(crate) async fn renewed(
        &self,
        client: &HttpClient,
    ) -> Result<Arc<ProviderMetadata>, SignOnError> {
        self.read(client, Duration::ZERO).await
    }

    async fn read(
        &self,
        client: &HttpClient,
        fresh: Duration,
    ) -> Result<Arc<ProviderMetadata>, SignOnError> {
        // one thread asks, the others wait for its answer
        let mut found = self.found.lock().await;
        if let Some((metadata, at)) = &found.metadata
            && at.elapsed() < fresh
        {
            return Ok(Arc::clone(metadata));
        }
        if let Some((failure, at)) = &found.failed
            && at.elapsed() < AWAY
        {
            return found.old_or(failure.clone());
        }
        match self.discover(client).await {
            Ok(metadata) => {
                let metadata = Arc::new(metadata);
                found.metadata = Some((Arc::clone(&metadata), Instant::now()));
                found.failed = None;
                Ok(metadata)
            }
            Err(failure) => {
                tracing::warn!(reason = %failure, "the sign-in provider's metadata were not read");
                found.failed = Some((failure.clone(), Instant::now()));
                found.old_or(failure)
            }
        }
    }

    /// Requests the discovery document once, whatever is remembered.
    pub(crate) async fn try_discovery(&self, client: &HttpClient) -> DiscoveryTrial {
        let address = self.discovery_address();
        let reply = client.exchange(get(&address, None)).await;
        let date = reply.as_ref().ok().and_then(|reply| reply.date);
        DiscoveryTrial {
            address,
            status: reply.map(|reply| reply.status.as_u16()),
            date,
        }
    }

    fn discovery_address(&self) -> String {
        let issuer = self.issuer.trim_end_matches('/');
        format!("{issuer}/.well-known/openid-configuration")
    }

    async fn discover(&self, client: &HttpClient) -> Result<ProviderMetadata, SignOnError> {
        let address = self.discovery_address();
        let document = document_at(client, &address, DISCOVERY).await?;
        let read = || {
            // a provider must name itself as it is known here: its tokens do
            if document.required_text("issuer")? != self.issuer {
                return Err(DocumentFault::OtherIssuer);
            }
            endpoint(&document, "jwks_uri")
        };
        let keys_at = read().map_err(|fault| fault.of(DISCOVERY))?;
        let keys = document_at(client, keys_at.as_str(), KEY_SET).await?;
        let keys = SigningKeys::of(&keys).map_err(|fault| fault.of(KEY_SET))?;
        ProviderMetadata::of(&document, keys).map_err(|fault| fault.of(DISCOVERY))
    }
}

impl Found {
    fn old_or(&self, failure: SignOnError) -> Result<Arc<ProviderMetadata>, SignOnError> {
        let old = self.metadata.as_ref();
        old.map(|(metadata, _)| Arc::clone(metadata)).ok_or(failure)
    }
}

async fn document_at(
    client: &HttpClient,
    address: &str,
    document: &'static str,
) -> Result<Document, SignOnError> {
    let ProviderReply { status, body, .. } = client.send(get(address, None)).await?;
    if status.as_u16() != 200 {
        tracing::warn!(%status, document, "the sign-in provider sent another status than 200");
        return Err(if status.is_client_error() || status.is_redirection() {
            DocumentFault::Status(status.as_u16()).of(document)
        } else {
            SignOnError::Away
        });
    }
    Document::parse(&body).map_err(|fault| fault.of(document))
}

/// An address that must be there.
fn endpoint(document: &Document, name: &'static str) -> Result<Url, DocumentFault> {
    let address = document.required_text(name)?;
    let address = Url::parse(address).ok();
    let address = address.filter(|it| matches!(it.scheme(), "http" | "https"));
    address.ok_or(DocumentFault::Member(name))
}

/// An address without which sign-on works; one that cannot be used is named in the log.
fn optional_endpoint(document: &Document, name: &'static str) -> Option<Url> {
    match endpoint(document, name) {
        Ok(address) => Some(address),
        Err(DocumentFault::Missing(_)) => None,
        Err(fault) => {
            tracing::warn!(%fault, "the sign-in provider's discovery document is used without it");
            None
        }
    }
}
