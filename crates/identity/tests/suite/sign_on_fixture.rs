//! A real provider of sign-on, and an account whose people sign on by it.

use std::sync::Arc;

use refract_domain::account::Role;
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::PersonId;
use refract_identity::Identity;
use refract_identity::people::{
    AdmissionRules, ProviderAnswer, ProviderSecret, RoleRules, Session, SignInClient, SignInWays,
    SignOnFailure, SignOnSettings, SignOnStart, SignedIn,
};
use refract_test_support::backend::Backend;
use refract_test_support::provider::{CLIENT_ID, CLIENT_SECRET, TestProvider};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};

use crate::events::all;
use crate::fixture::Fixture;
use crate::sign_in::{OFFICE, stranger};

/// The address of an app that nobody serves.
const APP: &str = "http://127.0.0.1:9";

/// An account with a provider.
pub(crate) struct SignOnFixture {
    pub(crate) base: Fixture,
    pub(crate) provider: TestProvider,
    /// The use cases with the provider.
    pub(crate) identity: Identity,
}

/// What a browser brings back from the provider.
pub(crate) struct Returned {
    pub(crate) start: SignOnStart,
    pub(crate) state: String,
    pub(crate) code: String,
    pub(crate) error: String,
}

/// A new database with an account whose people sign on; `None` without Node and the provider.
pub(crate) async fn on(backend: Backend) -> Option<SignOnFixture> {
    if !TestProvider::available() {
        return None;
    }
    let base = Fixture::on(backend).await;
    let provider = TestProvider::start().await;
    provider.serves(APP).await;
    let settings = settings(&base, &provider);
    let identity = with(&base, settings);
    Some(SignOnFixture {
        base,
        provider,
        identity,
    })
}

/// Settings that let everybody of `example.com` in.
pub(crate) fn settings(base: &Fixture, provider: &TestProvider) -> SignOnSettings {
    SignOnSettings {
        issuer: provider.issuer.clone(),
        client_id: CLIENT_ID.to_owned(),
        client_secret: Some(ProviderSecret::Text(CLIENT_SECRET.to_owned())),
        name: None,
        redirect_url: format!("{APP}/sign-on/callback"),
        signed_out_url: format!("{APP}/sign-in"),
        scopes: None,
        rules: AdmissionRules {
            allowed_domains: vec!["example.com".to_owned()],
            ..AdmissionRules::default()
        },
        account: base.account.to_string(),
        asks_for_second_factor: false,
    }
}

/// Settings that give roles by groups.
pub(crate) fn by_groups(base: &Fixture, provider: &TestProvider) -> SignOnSettings {
    let mut settings = settings(base, provider);
    settings.rules.role_claim = Some("groups".to_owned());
    settings.rules.roles = RoleRules::parse("admins=owner,authors=editor").unwrap();
    settings
}

/// The use cases with a provider of these settings.
pub(crate) fn with(base: &Fixture, settings: SignOnSettings) -> Identity {
    let ways = SignInWays::new(Some(settings), true, || Some(tls())).unwrap();
    base.identity.clone().with_sign_in_ways(ways)
}

/// A client that trusts nobody: the provider is on loopback, without TLS.
fn tls() -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth()
}

/// What is said about a person.
pub(crate) fn claims(email: &str, groups: &[&str]) -> Value {
    json!({ "email": email, "email_verified": true, "name": "Ada Lovelace", "groups": groups })
}

impl SignOnFixture {
    /// Begins a sign-on and goes to the provider and back.
    pub(crate) async fn returned(&self, identity: &Identity) -> Returned {
        let start = identity.people().begin_sign_on().await.unwrap();
        let back = self.provider.walk(&start.address).await;
        let query = back.strip_prefix(APP).unwrap();
        let query = query.strip_prefix("/sign-on/callback?").unwrap();
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let mut values = pairs.filter(|(known, _)| *known == name);
            values.next().map(|(_, value)| value.to_owned())
        };
        Returned {
            state: value("state").unwrap_or_default(),
            code: value("code").unwrap_or_default(),
            error: value("error").unwrap_or_default(),
            start,
        }
    }

    /// Signs on whom the provider names at present.
    pub(crate) async fn try_sign_on(&self, identity: &Identity) -> Result<Session, SignOnFailure> {
        let returned = self.returned(identity).await;
        finish(identity, &returned).await
    }

    /// Signs on whom the provider names at present.
    pub(crate) async fn sign_on(&self) -> Session {
        self.try_sign_on(&self.identity).await.unwrap()
    }

    /// The person whom a session signs in.
    pub(crate) async fn who(&self, session: &Session) -> Option<SignedIn> {
        let found = self.identity.people().session(&session.token).await;
        found.unwrap().signed_in()
    }

    /// The role of a person.
    pub(crate) async fn role(&self, person: PersonId) -> Role {
        let people = self
            .identity
            .people()
            .list(self.base.account)
            .await
            .unwrap();
        people.iter().find(|row| row.id == person).unwrap().role
    }

    /// The events about a person, oldest first.
    pub(crate) async fn events(&self, person: PersonId) -> Vec<EventAction> {
        let events = all(&self.base).await.into_iter().rev();
        let events = events.filter(|it| it.event.target == EventTarget::Person(person));
        events.map(|it| it.event.action).collect()
    }
}

/// Finishes a sign-on with what the browser brought back.
pub(crate) async fn finish(
    identity: &Identity,
    returned: &Returned,
) -> Result<Session, SignOnFailure> {
    finish_from(identity, &stranger(OFFICE), returned).await
}

/// Finishes a sign-on from this client.
pub(crate) async fn finish_from(
    identity: &Identity,
    client: &SignInClient,
    returned: &Returned,
) -> Result<Session, SignOnFailure> {
    let answer = ProviderAnswer {
        state: &returned.state,
        code: &returned.code,
        error: &returned.error,
    };
    let flows = [returned.start.flow.clone()];
    let people = identity.people();
    people.finish_sign_on(client, &flows, &answer, None).await
}
