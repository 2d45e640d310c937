//! Sign-ons over TCP by a scripted provider, whose answers a test changes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected ends there"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use refract_sign_on::{
    AdmissionRules, Flow, ProviderAnswer, ProviderSecret, SignOn, SignOnError, SignOnSettings,
    SignedOn,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use rustls::ClientConfig;
use serde_json::{Value, json};

/// What the provider answers, and what it was asked.
struct ProviderScript {
    issuer: String,
    key: EcdsaKeyPair,
    key_id: &'static str,
    nonce: String,
    /// Members of the discovery document in the place of the plain ones.
    discovery: Value,
    /// The token endpoint's status and body in the place of tokens.
    refusal: Option<(u16, Value)>,
    takes_basic: bool,
    has_id_token: bool,
    userinfo: (u16, Value),
    asked: Vec<String>,
}

struct Provider(Arc<Mutex<ProviderScript>>);

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn new_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap()
}

impl ProviderScript {
    fn id_token(&self) -> String {
        let now = chrono::Utc::now().timestamp();
        let header = json!({"alg": "ES256", "kid": self.key_id});
        let claims = json!({
            "iss": self.issuer, "sub": "u-1", "aud": "refract", "exp": now + 300, "iat": now,
            "nonce": self.nonce, "email": "ada@example.com", "email_verified": "true",
        });
        let text = format!(
            "{}.{}",
            encoded(header.to_string()),
            encoded(claims.to_string())
        );
        let signature = self.key.sign(&SystemRandom::new(), text.as_bytes());
        format!("{text}.{}", encoded(signature.unwrap()))
    }

    fn answer(&mut self, path: &str, authorization: &str, form: &str) -> (u16, Value) {
        let at = |path: &str| format!("{}{path}", self.issuer);
        match path {
            "/.well-known/openid-configuration" => {
                let mut document = json!({
                    "issuer": self.issuer, "authorization_endpoint": at("/authorize?tenant=a"),
                    "token_endpoint": at("/token"), "userinfo_endpoint": at("/userinfo"),
                    "jwks_uri": at("/keys"), "end_session_endpoint": at("/end"),
                    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
                });
                for (name, value) in self.discovery.as_object().unwrap() {
                    document[name] = value.clone();
                }
                (200, document)
            }
            "/keys" => {
                let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
                let key = json!({"kty": "EC", "crv": "P-256", "kid": self.key_id, "x": encoded(x), "y": encoded(y)});
                (200, json!({"keys": [key]}))
            }
            "/userinfo" => {
                self.asked.push(format!("userinfo {authorization}"));
                self.userinfo.clone()
            }
            "/token" => {
                let is_basic = authorization.starts_with("Basic ");
                self.asked.push(format!("token {is_basic} {form}"));
                if is_basic != self.takes_basic {
                    return (401, json!({"error": "unauthorized_client"}));
                }
                if let Some(refusal) = &self.refusal {
                    return refusal.clone();
                }
                let mut tokens =
                    json!({"access_token": "at", "refresh_token": "rt", "expires_in": "300"});
                if self.has_id_token {
                    tokens["id_token"] = self.id_token().into();
                }
                (200, tokens)
            }
            _ => (404, json!({})),
        }
    }
}

fn serve(script: &Mutex<ProviderScript>, mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut authorization, mut length) = (String::new(), 0);
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        match name {
            "authorization" => value.clone_into(&mut authorization),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut form = vec![0; length];
    reader.read_exact(&mut form).unwrap();
    let form = String::from_utf8(form).unwrap();
    let (status, body) = script.lock().unwrap().answer(&path, &authorization, &form);
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} x\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let script = Arc::new(Mutex::new(ProviderScript {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            key: new_key(),
            key_id: "k1",
            nonce: String::new(),
            discovery: json!({}),
            refusal: None,
            takes_basic: true,
            has_id_token: true,
            userinfo: (200, json!({"sub": "u-1", "name": "Ada"})),
            asked: Vec::new(),
        }));
        let shared = Arc::clone(&script);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&shared, stream.unwrap());
            }
        });
        Self(script)
    }

    fn change(&self, change: impl FnOnce(&mut ProviderScript)) {
        change(&mut self.0.lock().unwrap());
    }

    /// What was asked since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().asked)
    }

    fn party(&self) -> SignOn {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let settings = SignOnSettings {
            issuer: self.0.lock().unwrap().issuer.clone(),
            client_id: "refract".to_owned(),
            client_secret: Some(ProviderSecret::Text("s+c/t".to_owned())),
            name: None,
            redirect_url: "http://127.0.0.1:9/sign-on/callback".to_owned(),
            signed_out_url: "http://127.0.0.1:9/sign-in".to_owned(),
            scopes: None,
            rules: AdmissionRules {
                allowed_domains: vec!["example.com".to_owned()],
                ..AdmissionRules::default()
            },
            account: "default".to_owned(),
            asks_for_second_factor: false,
        };
        SignOn::new(settings, tls).unwrap()
    }

    /// Goes to the provider and comes back with a code.
    async fn sign_on(&self, party: &SignOn) -> Result<SignedOn, SignOnError> {
        let flow = Flow::of("a secret of a cookie");
        let address = party.authorization_address(&flow).await?;
        let query = address.split_once('?').unwrap().1;
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let mut values = pairs.filter(|(known, _)| *known == name);
            values.next().map(|(_, value)| value.to_owned()).unwrap()
        };
        assert_eq!(
            (value("tenant"), value("response_type")),
            ("a".to_owned(), "code".to_owned())
        );
        assert_eq!(value("scope"), "openid+email+profile");
        self.change(|script| script.nonce = value("nonce"));
        let answer = ProviderAnswer {
            state: &value("state"),
            code: "c",
            error: "",
        };
        party.redeem(&flow, &answer).await
    }
}

fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

fn message<T>(outcome: Result<T, SignOnError>) -> String {
    outcome
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn a_person_signs_on_and_is_asked_about_again() {
    run(async {
        let provider = Provider::start();
        let party = provider.party();
        let signed_on = provider.sign_on(&party).await.ok().unwrap();
        let identity = signed_on.identity;
        assert_eq!(
            (identity.subject.as_str(), identity.email.as_str()),
            ("u-1", "ada@example.com")
        );
        assert_eq!(identity.name.unwrap().as_str(), "Ada");
        let asked = provider.asked();
        assert!(
            asked[0].starts_with("token true grant_type=authorization_code&code=c&code_verifier=")
        );
        assert_eq!(asked[1], "userinfo Bearer at");
        // a refreshed answer without an ID token: the userinfo endpoint says who it is about
        provider.change(|script| {
            script.has_id_token = false;
            script.userinfo.1["email"] = "ada@example.com".into();
        });
        let again = party.refresh(&signed_on.grant, "u-1").await.ok().unwrap();
        assert!(again.0.is_some());
        let other = party.refresh(&signed_on.grant, "u-2").await;
        assert!(message(other).contains("another person"));
        // an outage is no refusal
        for status in [429, 500, 503] {
            provider.change(|script| {
                script.refusal = Some((status, json!({"error": "invalid_grant"})));
            });
            let refused = party.refresh(&signed_on.grant, "u-1").await.err().unwrap();
            assert!(!refused.is_final(), "{status}");
        }
        provider.change(|script| script.refusal = Some((400, json!({"error": "invalid_grant"}))));
        let refused = party.refresh(&signed_on.grant, "u-1").await.err().unwrap();
        assert!(refused.is_final());
        let out = party
            .sign_out_address(Some(&signed_on.grant))
            .await
            .unwrap();
        assert!(
            out.contains("/end?id_token_hint=") && out.contains("client_id=refract"),
            "{out}"
        );
    });
}

#[test]
fn a_secret_that_is_refused_in_the_header_is_sent_in_the_form() {
    run(async {
        let provider = Provider::start();
        provider.change(|script| script.takes_basic = false);
        let party = provider.party();
        assert!(provider.sign_on(&party).await.is_ok());
        let asked = provider.asked();
        assert!(asked[0].starts_with("token true") && !asked[0].contains("client_secret"));
        assert!(
            asked[1].ends_with("&client_id=refract&client_secret=s%2Bc%2Ft"),
            "{}",
            asked[1]
        );
        // the next sign-on knows
        assert!(provider.sign_on(&party).await.is_ok());
        assert!(provider.asked()[0].starts_with("token false"));
        // a secret that is refused in both places is wrong
        provider.change(|script| script.refusal = Some((401, json!({"error": "access_denied"}))));
        let refused = provider.sign_on(&party).await;
        assert!(message(refused).contains("id or secret is wrong"));
        assert_eq!(provider.asked().len(), 1);
    });
}

#[test]
fn new_keys_are_found_and_userinfo_is_needed_only_for_what_is_missing() {
    run(async {
        let provider = Provider::start();
        let party = provider.party();
        assert!(provider.sign_on(&party).await.is_ok());
        provider.change(|script| (script.key, script.key_id) = (new_key(), "k2"));
        assert!(provider.sign_on(&party).await.is_ok());
        // an access token for another service, as Entra ID gives: the ID token has the address
        provider.change(|script| script.userinfo = (401, json!({})));
        let signed_on = provider.sign_on(&party).await.ok().unwrap();
        assert_eq!(signed_on.identity.name, None);
        provider.change(|script| script.userinfo = (503, json!({})));
        assert!(message(provider.sign_on(&party).await).contains("does not answer"));
        provider.change(|script| script.userinfo = (200, json!({"sub": "u-2"})));
        assert!(message(provider.sign_on(&party).await).contains("another person"));
    });
}

#[test]
fn a_discovery_document_that_cannot_be_used_is_reported_by_its_member() {
    run(async {
        let provider = Provider::start();
        for (change, words) in [
            (
                json!({"token_endpoint": null}),
                "discovery document cannot be used: its `token_endpoint` is missing",
            ),
            (json!({"jwks_uri": 5}), "its `jwks_uri` cannot be read"),
            (
                json!({"issuer": "http://127.0.0.1/evil"}),
                "names another issuer",
            ),
        ] {
            provider.change(|script| script.discovery = change);
            let message = message(provider.sign_on(&provider.party()).await);
            assert!(
                message.contains(words) && !message.contains("evil"),
                "{message}"
            );
        }
        let trial = provider.party().try_discovery().await;
        let (status, seconds) = (
            trial.status.clone(),
            trial.date.map(|date| date.timestamp()),
        );
        assert_eq!((status, seconds), (Ok(200), Some(784_111_777)));
        let words = "/.well-known/openid-configuration answers with status 200";
        assert!(trial.to_string().ends_with(words), "{trial}");
        let unused =
            json!({"op_policy_uri": "", "acr_values_supported": [1], "end_session_endpoint": "x"});
        provider.change(|script| script.discovery = unused);
        let party = provider.party();
        assert!(provider.sign_on(&party).await.is_ok());
        assert_eq!(party.sign_out_address(None).await, None);
    });
}
