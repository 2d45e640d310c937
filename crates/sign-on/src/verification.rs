//! The checks of an ID token.

use chrono::{TimeDelta, Utc};
use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm};
use openidconnect::{
    AccessToken, AccessTokenHash, ClaimsVerificationError, IdTokenVerifier, Nonce,
    OAuth2TokenResponse as _, ProviderMetadataWithLogout,
};

use crate::claims::Claims;
use crate::error::Distrust;
use crate::tokens::{Party, SignedToken, Tokens};

/// How far the provider's clock may be ahead.
const AHEAD: TimeDelta = TimeDelta::minutes(5);
/// How far the provider's clock may be behind, so that a token just expired still counts.
const BEHIND: TimeDelta = TimeDelta::minutes(1);

/// Signature algorithms that are accepted. Those with a shared secret are not: every holder of
/// the secret could sign.
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

/// The claims of an ID token whose signature, issuer, audience, times and nonce are right. A
/// refreshed token has no nonce.
pub(crate) fn verified(
    party: &Party,
    metadata: &ProviderMetadataWithLogout,
    tokens: &Tokens,
    token: &SignedToken,
    nonce: Option<&Nonce>,
) -> Result<Claims, Distrust> {
    let known = metadata.id_token_signing_alg_values_supported();
    let allowed = ALGORITHMS
        .into_iter()
        .filter(|algorithm| known.contains(algorithm));
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

/// Checks that an access token was issued with an ID token.
fn belongs(
    token: &SignedToken,
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
pub(crate) fn distrust(error: &ClaimsVerificationError) -> Distrust {
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
