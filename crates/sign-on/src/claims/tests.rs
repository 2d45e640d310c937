use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::settings::RoleRules;

const ISSUER: &str = "https://id.example.com";

fn claims(email: &str, verified: Option<bool>) -> Claims {
    Claims {
        subject: "1".to_owned(),
        email: Some(email.to_owned()),
        email_verified: verified,
        ..Claims::default()
    }
}

fn rules(domains: &[&str]) -> AdmissionRules {
    AdmissionRules {
        allowed_domains: domains.iter().map(ToString::to_string).collect(),
        ..AdmissionRules::default()
    }
}

fn email(claims: Claims, rules: &AdmissionRules) -> Result<String, NotLetIn> {
    let identity = claims.identity(ISSUER, rules)?;
    Ok(identity.email.to_string())
}

#[test]
fn a_verified_address_of_an_allowed_domain_comes_in() {
    let own = rules(&["example.com"]);
    let good = claims("Ada@Example.com", Some(true));
    assert_eq!(email(good, &own).as_deref(), Ok("ada@example.com"));
    for (address, verified, why) in [
        ("ada@example.org", Some(true), NotLetIn::Domain),
        ("ada@sub.example.com", Some(true), NotLetIn::Domain),
        ("ada@evil-example.com", Some(true), NotLetIn::Domain),
        ("ada@example.com", Some(false), NotLetIn::UnverifiedEmail),
        ("ada@example.org", None, NotLetIn::UnverifiedEmail),
        ("ada", Some(true), NotLetIn::UnusableEmail),
        (
            "ad\u{200b}a@example.com",
            Some(true),
            NotLetIn::UnusableEmail,
        ),
    ] {
        assert_eq!(
            email(claims(address, verified), &own),
            Err(why),
            "{address}"
        );
    }
    assert_eq!(email(Claims::default(), &own), Err(NotLetIn::NoEmail));
}

#[test]
fn a_silent_provider_is_believed_for_named_domains_only() {
    let silent = || claims("ada@example.com", None);
    assert!(email(silent(), &rules(&["example.com"])).is_ok());
    for unnamed in [&[][..], &["*"]] {
        let believed = email(silent(), &rules(unnamed));
        assert_eq!(believed, Err(NotLetIn::UnverifiedEmail));
    }
    assert!(email(claims("ada@b.example", Some(true)), &rules(&["*"])).is_ok());
    assert!(email(claims("ada@b.example", Some(true)), &rules(&[])).is_ok());
}

#[test]
fn roles_come_from_a_claim_by_name_or_by_path() {
    let with = |claim: &str, value: Value| {
        let mut claims = claims("ada@example.com", Some(true));
        claims.all = Document(value.as_object().unwrap().clone());
        let rules = AdmissionRules {
            role_claim: Some(claim.to_owned()),
            roles: RoleRules::parse("admins=owner,staff=reviewer").unwrap(),
            ..AdmissionRules::default()
        };
        claims
            .identity(ISSUER, &rules)
            .map(|identity| identity.role)
    };
    let owner = Ok(Some(Role::Owner));
    assert_eq!(
        with("groups", json!({"groups": ["staff", "admins"]})),
        owner
    );
    assert_eq!(with("groups", json!({"groups": "admins"})), owner);
    assert_eq!(
        with(
            "realm_access.roles",
            json!({"realm_access": {"roles": ["admins"]}})
        ),
        owner
    );
    // a client of Keycloak whose name has dots
    assert_eq!(
        with(
            "resource_access.refract.example.com.roles",
            json!({"resource_access": {"refract": {}, "refract.example.com": {"roles": ["admins"]}}})
        ),
        owner
    );
    assert_eq!(
        with(
            "https://a.b/roles",
            json!({"https://a.b/roles": ["admins"]})
        ),
        owner
    );
    for none in [
        json!({"groups": []}),
        json!({"groups": ["x", 1]}),
        json!({"groups": {"admins": true}}),
    ] {
        assert_eq!(with("groups", none), Err(NotLetIn::NoRole));
    }
}

#[test]
fn without_a_role_claim_the_provider_gives_no_role() {
    let identity = claims("ada@example.com", Some(true)).identity(ISSUER, &rules(&[]));
    assert_eq!(identity.ok().and_then(|identity| identity.role), None);
}

proptest! {
    #[test]
    fn nobody_outside_the_domains_comes_in(address in ".{0,30}", verified in proptest::option::of(any::<bool>())) {
        let own = rules(&["example.com"]);
        if let Ok(read) = email(claims(&address, verified), &own) {
            prop_assert!(read.ends_with("@example.com"));
        }
    }
}

#[test]
fn two_kinds_of_factors_or_a_word_for_several_count() {
    for (methods, context, expected) in [
        // Entra ID, Okta, Auth0
        (&["pwd", "mfa"][..], None, true),
        // Keycloak, Authelia, Zitadel
        (&["pwd", "otp"], Some("1"), true),
        (&["fpt", "hwk"], None, true),
        (&["pwd"], Some("https://refeds.org/profile/mfa"), true),
        (&[], Some("phr"), true),
        (&["pwd"], None, false),
        (&["pwd", "pin"], None, false),
        (&["otp", "sms"], None, false),
        (&["MFA", "user", "rba"], Some("2"), false),
        (&[], None, false),
    ] {
        let had = had_second_factor(methods.iter().copied(), context);
        assert_eq!(had, expected, "{methods:?} {context:?}");
    }
}
