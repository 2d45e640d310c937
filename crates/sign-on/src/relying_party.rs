//! The relying party: what it asks the provider, and how it reads the answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chrono::Utc;
use http::{HeaderValue, StatusCode};
use sha2::{Digest as _, Sha256};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::claims::{Claims, ProviderIdentity};
use crate::document::Document;
use crate::error::{Distrust, DocumentFault, SignOnError};
use crate::flow::Flow;
use crate::grant::{Grant, TokenAnswer, error_of};
use crate::http_client::{HttpClient, ProviderReply, get, post};
use crate::metadata::{MetadataCache, ProviderMetadata};
use crate::settings::SignOnSettings;
use crate::verification::{Expected, signed_userinfo, verified};

/// The longest wait for a permit to ask about a session, which is put off after it.
const CHECK_WAIT: Duration = Duration::from_secs(5);
/// Error codes of a provider that is out of order.
const PASSING: [&str; 2] = ["server_error", "temporarily_unavailable"];
/// Error codes of the token endpoint (RFC 6749, 5.2): this installation, and the code or the refresh
/// token, are refused.
const INVALID_CLIENT: &str = "invalid_client";
const INVALID_GRANT: &str = "invalid_grant";
/// What an unreadable answer is called.
const TOKEN_ANSWER: &str = "token answer";
const USERINFO: &str = "userinfo answer";
/// The scope with which some providers give refresh tokens.
const OFFLINE_ACCESS: &str = "offline_access";

/// The relying party of one provider: its settings, what was discovered, and its requests.
pub(crate) struct RelyingParty {
    pub(crate) settings: SignOnSettings,
    pub(crate) name: String,
    pub(crate) client: HttpClient,
    pub(crate) metadata: MetadataCache,
    pub(crate) secret: RwLock<Option<String>>,
    /// Whether the provider took the secret in the form after it had refused it in the header.
    pub(crate) has_secret_in_form: AtomicBool,
    pub(crate) checks: Semaphore,
}

/// A person whom the provider and the rules let in, with the grant to ask again.
pub struct SignedOn {
    /// The person.
    pub identity: ProviderIdentity,
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

