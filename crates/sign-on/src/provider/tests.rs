use super::*;
use crate::settings::{ProviderSecret, RoleRules};

fn settings(issuer: &str) -> SignOnSettings {
    SignOnSettings {
        issuer: issuer.to_owned(),
        client_id: "refract".to_owned(),
        client_secret: Some(ProviderSecret::Text("secret".to_owned())),
        name: None,
        redirect_url: "http://127.0.0.1:8081/sign-on/callback".to_owned(),
        signed_out_url: "http://127.0.0.1:8081/sign-in".to_owned(),
        scopes: None,
        rules: AdmissionRules::default(),
        account: "default".to_owned(),
        asks_for_second_factor: false,
    }
}

fn tls() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

fn refusal(settings: SignOnSettings) -> String {
    SignOn::new(settings, tls()).err().unwrap().to_string()
}

#[test]
fn the_button_has_the_hosts_name_unless_one_is_set() {
    let sign_on = SignOn::new(settings("https://id.example.com/realms/a"), tls()).unwrap();
    assert_eq!(sign_on.name(), "id.example.com");
    let named = SignOnSettings {
        name: Some("Example".to_owned()),
        ..settings("https://id.example.com")
    };
    assert_eq!(SignOn::new(named, tls()).unwrap().name(), "Example");
}

#[test]
fn tokens_travel_over_tls_unless_the_provider_is_on_this_machine() {
    assert!(SignOn::new(settings("http://127.0.0.1:9000"), tls()).is_ok());
    let plain = refusal(settings("http://id.example.com"));
    assert!(plain.contains("https://"), "{plain}");
    for wrong in ["", "id.example.com", "ftp://id.example.com"] {
        let refusal = refusal(settings(wrong));
        assert!(refusal.contains("such as https://"), "{wrong}: {refusal}");
    }
}

#[test]
fn a_role_claim_and_its_rules_come_together() {
    let with = |claim: Option<&str>, rules| {
        let mut settings = settings("https://id.example.com");
        settings.rules.role_claim = claim.map(str::to_owned);
        settings.rules.roles = RoleRules::parse(rules).unwrap();
        SignOn::new(settings, tls())
    };
    assert!(with(Some("groups"), "a=owner").is_ok());
    assert!(with(None, "").is_ok());
    assert!(with(Some("groups"), "").is_err());
    assert!(with(None, "a=owner").is_err());
}

#[test]
fn an_unreadable_secret_is_named_by_its_file() {
    let mut settings = settings("https://id.example.com");
    settings.client_secret = Some(ProviderSecret::InFile("/nowhere/secret".into()));
    assert!(refusal(settings).contains("/nowhere/secret"));
}
