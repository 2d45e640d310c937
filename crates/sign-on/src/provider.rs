//! The relying party: sends browsers to the provider, and reads what the provider answers.

use std::sync::{Arc, PoisonError, RwLock};

use chrono::{TimeDelta, Utc};
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod,
    CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AccessToken, AccessTokenHash, AuthType, AuthorizationCode, ClaimsVerificationError, Client,
    ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, IdToken, IdTokenFields, IdTokenVerifier, IssuerUrl, LogoutRequest, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, RefreshToken, RequestTokenError, Scope,
    StandardErrorResponse, StandardTokenResponse, SubjectIdentifier, TokenResponse as _,
    UserInfoClaims, UserInfoError,
};
use rustls::ClientConfig;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::claims::{Claims, Identity, OtherClaims};
use crate::error::{Distrust, SignOnError};
use crate::flow::{Flow, ProviderAnswer, error_code};
use crate::grant::Grant;
use crate::http_client::{HttpClient, RequestError};
use crate::metadata::MetadataCache;
use crate::settings::{ProviderSecret, SignOnSettingError, SignOnSettings};

/// The most questions to the provider at a time: strangers can cause them.
const MOST_QUESTIONS: usize = 16;
/// How far the provider's clock may be ahead.
const AHEAD: TimeDelta = TimeDelta::minutes(5);
/// How far the provider's clock may be behind, so that a token just expired still counts.
const BEHIND: TimeDelta = TimeDelta::minutes(1);
/// Error codes of a provider that is out of order.
const PASSING: [&str; 2] = ["server_error", "temporarily_unavailable"];
/// The scope with which some providers give refresh tokens.
const OFFLINE_ACCESS: &str = "offline_access";

/// Signature algorithms that are accepted. Those with a shared secret are not: whoever holds the
/// secret could sign.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

type Token = IdToken<
    OtherClaims,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type TokenFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
type Tokens = StandardTokenResponse<TokenFields, CoreTokenType>;
type TokenError = RequestTokenError<RequestError, StandardErrorResponse<CoreErrorResponseType>>;
type RelyingParty = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The relying party of one provider. Clones are cheap and share what was discovered.
#[derive(Clone)]
pub struct SignOn {
    inner: Arc<Inner>,
}

struct Inner {
    settings: SignOnSettings,
    name: String,
    issuer: IssuerUrl,
    redirect_url: RedirectUrl,
    client: HttpClient,
    metadata: MetadataCache,
    secret: RwLock<Option<String>>,
    questions: Semaphore,
}

/// A person whom the provider and the rules let in, with the grant to ask again.
pub struct SignedOn {
    /// The person.
    pub identity: Identity,
    /// The grant. It replaces an earlier one, which may work no more.
    pub grant: Grant,
}

impl SignOn {
    /// Sets up sign-on; `tls` verifies the provider's certificate. Nothing is asked of the provider
    /// yet.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn new(settings: SignOnSettings, tls: ClientConfig) -> Result<Self, SignOnSettingError> {
        let issuer =
            IssuerUrl::new(settings.issuer.clone()).map_err(|_| SignOnSettingError::Issuer)?;
        let host = issuer.url().host_str().ok_or(SignOnSettingError::Issuer)?;
        let is_loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        match issuer.url().scheme() {
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
        let redirect_url = RedirectUrl::new(settings.redirect_url.clone())
            .map_err(|_| SignOnSettingError::Issuer)?;
        let name = settings.name.clone().unwrap_or_else(|| host.to_owned());
        Ok(Self {
            inner: Arc::new(Inner {
                name,
                redirect_url,
                client: HttpClient::new(tls)?,
                metadata: MetadataCache::new(issuer.clone()),
                secret: RwLock::new(secret),
                questions: Semaphore::new(MOST_QUESTIONS),
                issuer,
                settings,
            }),
        })
    }

    /// The provider's name, as people know it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The name of the account that people join at their first sign-on.
    pub fn account(&self) -> &str {
        &self.inner.settings.account
    }

