//! Reads a request: its key, its body and its call. The use case checks whether an account has the
//! key (spec 5).

pub(crate) mod body;
pub(crate) mod call;

use std::net::IpAddr;

use actix_web::http::header::{AUTHORIZATION, HeaderMap};
use refract_identity::keys::api_key::ApiKey;
use refract_identity::keys::{CallKeyId, PresentedKey};

use crate::error::ApiError;

/// What is known of a call's client before its key is read.
pub(crate) struct CallOrigin {
    /// Receives the key's id once the key is found.
    pub(crate) key: CallKeyId,
    /// The client's address, behind trusted proxies.
    pub(crate) client: Option<IpAddr>,
}

/// Reads the bearer token as the key of a call.
///
/// # Errors
/// [`ApiError::NotAuthenticated`] unless there is exactly one header with a bearer token; see
/// [`read`].
pub(crate) fn presented(headers: &HeaderMap, origin: CallOrigin) -> Result<PresentedKey, ApiError> {
    let CallOrigin { key: id, client } = origin;
    read(headers).map(|key| PresentedKey::new(key, id, client))
}

/// Reads the bearer token: `None` when the token does not have the shape of a key.
///
/// # Errors
/// [`ApiError::NotAuthenticated`] unless there is exactly one header, and its value is `Bearer`,
/// one space and one or more characters without white space. Two headers are refused, because they
/// may be of two callers.
fn read(headers: &HeaderMap) -> Result<Option<ApiKey>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION);
    let (Some(value), None) = (sent.next(), sent.next()) else {
        return Err(ApiError::NotAuthenticated);
    };
    let token = value
        .as_bytes()
        .strip_prefix(b"Bearer ")
        .unwrap_or_default();
    let token = String::from_utf8_lossy(token);
    if token.is_empty() || token.contains(char::is_whitespace) {
        return Err(ApiError::NotAuthenticated);
    }
    Ok(ApiKey::parse(&token))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn read_bytes(values: &[&[u8]]) -> Result<Option<ApiKey>, ApiError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        read(&headers)
    }

    #[test]
    fn a_key_is_read() {
        let key = format!("rk_{}", "aZ0-_xyz".repeat(4));
        let read = read_bytes(&[format!("Bearer {key}").as_bytes()])
            .unwrap()
            .unwrap();
        assert_eq!(read.reveal(), key);
    }

    #[test]
    fn a_token_of_another_shape_is_no_key() {
        for value in [
            "Bearer x",
            "Bearer rk_short",
            "Bearer Bearer",
            "Bearer é",
            "Bearer a,b",
        ] {
            assert!(
                matches!(read_bytes(&[value.as_bytes()]), Ok(None)),
                "{value}"
            );
        }
        assert!(matches!(read_bytes(&[b"Bearer \xff\xfe"]), Ok(None)));
    }

    #[test]
    fn anything_else_is_not_of_the_form() {
        let key = format!("rk_{}", "a".repeat(32));
        for value in [
            String::new(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            key.clone(),
            format!("bearer {key}"),
            format!("BEARER {key}"),
            format!("Basic {key}"),
            format!("Bearer  {key}"),
            format!("Bearer\t{key}"),
            format!("Bearer {key} "),
            format!("Bearer {key} x"),
            format!("Bearer {key}\u{a0}"),
            format!("Bearer{key}"),
        ] {
            let read = read_bytes(&[value.as_bytes()]);
            assert!(matches!(read, Err(ApiError::NotAuthenticated)), "{value}");
        }
        assert!(matches!(read_bytes(&[]), Err(ApiError::NotAuthenticated)));
    }

    #[test]
    fn two_headers_are_refused_even_when_they_agree() {
        let value = format!("Bearer rk_{}", "a".repeat(32));
        let read = read_bytes(&[value.as_bytes(), value.as_bytes()]);
        assert!(matches!(read, Err(ApiError::NotAuthenticated)));
    }
}