    /// The address to which a browser is sent for a flow.
    pub(crate) fn authorization_address(&self, metadata: &ProviderMetadata, flow: &Flow) -> Url {
        let settings = &self.settings;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&flow.verifier));
        let mut address = metadata.authorization_endpoint.clone();
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &settings.client_id)
            .append_pair("state", &flow.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", &settings.redirect_url)
            .append_pair("scope", &self.scopes(metadata))
            .append_pair("nonce", &flow.nonce);
        address
    }

    fn scopes(&self, metadata: &ProviderMetadata) -> String {
        let mut scopes = vec!["openid"];
        if let Some(set) = &self.settings.scopes {
            let set = set.iter().map(String::as_str);
            scopes.extend(set.filter(|name| *name != "openid"));
        } else {
            scopes.extend(["email", "profile"]);
            let known = metadata.scopes.iter().map(String::as_str);
            scopes.extend(known.filter(|name| *name == OFFLINE_ACCESS).take(1));
        }
        scopes.join(" ")
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

    pub(crate) async fn redeemed(
        &self,
        metadata: &ProviderMetadata,
        flow: &Flow,
        code: &str,
    ) -> Result<TokenAnswer, SignOnError> {
        let values = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", &flow.verifier),
            ("redirect_uri", &self.settings.redirect_url),
        ];
        self.tokens(metadata, &values).await
    }

    pub(crate) async fn refreshed(
        &self,
        metadata: &ProviderMetadata,
        refresh_token: &str,
    ) -> Result<TokenAnswer, SignOnError> {
        let values = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
        ];
        self.tokens(metadata, &values).await
    }

    /// Asks the token endpoint, a second time if it refused a secret in whose place there is a new
    /// one by now, or if it may want the secret in another place.
    async fn tokens(
        &self,
        metadata: &ProviderMetadata,
        values: &[(&str, &str)],
    ) -> Result<TokenAnswer, SignOnError> {
        let knows = |method: &str| metadata.auth_methods.iter().any(|known| known == method);
        let knows_form = knows("client_secret_post");
        let knows_header = knows("client_secret_basic") || metadata.auth_methods.is_empty();
        let mut in_form =
            knows_form && (!knows_header || self.has_secret_in_form.load(Ordering::Relaxed));
        loop {
            let secret = self.current_secret();
            let (header, form) = self.authenticated(secret.as_deref(), in_form, values);
            let request = post(metadata.token_endpoint.as_str(), header, form);
            let reply = self.client.send(request).await?;
            match token_answer(&reply) {
                Err(SignOnError::ClientRefused) => {
                    if self.has_new_secret(secret.as_deref()) {
                        continue;
                    }
                    // the client may be registered for the form alone, or the provider may not decode
                    // the header
                    if secret.is_none() || in_form || !knows_form {
                        tracing::error!("the sign-in provider refuses the client's id or secret");
                        return Err(SignOnError::ClientRefused);
                    }
                    in_form = true;
                }
                answered => {
                    self.has_secret_in_form.store(in_form, Ordering::Relaxed);
                    return answered;
                }
            }
        }
    }

    /// The form of a request with which this installation shows who it is (RFC 6749, 2.3.1).
    fn authenticated(
        &self,
        secret: Option<&str>,
        in_form: bool,
        values: &[(&str, &str)],
    ) -> (Option<HeaderValue>, String) {
        let id = self.settings.client_id.as_str();
        let mut form = Serializer::new(String::new());
        form.extend_pairs(values);
        let Some(secret) = secret else {
            return (None, form.append_pair("client_id", id).finish());
        };
        if in_form {
            form.append_pair("client_id", id);
            return (None, form.append_pair("client_secret", secret).finish());
        }
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let credentials = BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
        let header = HeaderValue::try_from(format!("Basic {credentials}"));
        (header.ok(), form.finish())
    }

    /// What an ID token must say that came with this answer.
    pub(crate) fn expected<'e>(
        &'e self,
        answer: &'e TokenAnswer,
        nonce: Option<&'e str>,
    ) -> Expected<'e> {
        Expected {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce,
            access_token: answer.access_token.as_deref(),
            now: Utc::now().timestamp(),
        }
    }

    /// The claims of an ID token, which is checked a second time with the provider's newest keys if
    /// its signature is unknown.
    pub(crate) async fn claims(
        &self,
        metadata: &mut Arc<ProviderMetadata>,
        token: &str,
        expected: &Expected<'_>,
    ) -> Result<Claims, SignOnError> {
        match verified(metadata, token, expected) {
            Err(SignOnError::Untrusted(Distrust::Signature | Distrust::Algorithm)) => {
                *metadata = self.metadata.renewed(&self.client).await?;
                verified(metadata, token, expected)
            }
            checked => checked,
        }
    }

    /// Who the claims are about, with what the userinfo endpoint adds, if the rules let them in.
    pub(crate) async fn signed_on(
        &self,
        metadata: &ProviderMetadata,
        mut claims: Claims,
        answer: &TokenAnswer,
        before: Option<&Grant>,
    ) -> Result<SignedOn, SignOnError> {
        let rules = &self.settings.rules;
        if let Some(endpoint) = &metadata.userinfo_endpoint
            && let Some(token) = &answer.access_token
            && claims.lack_anything(rules)
        {
            match self.userinfo(metadata, endpoint, token, answer).await {
                Ok(info) if info.subject != claims.subject => {
                    return Err(Distrust::Subject.into());
                }
                Ok(info) => claims.add(info),
                // an access token for another service (Entra ID), while the ID token says enough
                Err(SignOnError::Refused { .. }) if !claims.lack_what_decides(rules) => {
                    tracing::info!("the sign-in provider's userinfo endpoint refused its token");
                }
                Err(failure) => return Err(failure),
            }
        }
        let subject = claims.subject.clone();
        let identity = claims.identity(&self.settings.issuer, rules);
        let identity = identity.map_err(|reason| reason.of(subject))?;
        let grant = match before {
            Some(before) => answer.renewed(before),
            None => answer.granted(),
        };
        Ok(SignedOn { identity, grant })
    }

    async fn userinfo(
        &self,
        metadata: &ProviderMetadata,
        endpoint: &Url,
        token: &str,
        answer: &TokenAnswer,
    ) -> Result<Claims, SignOnError> {
        let unreadable = |fault: DocumentFault| fault.of(USERINFO);
        // a header cannot hold other characters
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(DocumentFault::Member("access_token").of(TOKEN_ANSWER));
        }
        let bearer = HeaderValue::try_from(format!("Bearer {token}"));
        let ProviderReply { status, body, .. } = self
            .client
            .send(get(endpoint.as_str(), bearer.ok()))
            .await?;
        if is_away(status) {
            return Err(SignOnError::Away);
        }
        if !status.is_success() {
            return Err(SignOnError::Refused {
                code: "userinfo".to_owned(),
            });
        }
        let document = match std::str::from_utf8(&body) {
            Ok(token) if token.starts_with("ey") => {
                signed_userinfo(metadata, token, &self.expected(answer, None))?
            }
            Ok(_) | Err(_) => Document::parse(&body).map_err(unreadable)?,
        };
        Claims::of(document).map_err(unreadable)
    }
}

/// The tokens of the token endpoint's reply.
fn token_answer(reply: &ProviderReply) -> Result<TokenAnswer, SignOnError> {
    let status = reply.status;
    if is_away(status) {
        return Err(SignOnError::Away);
    }
    let unreadable = |fault: DocumentFault| fault.of(TOKEN_ANSWER);
    let document = Document::parse(&reply.body);
    let error = document.as_ref().ok().and_then(error_of);
    // this status is for clients that are not who they say they are (RFC 6749, 5.2), under whatever
    // code: Keycloak's is unauthorized_client, Auth0's access_denied
    let is_client_refused = status == StatusCode::UNAUTHORIZED
        && error.as_deref() != Some(INVALID_GRANT)
        || error.as_deref() == Some(INVALID_CLIENT);
    if is_client_refused {
        return Err(SignOnError::ClientRefused);
    }
    match error {
        Some(code) if PASSING.contains(&code.as_str()) => Err(SignOnError::Away),
        Some(code) => Err(SignOnError::Refused { code }),
        None if status.is_success() => document
            .and_then(|document| TokenAnswer::of(&document))
            .map_err(unreadable),
        None => Err(unreadable(DocumentFault::Status(status.as_u16()))),
    }
}

/// Whether a status says that the provider may answer otherwise in a while.
fn is_away(status: StatusCode) -> bool {
    let is_passing = status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
        );
    if is_passing {
        tracing::warn!(%status, "the sign-in provider is out of order or asks for a pause");
    }
    is_passing
}

#[cfg(test)]
mod tests;