    /// The address of the provider to which the browser is sent for a flow.
    ///
    /// # Errors
    /// When the provider was never reached.
    pub async fn authorization_address(&self, flow: &Flow) -> Result<String, SignOnError> {
        let metadata = self.inner.metadata.get(&self.inner.client).await?;
        let scopes = self.inner.scopes(&metadata);
        let party = self.inner.party(metadata);
        let (state, nonce) = (flow.state.clone(), flow.nonce.clone());
        let verifier = PkceCodeVerifier::new(flow.verifier.clone());
        let (address, _, _) = party
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || CsrfToken::new(state),
                move || Nonce::new(nonce),
            )
            .add_scopes(scopes)
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(address.to_string())
    }

    /// Redeems the code of a provider's answer for the identity of the person.
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
        let _place = inner.place()?;
        let metadata = inner.metadata.get(&inner.client).await?;
        let tokens = inner.redeemed(&metadata, flow, answer.code).await?;
        let nonce = Nonce::new(flow.nonce.clone());
        let token = tokens.id_token().ok_or(Distrust::NoIdToken)?;
        let check = |metadata: &ProviderMetadataWithLogout| {
            inner.verified(metadata, &tokens, token, Some(&nonce))
        };
        let (metadata, claims) = inner.with_new_keys(metadata, check).await?;
        inner.signed_on(metadata, claims, &tokens, None).await
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
    ) -> Result<(Option<Identity>, Grant), SignOnError> {
        let inner = &*self.inner;
        let Some(refresh_token) = grant.refresh_token.clone() else {
            return Err(SignOnError::Refused {
                code: "no refresh token".to_owned(),
            });
        };
        let _place = inner.place()?;
        let metadata = inner.metadata.get(&inner.client).await?;
        let refresh_token = RefreshToken::new(refresh_token);
        let tokens = inner.refreshed(&metadata, &refresh_token).await?;
        let (metadata, claims) = if let Some(token) = tokens.id_token() {
            let check = |metadata: &ProviderMetadataWithLogout| {
                inner.verified(metadata, &tokens, token, None)
            };
            inner.with_new_keys(metadata, check).await?
        } else {
            let claims = Claims {
                subject: subject.to_owned(),
                ..Claims::default()
            };
            (metadata, claims)
        };
        if claims.subject != subject {
            return Err(Distrust::Subject.into());
        }
        let says_nothing = tokens.id_token().is_none() && metadata.userinfo_endpoint().is_none();
        if says_nothing {
            return Ok((None, renewed(grant, &tokens)));
        }
        let signed_on = inner
            .signed_on(metadata, claims, &tokens, Some(grant))
            .await?;
        Ok((Some(signed_on.identity), signed_on.grant))
    }

    /// The provider's address that ends its own session of the person; `None` where it has none, or
    /// is away.
    pub async fn sign_out_address(&self, grant: Option<&Grant>) -> Option<String> {
        let inner = &*self.inner;
        let metadata = inner.metadata.get(&inner.client).await.ok()?;
        let endpoint = metadata
            .additional_metadata()
            .end_session_endpoint
            .clone()?;
        let back = PostLogoutRedirectUrl::new(inner.settings.signed_out_url.clone()).ok()?;
        let request = LogoutRequest::from(endpoint)
            .set_client_id(inner.client_id())
            .set_post_logout_redirect_uri(back);
        let token = grant.and_then(|grant| grant.id_token.as_deref()?.parse::<Token>().ok());
        let request = match token {
            Some(token) => request.set_id_token_hint(&token),
            None => request,
        };
        Some(request.http_get_url().to_string())
    }
}

