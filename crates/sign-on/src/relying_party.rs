//! The relying party: what it asks the provider, and how it reads the answers.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use openidconnect::core::{CoreClientAuthMethod, CoreErrorResponseType, CoreGenderClaim};
use openidconnect::{
    AccessToken, AuthType, AuthorizationCode, ClientId, ClientSecret, IssuerUrl,
    OAuth2TokenResponse as _, PkceCodeVerifier, ProviderMetadataWithLogout, RedirectUrl,
    RefreshToken, RequestTokenError, Scope, SubjectIdentifier, UserInfoClaims, UserInfoError,
};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::claims::{Claims, Identity, OtherClaims};
use crate::error::{Distrust, SignOnError};
use crate::flow::{Flow, error_code};
use crate::grant::Grant;
use crate::http_client::HttpClient;
use crate::metadata::MetadataCache;
use crate::settings::SignOnSettings;
use crate::tokens::{Party, TokenError, Tokens, granted, renewed};
use crate::verification::distrust;

/// The longest wait for a permit to ask about a session, which is put off after it.
const CHECK_WAIT: Duration = Duration::from_secs(5);
/// Error codes of a provider that is out of order.
const PASSING: [&str; 2] = ["server_error", "temporarily_unavailable"];
/// The scope with which some providers give refresh tokens.
const OFFLINE_ACCESS: &str = "offline_access";

/// The relying party of one provider: its settings, what was discovered, and its requests.
pub(crate) struct RelyingParty {
    pub(crate) settings: SignOnSettings,
    pub(crate) name: String,
    pub(crate) issuer: IssuerUrl,
    pub(crate) redirect_url: RedirectUrl,
    pub(crate) client: HttpClient,
    pub(crate) metadata: MetadataCache,
    pub(crate) secret: RwLock<Option<String>>,
    pub(crate) checks: Semaphore,
}

/// A person whom the provider and the rules let in, with the grant to ask again.
pub struct SignedOn {
    /// The person.
    pub identity: Identity,
    /// The grant. It replaces an earlier one, which may work no more.
    pub grant: Grant,
}

