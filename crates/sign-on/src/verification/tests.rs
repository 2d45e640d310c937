//! A sign-on by each of many providers: what they are known to send, and what comes of it.

mod providers;
mod signatures;

use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use super::*;
use crate::claims::ProviderIdentity;
use crate::grant::TokenAnswer;
use crate::metadata::signing_keys::SigningKeys;
use crate::settings::AdmissionRules;

const NOW: i64 = 1_777_885_687;
const ISSUER: &str = "https://id.example.com";

/// The provider's key, made once.
static KEY: LazyLock<EcdsaKeyPair> = LazyLock::new(|| {
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap()
});

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn signed(header: &Value, claims: &Value) -> String {
    let text = format!(
        "{}.{}",
        encoded(header.to_string()),
        encoded(claims.to_string())
    );
    let signature = KEY.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
    format!("{text}.{}", encoded(signature))
}

fn key() -> Value {
    let (x, y) = KEY.public_key().as_ref()[1..].split_at(32);
    json!({"kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "alg": "ES256",
           "x": encoded(x), "y": encoded(y)})
}

/// A value with the members of another one in the place of its own; null takes a member away.
fn changed(mut value: Value, change: &Value) -> Value {
    let members = value.as_object_mut().unwrap();
    for (name, new) in change.as_object().unwrap() {
        if new.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), new.clone());
        }
    }
    value
}

fn document(value: Value) -> Document {
    let Value::Object(members) = value else {
        panic!("{value} is no object");
    };
    Document(members)
}

/// What a provider sends, as changes of plain documents.
#[derive(Clone, Default)]
struct ProviderCase {
    issuer: Option<&'static str>,
    discovery: Value,
    key: Value,
    header: Value,
    answer: Value,
    claims: Value,
    userinfo: Value,
}

fn sent(part: &str, change: Value) -> ProviderCase {
    let mut sent = ProviderCase::default();
    let place = match part {
        "discovery" => &mut sent.discovery,
        "key" => &mut sent.key,
        "header" => &mut sent.header,
        "answer" => &mut sent.answer,
        "claims" => &mut sent.claims,
        "userinfo" => &mut sent.userinfo,
        other => panic!("{other} is no part"),
    };
    *place = change;
    sent
}

fn or_nothing(change: &Value) -> Value {
    if change.is_null() {
        json!({})
    } else {
        change.clone()
    }
}

