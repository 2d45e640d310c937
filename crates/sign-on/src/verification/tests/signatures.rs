//! Signatures, and the keys that made them.

use super::*;

#[test]
fn every_change_of_a_token_is_noticed() {
    let keys = SigningKeys::of(&document(json!({"keys": [key()]}))).unwrap();
    let message = b"header.payload";
    let signature = KEY.sign(&SystemRandom::new(), message).unwrap();
    let made = |message: &[u8], signature: &[u8]| {
        keys.made(SignatureAlgorithm::Es256, Some("k1"), message, signature)
    };
    assert!(made(message, signature.as_ref()));
    assert!(!made(b"header.payloae", signature.as_ref()));
    for at in 0..signature.as_ref().len() {
        let mut other = signature.as_ref().to_vec();
        other[at] ^= 1;
        assert!(!made(message, &other), "{at}");
    }
    assert!(!made(message, b""));
}

/// A key and signatures of `a.b` by it, made with OpenSSL.
#[test]
fn signatures_by_rsa_are_verified_with_keys_as_libraries_write_them() {
    const MODULUS: &str = "vs9uET-GBeEwIg9f47_CHsUu00QDu_j_1XY0LjadHLRofEYlgk5yEWm_DjUtjCpnH7X4sgDb7f4m_zDnrZu2kj5A3_4de_Fxyb1-QhikyFIAzaXcxMa62sXDQcP2rxQ4JUhLkAvONY7LYS5IjQoRti_HuCA3O5Irj5FLP9giWGQs3yBYSvQ6vOki8k1sClS_7U3p3krpNcGSrEvZFX4ZKFMGXfpiruP7PHXbPQ4B5ggz2aYNaSDpmgttewjFDhhZhKtqv1o5vK6ToTxZEAo_Re4JRUsjWZIXWnasPLMX_m183vCpRiXH4mlBFcsnBFKSAmcHYRznmfsLH2BexLKmAQ";
    const PKCS1: &str = "D9gM2UA1R9o0N4Wrg7j0-QMoB7RdIqT2xxyTqgQFgbkJdRdt4eVnm656-e2h8bHHPQ9eDUgX8M_mVO2hBWXoIBsSOSAc5WXF2LODsStOQ-tGNJVNolrbdsiyYUSRvKcgQbEbFFjJOVMP-ATqHzk9Yg7KxwNcrISuzKY2j04YIgbUfxGg1GmftagaWKv8bPcHHZo4zdshcxv0QksM972WTzHCKvvRDNVV19e7JvLMwgELqv2aWf_Tu-NJwTg_1NQS43r8I7briFmur3DvwB2dRRjUp1CG0KAZbiN9mPKmTbk8DB6FP_WK5ur5XeTix3YoI5ERLTW1iNjm889O6cwmdQ";
    const PSS: &str = "NxpjdNPegXSfnaE-8TB_WKrYIHlO1EyNbnjlQHEG8dN8j4AlEr6VUuYb-fUPObTPfpXqdDR9GwrYJvZl7o4aJtI8HaMf-RRT8AO7MoaLyhvq4OBbQ1YuI4mHlTn_C4_55GFZ7aDQur0BH9LzBOPldv4cahD7Y54m2PLcaopXXaBZRPYMQzq2Q-TkzD-zMKaymKszLQ1amGBcMK1Osmc9LuliMIkO1SSTIND8PwROT_AFrZ_2Av67U9NUO7r4HIl3dTvatf_Ib1roFll60uoEiBA1XDy1hJiR-6jB5sVbr7FytHNlp0VqGfOqSfy_qDGyIhSwVxLZK3Zf95qcfUuqxA";
    let number = base64_bytes(MODULUS).unwrap();
    let signed_number = [&[0], number.as_slice()].concat();
    let usual = base64::prelude::BASE64_STANDARD.encode(&signed_number);
    for modulus in [MODULUS.to_owned(), encoded(&signed_number), usual] {
        let key = json!({"kty": "RSA", "n": modulus, "e": "AQAB"});
        let keys = SigningKeys::of(&document(json!({"keys": [key]}))).unwrap();
        let made = |algorithm, signature| {
            let signature = base64_bytes(signature).unwrap();
            keys.made(algorithm, None, b"a.b", &signature)
        };
        assert!(made(SignatureAlgorithm::Rs256, PKCS1));
        assert!(made(SignatureAlgorithm::Ps256, PSS));
        for (algorithm, signature) in [
            (SignatureAlgorithm::Rs256, PSS),
            (SignatureAlgorithm::Ps256, PKCS1),
            (SignatureAlgorithm::Rs384, PKCS1),
            (SignatureAlgorithm::Es256, PKCS1),
        ] {
            assert!(!made(algorithm, signature), "{algorithm:?}");
        }
    }
}

#[test]
fn a_signed_userinfo_answer_is_for_this_client_if_it_names_for_whom() {
    let metadata = || {
        let keys = SigningKeys::of(&document(json!({"keys": [key()]}))).unwrap();
        let endpoint = "https://id.example.com/x";
        let discovery = json!({"authorization_endpoint": endpoint, "token_endpoint": endpoint});
        ProviderMetadata::of(&document(discovery), keys).unwrap()
    };
    let read = |claims: Value| {
        let token = signed(&json!({"alg": "ES256"}), &claims);
        let expected = Expected {
            issuer: ISSUER,
            client_id: "refract",
            nonce: None,
            access_token: None,
            now: NOW,
        };
        signed_userinfo(&metadata(), &token, &expected)
    };
    assert!(read(json!({"sub": "1"})).is_ok());
    assert!(read(json!({"sub": "1", "iss": ISSUER, "aud": ["refract"]})).is_ok());
    let other = read(json!({"sub": "1", "aud": "other"}));
    assert_eq!(other, Err(Distrust::Audience.into()));
    assert_eq!(read(json!({"iss": "other"})), Err(Distrust::Issuer.into()));
}
