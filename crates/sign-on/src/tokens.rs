//! The library's types with the claims that are read here, and the grants in a provider's answers.

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    Client, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, IdToken,
    IdTokenFields, OAuth2TokenResponse as _, RequestTokenError, StandardErrorResponse,
    StandardTokenResponse, TokenResponse as _,
};

use crate::claims::OtherClaims;
use crate::grant::Grant;
use crate::http_client::RequestError;

pub(crate) type SignedToken = IdToken<
    OtherClaims,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
pub(crate) type TokenFields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
pub(crate) type Tokens = StandardTokenResponse<TokenFields, CoreTokenType>;
pub(crate) type TokenError =
    RequestTokenError<RequestError, StandardErrorResponse<CoreErrorResponseType>>;
pub(crate) type Party = Client<
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

/// The grant of a first answer.
pub(crate) fn granted(tokens: &Tokens) -> Grant {
    let refresh_token = tokens.refresh_token().map(|token| token.secret().clone());
    Grant::new(refresh_token, tokens.id_token().map(ToString::to_string))
}

/// The grant after a refresh: what the provider gave no successor for stays.
pub(crate) fn renewed(before: &Grant, tokens: &Tokens) -> Grant {
    let now = granted(tokens);
    Grant {
        refresh_token: now.refresh_token.or_else(|| before.refresh_token.clone()),
        id_token: now.id_token.or_else(|| before.id_token.clone()),
    }
}