impl RelyingParty {
    /// Waits for a permit to ask the provider about a session.
    pub(crate) async fn check_permit(&self) -> Result<SemaphorePermit<'_>, SignOnError> {
        let permit = timeout(CHECK_WAIT, self.checks.acquire()).await;
        permit
            .map_err(|_| SignOnError::Busy)?
            .map_err(|_| SignOnError::Busy)
    }

    pub(crate) fn client_id(&self) -> ClientId {
        ClientId::new(self.settings.client_id.clone())
    }

    pub(crate) fn scopes(&self, metadata: &ProviderMetadataWithLogout) -> Vec<Scope> {
        let scope = |name: &str| Scope::new(name.to_owned());
        if let Some(set) = &self.settings.scopes {
            let others = set.iter().filter(|name| *name != "openid");
            return others.map(|name| scope(name)).collect();
        }
        let known = metadata.scopes_supported();
        let has_offline =
            known.is_some_and(|known| known.iter().any(|known| known.as_str() == OFFLINE_ACCESS));
        let names = ["email", "profile"].into_iter();
        let names = names.chain(has_offline.then_some(OFFLINE_ACCESS));
        names.map(scope).collect()
    }

    fn current_secret(&self) -> Option<String> {
        let secret = self.secret.read();
        secret.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the secret's file again; whether it holds another one than was refused.
    fn has_new_secret(&self, refused: Option<&str>) -> bool {
        let Some(source) = &self.settings.client_secret else {
            return false;
        };
        match source.read() {
            Ok(read) if Some(read.as_str()) != refused => {
                let secret = self.secret.write();
                *secret.unwrap_or_else(PoisonError::into_inner) = Some(read);
                tracing::info!("the client secret of sign-on was read again from its file");
                true
            }
            Ok(_) => false,
            Err(error) => {
                tracing::warn!(%error, "the client secret of sign-on is refused, and there is no other");
                false
            }
        }
    }

    pub(crate) fn party(&self, metadata: ProviderMetadataWithLogout) -> Party {
        let methods = metadata.token_endpoint_auth_methods_supported();
        let has = |method| methods.is_none_or(|known| known.contains(&method));
        let by_body = !has(CoreClientAuthMethod::ClientSecretBasic)
            && has(CoreClientAuthMethod::ClientSecretPost);
        let secret = self.current_secret().map(ClientSecret::new);
        let party = Party::from_provider_metadata(metadata, self.client_id(), secret);
        let party = party.set_redirect_uri(self.redirect_url.clone());
        if by_body {
            party.set_auth_type(AuthType::RequestBody)
        } else {
            party
        }
    }

    pub(crate) async fn redeemed(
        &self,
        metadata: &ProviderMetadataWithLogout,
        flow: &Flow,
        code: &str,
    ) -> Result<Tokens, SignOnError> {
        loop {
            let secret = self.current_secret();
            let party = self.party(metadata.clone());
            let code = AuthorizationCode::new(code.to_owned());
            let request = party
                .exchange_code(code)
                .map_err(|_| Distrust::Unreadable)?;
            let request = request.set_pkce_verifier(PkceCodeVerifier::new(flow.verifier.clone()));
            match request.request_async(&self.client).await {
                Ok(tokens) => return Ok(tokens),
                Err(error) => self.unless_secret_is_new(&error, secret.as_deref())?,
            }
        }
    }

    pub(crate) async fn refreshed(
        &self,
        metadata: &ProviderMetadataWithLogout,
        token: &RefreshToken,
    ) -> Result<Tokens, SignOnError> {
        loop {
            let secret = self.current_secret();
            let party = self.party(metadata.clone());
            let request = party.exchange_refresh_token(token);
            let request = request.map_err(|_| Distrust::Unreadable)?;
            match request.request_async(&self.client).await {
                Ok(tokens) => return Ok(tokens),
                Err(error) => self.unless_secret_is_new(&error, secret.as_deref())?,
            }
        }
    }

    /// The failure of the token endpoint, unless it refused a secret in whose place there is a new
    /// one by now.
    fn unless_secret_is_new(
        &self,
        error: &TokenError,
        secret: Option<&str>,
    ) -> Result<(), SignOnError> {
        match error {
            RequestTokenError::ServerResponse(response) => {
                if *response.error() != CoreErrorResponseType::InvalidClient {
                    let code = error_code(response.error().as_ref());
                    return Err(if PASSING.contains(&code.as_str()) {
                        SignOnError::Away
                    } else {
                        SignOnError::Refused { code }
                    });
                }
                if self.has_new_secret(secret) {
                    return Ok(());
                }
                tracing::error!("the sign-in provider refuses the client's id or secret");
                Err(SignOnError::ClientRefused)
            }
            // what is no answer of OAuth comes from a provider or a proxy that is out of order
            RequestTokenError::Request(_)
            | RequestTokenError::Parse(..)
            | RequestTokenError::Other(_) => Err(SignOnError::Away),
        }
    }

    /// Checks a token, a second time with the provider's newest keys if its signature is unknown.
    pub(crate) async fn with_new_keys(
        &self,
        metadata: ProviderMetadataWithLogout,
        check: impl Fn(&ProviderMetadataWithLogout) -> Result<Claims, Distrust>,
    ) -> Result<(ProviderMetadataWithLogout, Claims), SignOnError> {
        match check(&metadata) {
            Ok(claims) => Ok((metadata, claims)),
            Err(Distrust::Signature) => {
                let renewed = self.metadata.renewed(&self.client).await?;
                let claims = check(&renewed)?;
                Ok((renewed, claims))
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Who the claims are about, with what the userinfo endpoint adds, if the rules let them in.
    pub(crate) async fn signed_on(
        &self,
        metadata: ProviderMetadataWithLogout,
        mut claims: Claims,
        tokens: &Tokens,
        before: Option<&Grant>,
    ) -> Result<SignedOn, SignOnError> {
        let rules = &self.settings.rules;
        if metadata.userinfo_endpoint().is_some() && claims.lack_anything(rules) {
            let info = self.userinfo(metadata, tokens.access_token(), &claims.subject);
            claims.add(&info.await?);
        }
        let identity = claims.identity(self.issuer.as_str(), rules)?;
        let grant = match before {
            Some(before) => renewed(before, tokens),
            None => granted(tokens),
        };
        Ok(SignedOn { identity, grant })
    }

    async fn userinfo(
        &self,
        metadata: ProviderMetadataWithLogout,
        token: &AccessToken,
        subject: &str,
    ) -> Result<UserInfoClaims<OtherClaims, CoreGenderClaim>, SignOnError> {
        // a header cannot hold other characters
        if !token.secret().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Distrust::Unreadable.into());
        }
        let party = self.party(metadata);
        let subject = SubjectIdentifier::new(subject.to_owned());
        let request = party.user_info(token.clone(), Some(subject));
        let request = request.map_err(|_| Distrust::Unreadable)?;
        request
            .request_async(&self.client)
            .await
            .map_err(|error| match error {
                UserInfoError::Response(status, ..) if status.is_client_error() => {
                    SignOnError::Refused {
                        code: "userinfo".to_owned(),
                    }
                }
                UserInfoError::ClaimsVerification(error) => distrust(&error).into(),
                UserInfoError::Parse(_) => Distrust::Unreadable.into(),
                UserInfoError::Request(_)
                | UserInfoError::Response(..)
                | UserInfoError::Other(_)
                | _ => SignOnError::Away,
            })
    }
}
