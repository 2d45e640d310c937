//! The checks of an ID token (`OpenID Connect` Core, 3.1.3.7).

use serde_json::Value;

use crate::claims::Claims;
use crate::document::Document;
use crate::error::{Distrust, DocumentFault, SignOnError};
use crate::metadata::ProviderMetadata;
use crate::metadata::signing_keys::{SignatureAlgorithm, base64_bytes};

/// How many seconds the provider's clock may be ahead.
const AHEAD: i64 = 5 * 60;
/// How many seconds the provider's clock may be behind, so that a token just expired still counts.
const BEHIND: i64 = 60;

/// The issuer that may leave out the scheme in its tokens, as it documents.
const GOOGLE: (&str, &str) = ("https://accounts.google.com", "accounts.google.com");

/// What an ID token must say.
pub(crate) struct Expected<'e> {
    pub(crate) issuer: &'e str,
    pub(crate) client_id: &'e str,
    /// The nonce of the sign-on. A refreshed token has none.
    pub(crate) nonce: Option<&'e str>,
    /// The access token that came with the ID token.
    pub(crate) access_token: Option<&'e str>,
    /// The time, in seconds since 1970.
    pub(crate) now: i64,
}

/// The claims of an ID token whose signature, issuer, audience, times and nonce are right.
pub(crate) fn verified(
    metadata: &ProviderMetadata,
    token: &str,
    expected: &Expected<'_>,
) -> Result<Claims, SignOnError> {
    let (claims, algorithm) = signed_claims(metadata, token)?;
    check(&claims, algorithm, expected)?;
    Claims::of(claims).map_err(|fault| fault.of("ID token"))
}

/// The claims of the userinfo endpoint where it signs its answers.
pub(crate) fn signed_userinfo(
    metadata: &ProviderMetadata,
    token: &str,
    expected: &Expected<'_>,
) -> Result<Document, SignOnError> {
    let (claims, _) = signed_claims(metadata, token)?;
    // both are optional in it: it comes from the provider's own address
    if claims.get("iss").is_some() {
        check_issuer(&claims, expected)?;
    }
    if claims.get("aud").is_some() {
        check_audience(&claims, expected)?;
    }
    Ok(claims)
}

/// The claims of a token (JWS, compact form) that one of the provider's keys signed.
fn signed_claims(
    metadata: &ProviderMetadata,
    token: &str,
) -> Result<(Document, SignatureAlgorithm), Distrust> {
    let token = token.trim();
    let (signed, signature) = token.rsplit_once('.').ok_or(Distrust::Unreadable)?;
    let (header, payload) = signed.split_once('.').ok_or(Distrust::Unreadable)?;
    let bytes = |part| base64_bytes(part).ok_or(Distrust::Unreadable);
    if payload.contains('.') {
        return Err(Distrust::Encrypted);
    }
    let header = Document::parse(&bytes(header)?).map_err(|_| Distrust::Unreadable)?;
    let algorithm = header.text("alg").ok().flatten();
    let is_listed = |name: &&str| {
        let listed = &metadata.algorithms;
        listed.is_empty() || listed.iter().any(|listed| listed == name)
    };
    let algorithm = algorithm.filter(is_listed);
    let algorithm = algorithm.and_then(SignatureAlgorithm::named);
    let algorithm = algorithm.ok_or(Distrust::Algorithm)?;
    // extensions that must be understood, and none is here (RFC 7515, 4.1.11)
    if header.get("crit").is_some() {
        return Err(Distrust::Other);
    }
    let key = header.id("kid").map_err(|_| Distrust::Signature)?;
    let signature = bytes(signature)?;
    let keys = &metadata.keys;
    if !keys.made(algorithm, key.as_deref(), signed.as_bytes(), &signature) {
        return Err(Distrust::Signature);
    }
    let claims = Document::parse(&bytes(payload)?).map_err(|_| Distrust::Unreadable)?;
    Ok((claims, algorithm))
}

fn check(
    claims: &Document,
    algorithm: SignatureAlgorithm,
    expected: &Expected<'_>,
) -> Result<(), SignOnError> {
    let unreadable = |fault: DocumentFault| fault.of("ID token");
    check_issuer(claims, expected)?;
    check_audience(claims, expected)?;
    let time = |name| claims.time(name).map_err(unreadable);
    let expires = time("exp")?.ok_or_else(|| unreadable(DocumentFault::Missing("exp")))?;
    let from = [time("iat")?, time("nbf")?];
    let is_early = from
        .into_iter()
        .flatten()
        .any(|it| it > expected.now + AHEAD);
    if expires <= expected.now - BEHIND || is_early {
        return Err(Distrust::Clock.into());
    }
    if let Some(nonce) = expected.nonce {
        let sent = claims.text("nonce").map_err(unreadable)?;
        if sent != Some(nonce) {
            return Err(Distrust::Nonce.into());
        }
    }
    if let Some(access_token) = expected.access_token
        && let Some(hash) = claims.text("at_hash").map_err(unreadable)?
    {
        let whole = ring::digest::digest(algorithm.digest(), access_token.as_bytes());
        let (half, _) = whole.as_ref().split_at(whole.as_ref().len() / 2);
        if base64_bytes(hash).as_deref() != Some(half) {
            return Err(Distrust::Other.into());
        }
    }
    Ok(())
}

fn check_issuer(claims: &Document, expected: &Expected<'_>) -> Result<(), Distrust> {
    let sent = claims.text("iss").ok().flatten();
    let is_google = expected.issuer == GOOGLE.0 && sent == Some(GOOGLE.1);
    if sent == Some(expected.issuer) || is_google {
        Ok(())
    } else {
        Err(Distrust::Issuer)
    }
}

/// A token for several audiences must name this client as the one that asked for it.
fn check_audience(claims: &Document, expected: &Expected<'_>) -> Result<(), Distrust> {
    let client = Some(expected.client_id);
    let (is_for_client, is_for_others) = match claims.get("aud") {
        Some(Value::Array(several)) => (
            several.iter().any(|one| one.as_str() == client),
            several.iter().any(|one| one.as_str() != client),
        ),
        one => (one.and_then(Value::as_str) == client, false),
    };
    if !is_for_client {
        return Err(Distrust::Audience);
    }
    match claims.get("azp") {
        None if is_for_others => Err(Distrust::Audience),
        None => Ok(()),
        Some(party) if party.as_str() == client => Ok(()),
        Some(_) => Err(Distrust::AuthorizedParty),
    }
}

#[cfg(test)]
mod tests;
