//! The provider's keys (RFC 7517), and the signatures that are theirs.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, prelude::BASE64_STANDARD_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde_json::Value;

use crate::document::Document;
use crate::error::DocumentFault;

/// The most keys that are tried for one signature: a token names its key, or a provider has few.
const MOST_TRIES: usize = 16;

/// Base64 as tokens have it, with or without the padding that some providers leave on.
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Signature algorithms that are accepted. Those with a shared secret are not: every holder of the
/// secret could sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureAlgorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    EdDsa,
}

/// The public keys of a provider.
#[derive(Debug)]
pub(crate) struct SigningKeys(Vec<SigningKey>);

#[derive(Debug)]
struct SigningKey {
    id: Option<String>,
    algorithm: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl SignatureAlgorithm {
    /// The algorithm of this name (RFC 7518), if it is accepted.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "PS256" => Self::Ps256,
            "PS384" => Self::Ps384,
            "PS512" => Self::Ps512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }

    /// The hash with which an ID token names its access token.
    pub(crate) fn digest(self) -> &'static ring::digest::Algorithm {
        match self {
            Self::Rs256 | Self::Ps256 | Self::Es256 => &ring::digest::SHA256,
            Self::Rs384 | Self::Ps384 | Self::Es384 => &ring::digest::SHA384,
            Self::Rs512 | Self::Ps512 | Self::EdDsa => &ring::digest::SHA512,
        }
    }

    fn rsa_parameters(self) -> Option<&'static RsaParameters> {
        match self {
            Self::Rs256 => Some(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Some(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Some(&RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Some(&RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Some(&RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Some(&RSA_PSS_2048_8192_SHA512),
            Self::Es256 | Self::Es384 | Self::EdDsa => None,
        }
    }
}

impl SigningKeys {
    /// The keys of a key set that can verify a signature. Keys of other kinds, such as those for
    /// encryption, are left out.
    pub(crate) fn of(set: &Document) -> Result<Self, DocumentFault> {
        match set.get("keys") {
            Some(Value::Array(keys)) => {
                let keys = keys.iter().filter_map(Value::as_object);
                let keys = keys.map(|members| Document(members.clone()));
                Ok(Self(keys.filter_map(|key| SigningKey::of(&key)).collect()))
            }
            Some(_) => Err(DocumentFault::Member("keys")),
            None => Err(DocumentFault::Missing("keys")),
        }
    }

    /// Whether one of the keys made a signature. A token without a key's id may be by any of them,
    /// and so may a token be by a key without an id.
    pub(crate) fn made(
        &self,
        algorithm: SignatureAlgorithm,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let keys = self.0.iter().filter(|key| {
            let may_have_id = id.is_none() || key.id.is_none() || key.id.as_deref() == id;
            let named = key.algorithm.as_deref();
            may_have_id
                && named.is_none_or(|name| SignatureAlgorithm::named(name) == Some(algorithm))
        });
        let mut keys = keys.take(MOST_TRIES);
        keys.any(|key| key.material.made(algorithm, message, signature))
    }
}

impl SigningKey {
    fn of(key: &Document) -> Option<Self> {
        if key.text("use").ok()? == Some("enc") {
            return None;
        }
        let bytes = |name| base64_bytes(key.text(name).ok()??);
        let curve = key.text("crv").ok()?;
        let material = match (key.text("kty").ok()??, curve) {
            ("RSA", _) => KeyMaterial::Rsa {
                modulus: without_leading_zeros(&bytes("n")?).to_vec(),
                exponent: without_leading_zeros(&bytes("e")?).to_vec(),
            },
            ("EC", Some("P-256")) => KeyMaterial::P256(point(&bytes("x")?, &bytes("y")?, 32)?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point(&bytes("x")?, &bytes("y")?, 48)?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(Self {
            id: key.id("kid").ok()?,
            algorithm: key.text("alg").ok()?.map(str::to_owned),
            material,
        })
    }
}

impl KeyMaterial {
    fn made(&self, algorithm: SignatureAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (self, algorithm) {
            (Self::Rsa { modulus, exponent }, algorithm) => {
                let Some(parameters) = algorithm.rsa_parameters() else {
                    return false;
                };
                let key = RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                };
                key.verify(parameters, message, signature)
            }
            (Self::P256(point), SignatureAlgorithm::Es256) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Self::P384(point), SignatureAlgorithm::Es384) => {
                UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).verify(message, signature)
            }
            (Self::Ed25519(key), SignatureAlgorithm::EdDsa) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature)
            }
            (Self::P256(_) | Self::P384(_) | Self::Ed25519(_), _) => return false,
        };
        verified.is_ok()
    }
}

/// The bytes of a base64 text in the alphabet of tokens, or in the usual one.
pub(crate) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let in_url = URL_SAFE.decode(text);
    in_url
        .or_else(|_| BASE64_STANDARD_NO_PAD.decode(text.trim_end_matches('=')))
        .ok()
}

/// A number without the zero bytes before it, which libraries that write signed numbers leave there.
fn without_leading_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.get(zeros..).unwrap_or_default()
}

/// A point on a curve, uncompressed (SEC 1); its numbers may have lost or won zeros in front.
fn point(x: &[u8], y: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut point = vec![4];
    for number in [x, y] {
        let number = without_leading_zeros(number);
        point.resize(point.len() + size.checked_sub(number.len())?, 0);
        point.extend_from_slice(number);
    }
    Some(point)
}