impl Inner {
    /// A place among those who ask the provider.
    fn place(&self) -> Result<SemaphorePermit<'_>, SignOnError> {
        self.questions.try_acquire().map_err(|_| SignOnError::Busy)
    }

    fn client_id(&self) -> ClientId {
        ClientId::new(self.settings.client_id.clone())
    }

    fn scopes(&self, metadata: &ProviderMetadataWithLogout) -> Vec<Scope> {
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

    fn party(&self, metadata: ProviderMetadataWithLogout) -> RelyingParty {
        let methods = metadata.token_endpoint_auth_methods_supported();
        let has = |method| methods.is_none_or(|known| known.contains(&method));
        let by_body = !has(CoreClientAuthMethod::ClientSecretBasic)
            && has(CoreClientAuthMethod::ClientSecretPost);
        let secret = self.current_secret().map(ClientSecret::new);
        let party = RelyingParty::from_provider_metadata(metadata, self.client_id(), secret);
        let party = party.set_redirect_uri(self.redirect_url.clone());
        if by_body {
            party.set_auth_type(AuthType::RequestBody)
        } else {
            party
        }
    }

    async fn redeemed(
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

    async fn refreshed(
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
    async fn with_new_keys(
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

    /// The claims of an ID token whose signature, issuer, audience, times and nonce are right. A
    /// refreshed token has no nonce.
    fn verified(
        &self,
        metadata: &ProviderMetadataWithLogout,
        tokens: &Tokens,
        token: &Token,
        nonce: Option<&Nonce>,
    ) -> Result<Claims, Distrust> {
        let known = metadata.id_token_signing_alg_values_supported();
        let allowed = ALGORITHMS
            .into_iter()
            .filter(|algorithm| known.contains(algorithm));
        let party = self.party(metadata.clone());
        let verifier = party
            .id_token_verifier()
            .set_allowed_algs(allowed)
            .set_time_fn(|| Utc::now() - BEHIND)
            .set_issue_time_verifier_fn(|issued| {
                if issued <= Utc::now() + AHEAD {
                    Ok(())
                } else {
                    Err("issued in the future".to_owned())
                }
            });
        let claims = match nonce {
            Some(nonce) => token.claims(&verifier, nonce),
            None => token.claims(&verifier, |_: Option<&Nonce>| Ok(())),
        };
        let claims = claims.map_err(|error| distrust(&error))?;
        if let Some(expected) = claims.access_token_hash() {
            belongs(token, &verifier, tokens.access_token(), expected)?;
        }
        Ok(Claims::of_id_token(claims))
    }

    /// Who the claims are about, with what the userinfo endpoint adds, if the rules let them in.
    async fn signed_on(
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

/// The grant of a first answer.
fn granted(tokens: &Tokens) -> Grant {
    let refresh_token = tokens.refresh_token().map(|token| token.secret().clone());
    Grant::new(refresh_token, tokens.id_token().map(ToString::to_string))
}

/// The grant after a refresh: what the provider gave no successor for stays.
fn renewed(before: &Grant, tokens: &Tokens) -> Grant {
    let now = granted(tokens);
    Grant {
        refresh_token: now.refresh_token.or_else(|| before.refresh_token.clone()),
        id_token: now.id_token.or_else(|| before.id_token.clone()),
    }
}

/// Checks that an access token was issued with an ID token.
fn belongs(
    token: &Token,
    verifier: &IdTokenVerifier<'_, CoreJsonWebKey>,
    access_token: &AccessToken,
    expected: &AccessTokenHash,
) -> Result<(), Distrust> {
    let algorithm = token.signing_alg().map_err(|_| Distrust::Signature)?;
    let key = token
        .signing_key(verifier)
        .map_err(|_| Distrust::Signature)?;
    let actual = AccessTokenHash::from_token(access_token, algorithm, key);
    if actual.is_ok_and(|actual| actual == *expected) {
        Ok(())
    } else {
        Err(Distrust::Other)
    }
}

/// The failed check in words of ours: the error of the library repeats claims.
fn distrust(error: &ClaimsVerificationError) -> Distrust {
    use ClaimsVerificationError::{
        Expired, InvalidAudience, InvalidAuthContext, InvalidAuthTime, InvalidIssuer, InvalidNonce,
        InvalidSubject, Other, SignatureVerification, Unsupported,
    };
    match error {
        Expired(_) => Distrust::Clock,
        InvalidAudience(_) => Distrust::Audience,
        InvalidIssuer(_) => Distrust::Issuer,
        InvalidNonce(_) => Distrust::Nonce,
        InvalidSubject(_) => Distrust::Subject,
        SignatureVerification(_) => Distrust::Signature,
        InvalidAuthContext(_) | InvalidAuthTime(_) | Other(_) | Unsupported(_) | _ => {
            Distrust::Other
        }
    }
}

#[cfg(test)]
mod tests;
