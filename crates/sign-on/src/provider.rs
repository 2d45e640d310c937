//! The relying party as its users see it: flows to the provider and back, and questions later.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};

use rustls::ClientConfig;
use tokio::sync::Semaphore;
use url::Url;

use crate::claims::{Claims, ProviderIdentity};
use crate::error::{Distrust, SignOnError};
use crate::flow::{Flow, ProviderAnswer};
use crate::grant::Grant;
use crate::http_client::HttpClient;
use crate::metadata::{DiscoveryTrial, MetadataCache};
use crate::relying_party::{RelyingParty, SignedOn};
use crate::settings::{AdmissionRules, ProviderSecret, SignOnSettingError, SignOnSettings};

/// Checks of sessions at the provider at a time. Only people who are signed in cause them, and codes
/// that strangers bring back take none of these permits: the caller of [`SignOn::redeem`] limits them.
const CHECKS: usize = 16;

/// The relying party of one provider. Clones are cheap and share what was discovered.
#[derive(Clone)]
pub struct SignOn {
    inner: Arc<RelyingParty>,
}

impl SignOn {
    /// Sets up sign-on; `tls` verifies the provider's certificate. Nothing is asked of the provider
    /// yet.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn new(settings: SignOnSettings, tls: ClientConfig) -> Result<Self, SignOnSettingError> {
        let issuer = Url::parse(&settings.issuer).map_err(|_| SignOnSettingError::Issuer)?;
        let host = issuer.host_str().ok_or(SignOnSettingError::Issuer)?;
        let is_loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match issuer.scheme() {
            "https" => {}
            "http" if is_loopback => {}
            "http" => return Err(SignOnSettingError::PlainIssuer),
            _ => return Err(SignOnSettingError::Issuer),
        }
        let rules = &settings.rules;
        if rules.role_claim.is_some() == rules.roles.is_empty() {
            return Err(SignOnSettingError::HalfOfRoles);
        }
        let secret = settings.client_secret.as_ref();
        let secret = secret.map(ProviderSecret::read).transpose()?;
        let name = settings.name.clone().unwrap_or_else(|| host.to_owned());
        Ok(Self {
            inner: Arc::new(RelyingParty {
                name,
                client: HttpClient::new(tls)?,
                metadata: MetadataCache::new(settings.issuer.clone()),
                secret: RwLock::new(secret),
                has_secret_in_form: AtomicBool::new(false),
                checks: Semaphore::new(CHECKS),
                settings,
            }),
        })
    }

    /// The provider's name, as people know it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The provider's issuer.
    pub fn issuer(&self) -> &str {
        &self.inner.settings.issuer
    }

    /// The name of the account whose people sign on.
    pub fn account(&self) -> &str {
        &self.inner.settings.account
    }

    /// Whom this installation lets in.
    pub fn rules(&self) -> &AdmissionRules {
        &self.inner.settings.rules
    }

    /// Whether the provider asks everybody for a second factor, whatever its tokens say.
    pub fn asks_for_second_factor(&self) -> bool {
        self.inner.settings.asks_for_second_factor
    }

    /// The address of the provider to which the browser is sent for a flow.
    ///
    /// # Errors
    /// When the provider was never reached.
    pub async fn authorization_address(&self, flow: &Flow) -> Result<String, SignOnError> {
        let metadata = self.inner.metadata.get(&self.inner.client).await?;
        let address = self.inner.authorization_address(&metadata, flow);
        Ok(address.into())
    }

    /// Requests the provider's discovery document once, to say where and with what status it is. Nothing
    /// is logged.
    pub async fn try_discovery(&self) -> DiscoveryTrial {
        self.inner.metadata.try_discovery(&self.inner.client).await
    }

    /// Redeems the code of a provider's answer for the identity of the person. Strangers can send any
    /// number of answers, so the caller limits how many are redeemed at a time.
    ///
    /// # Errors
    /// When the answer belongs to another flow, the provider refuses or does not answer, its answer
    /// cannot be trusted, or the rules do not let the person in.
    pub async fn redeem(
        &self,
        flow: &Flow,
        answer: &ProviderAnswer<'_>,
    ) -> Result<SignedOn, SignOnError> {
        let inner = &*self.inner;
        if !flow.is_answered_by(answer) {
            return Err(SignOnError::OtherFlow);
        }
        if let Some(code) = answer.error_code() {
            return Err(SignOnError::Refused { code });
        }
        let mut metadata = inner.metadata.get(&inner.client).await?;
        let tokens = inner.redeemed(&metadata, flow, answer.code).await?;
        let token = tokens.id_token.as_deref().ok_or(Distrust::NoIdToken)?;
        let expected = inner.expected(&tokens, Some(&flow.nonce));
        let claims = inner.claims(&mut metadata, token, &expected).await?;
        inner.signed_on(&metadata, claims, &tokens, None).await
    }

    /// Asks the provider whether it still lets in the person with this subject. `None` for the
    /// identity means: yes, and nothing else is known.
    ///
    /// # Errors
    /// When the provider refuses or does not answer, its answer cannot be trusted, or the rules do
    /// not let the person in any more.
    pub async fn refresh(
        &self,
        grant: &Grant,
        subject: &str,
    ) -> Result<(Option<ProviderIdentity>, Grant), SignOnError> {
        let inner = &*self.inner;
        let Some(refresh_token) = &grant.refresh_token else {
            return Err(SignOnError::Refused {
                code: "no refresh token".to_owned(),
            });
        };
        let _permit = inner.check_permit().await?;
        let mut metadata = inner.metadata.get(&inner.client).await?;
        let tokens = inner.refreshed(&metadata, refresh_token).await?;
        let claims = if let Some(token) = &tokens.id_token {
            let expected = inner.expected(&tokens, None);
            inner.claims(&mut metadata, token, &expected).await?
        } else if metadata.userinfo_endpoint.is_some() && tokens.access_token.is_some() {
            Claims::about(subject)
        } else {
            return Ok((None, tokens.renewed(grant)));
        };
        if claims.subject != subject {
            return Err(Distrust::Subject.into());
        }
        let signed_on = inner
            .signed_on(&metadata, claims, &tokens, Some(grant))
            .await?;
        Ok((Some(signed_on.identity), signed_on.grant))
    }

    /// The provider's address that ends its own session of the person; `None` where it has none, or
    /// is away.
    pub async fn sign_out_address(&self, grant: Option<&Grant>) -> Option<String> {
        let inner = &*self.inner;
        let metadata = inner.metadata.get(&inner.client).await.ok()?;
        let mut address = metadata.end_session_endpoint.clone()?;
        if let Some(token) = grant.and_then(|grant| grant.id_token.as_deref()) {
            address
                .query_pairs_mut()
                .append_pair("id_token_hint", token);
        }
        let settings = &inner.settings;
        address
            .query_pairs_mut()
            .append_pair("client_id", &settings.client_id)
            .append_pair("post_logout_redirect_uri", &settings.signed_out_url);
        Some(address.into())
    }
}

#[cfg(test)]
mod tests;