/// Signs on with what a provider sends, as the relying party does.
fn sign_on(sent: &ProviderCase, rules: &AdmissionRules) -> Result<ProviderIdentity, SignOnError> {
    let issuer = sent.issuer.unwrap_or(ISSUER);
    let discovery = json!({
        "issuer": issuer, "authorization_endpoint": "https://id.example.com/authorize",
        "token_endpoint": "https://id.example.com/token",
        "userinfo_endpoint": "https://id.example.com/userinfo",
        "jwks_uri": "https://id.example.com/keys", "response_types_supported": ["code"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256"],
    });
    let discovery = document(changed(discovery, &or_nothing(&sent.discovery)));
    let keys = json!({"keys": [
        {"kty": "RSA", "use": "enc", "alg": "RSA-OAEP", "kid": "k1", "n": "AQAB", "e": "AQAB"},
        {"kty": "unknown", "kid": 7}, "no key",
        changed(key(), &or_nothing(&sent.key)),
    ]});
    let keys = SigningKeys::of(&document(keys)).unwrap();
    let metadata = ProviderMetadata::of(&discovery, keys);
    let metadata = metadata.map_err(|fault| fault.of("discovery document"))?;
    let claims = json!({
        "iss": issuer, "sub": "u-1", "aud": "refract", "iat": NOW, "exp": NOW + 300,
        "nonce": "n", "email": "ada@example.com", "email_verified": true, "name": "Ada",
    });
    let claims = changed(claims, &or_nothing(&sent.claims));
    let header = changed(
        json!({"alg": "ES256", "kid": "k1"}),
        &or_nothing(&sent.header),
    );
    let answer = json!({
        "access_token": "at", "token_type": "Bearer", "expires_in": 300,
        "id_token": signed(&header, &claims),
    });
    let answer = TokenAnswer::of(&document(changed(answer, &or_nothing(&sent.answer))));
    let answer = answer.map_err(|fault| fault.of("token answer"))?;
    let expected = Expected {
        issuer,
        client_id: "refract",
        nonce: Some("n"),
        access_token: answer.access_token.as_deref(),
        now: NOW,
    };
    let token = answer.id_token.as_deref().ok_or(Distrust::NoIdToken)?;
    let mut claims = verified(&metadata, token, &expected)?;
    if metadata.userinfo_endpoint.is_some() && claims.lack_anything(rules) {
        let info = changed(json!({"sub": "u-1"}), &or_nothing(&sent.userinfo));
        let info = Claims::of(document(info)).map_err(|fault| fault.of("userinfo answer"))?;
        claims.add(info);
    }
    let subject = claims.subject.clone();
    let identity = claims.identity(issuer, rules);
    identity.map_err(|reason| reason.of(subject))
}

fn of_domain() -> AdmissionRules {
    AdmissionRules {
        allowed_domains: vec!["example.com".to_owned()],
        ..AdmissionRules::default()
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table, of which each row is a case"
)]
fn what_is_wrong_is_reported_by_name_and_never_repeated() {
    let table: &[(&str, Value, &str)] = &[
        (
            "claims",
            json!({"sub": ""}),
            "ID token cannot be used: its `sub` is missing",
        ),
        ("claims", json!({"sub": " "}), "its `sub` is missing"),
        ("claims", json!({"sub": null}), "its `sub` is missing"),
        (
            "claims",
            json!({"sub": "evil\u{0}"}),
            "its `sub` cannot be read",
        ),
        (
            "claims",
            json!({"sub": "evil".repeat(300)}),
            "its `sub` cannot be read",
        ),
        ("claims", json!({"exp": "evil"}), "its `exp` cannot be read"),
        ("claims", json!({"exp": null}), "its `exp` is missing"),
        ("claims", json!({"exp": NOW - 61}), "clocks is wrong"),
        ("claims", json!({"iat": NOW + 301}), "clocks is wrong"),
        ("claims", json!({"nbf": NOW + 301}), "clocks is wrong"),
        (
            "claims",
            json!({"nbf": (NOW + 301).to_string()}),
            "clocks is wrong",
        ),
        ("claims", json!({"nbf": []}), "its `nbf` cannot be read"),
        ("claims", json!({"azp": "evil"}), "by its `azp`"),
        ("claims", json!({"azp": ["refract"]}), "by its `azp`"),
        (
            "claims",
            json!({"aud": ["refract", "evil"]}),
            "another client",
        ),
        (
            "claims",
            json!({"aud": ["refract", "evil"], "azp": "evil"}),
            "by its `azp`",
        ),
        (
            "claims",
            json!({"aud": ["evil"], "azp": "refract"}),
            "another client",
        ),
        ("claims", json!({"aud": []}), "another client"),
        (
            "claims",
            json!({"iss": "https://id.example.com/"}),
            "another issuer",
        ),
        (
            "claims",
            json!({"iss": "accounts.google.com"}),
            "another issuer",
        ),
        ("claims", json!({"nonce": null}), "another sign-in"),
        ("claims", json!({"nonce": "evil"}), "another sign-in"),
        ("claims", json!({"at_hash": "ZXZpbA"}), "fails a check"),
        (
            "claims",
            json!({"email": {"evil": 1}}),
            "its `email` cannot be read",
        ),
        (
            "claims",
            json!({"email_verified": "evil"}),
            "its `email_verified` cannot be read",
        ),
        (
            "claims",
            json!({"email_verified": "false"}),
            "has not verified",
        ),
        (
            "userinfo",
            json!({"sub": null}),
            "userinfo answer cannot be used: its `sub` is missing",
        ),
        (
            "answer",
            json!({"id_token": 1}),
            "token answer cannot be used: its `id_token` cannot be read",
        ),
        ("answer", json!({"id_token": null}), "no ID token"),
        (
            "answer",
            json!({"id_token": "evil"}),
            "ID token cannot be read",
        ),
        ("answer", json!({"id_token": "a.b.c.d.e"}), "is encrypted"),
        ("header", json!({"alg": "HS256"}), "choose RS256 or ES256"),
        ("header", json!({"alg": "none"}), "choose RS256 or ES256"),
        (
            "header",
            json!({"alg": "RS256"}),
            "signature is not the provider's",
        ),
        (
            "header",
            json!({"kid": "other"}),
            "signature is not the provider's",
        ),
        (
            "header",
            json!({"crit": ["b64"], "b64": false}),
            "fails a check",
        ),
        (
            "key",
            json!({"use": "enc"}),
            "signature is not the provider's",
        ),
        (
            "key",
            json!({"alg": "ES384"}),
            "signature is not the provider's",
        ),
        (
            "discovery",
            json!({"token_endpoint": null}),
            "discovery document cannot be used: its `token_endpoint` is missing",
        ),
        (
            "discovery",
            json!({"authorization_endpoint": "evil"}),
            "its `authorization_endpoint` cannot be read",
        ),
        (
            "discovery",
            json!({"id_token_signing_alg_values_supported": ["RS256"]}),
            "choose RS256 or ES256",
        ),
    ];
    for (part, change, words) in table {
        let mut sent = sent(part, change.clone());
        if *part == "userinfo" {
            sent.claims = json!({"name": null});
        }
        let message = sign_on(&sent, &of_domain()).err();
        let message = message.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains(words), "{part} {change}: {message}");
        assert!(!message.contains("evil"), "{message}");
    }
}

#[test]
fn clocks_may_differ_by_a_little() {
    let late = json!({"exp": NOW - 59, "iat": NOW + 299, "nbf": NOW + 299});
    assert!(sign_on(&sent("claims", late), &of_domain()).is_ok());
}
