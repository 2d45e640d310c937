//! What known providers send, each with its source: an issue on GitHub, or a page.

use refract_domain::account::Role;

use super::*;
use crate::settings::RoleRules;

fn by_groups(claim: &str) -> AdmissionRules {
    AdmissionRules {
        allowed_domains: vec!["example.com".to_owned()],
        role_claim: Some(claim.to_owned()),
        roles: RoleRules::parse("admins=owner,staff=editor").unwrap(),
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a table, of which each row is a case"
)]
fn people_of_known_providers_sign_in() {
    let google = ProviderCase {
        issuer: Some("https://accounts.google.com"),
        ..sent(
            "claims",
            json!({"iss": "accounts.google.com", "azp": "refract", "hd": "example.com"}),
        )
    };
    let authelia = ProviderCase {
        claims: json!({"email": null, "email_verified": null, "name": null}),
        userinfo: json!({"email": "ada@example.com", "email_verified": true, "name": "Ada"}),
        ..ProviderCase::default()
    };
    let x = key()["x"].as_str().unwrap().to_owned();
    let table: &[(&str, &str, ProviderCase)] = &[
        (
            "Auth0",
            "ramosbugs/openidconnect-rs/issues/23",
            sent(
                "claims",
                json!({"updated_at": "2026-05-04T09:08:07.123Z", "nickname": 7}),
            ),
        ),
        (
            "Cognito",
            "root-gg/plik/pull/590",
            sent(
                "claims",
                json!({"email_verified": "true", "phone_number_verified": "false", "identities": [{"primary": "true"}], "auth_time": "1777885687"}),
            ),
        ),
        (
            "Azure AD 1, answer",
            "ramosbugs/oauth2-rs/issues/191",
            sent(
                "answer",
                json!({"expires_in": "3599", "ext_expires_in": "3599", "expires_on": "1777889287", "not_before": "1777885387", "scope": ["openid"], "token_type": null}),
            ),
        ),
        (
            "Azure AD 1, claims",
            "panva/oauth4webapi/issues/71",
            sent(
                "claims",
                json!({"amr": "pwd", "ver": "1.0", "nbf": NOW - 300, "email_verified": null}),
            ),
        ),
        (
            "Entra ID",
            "marcpope/cortendesk/issues/6",
            sent(
                "claims",
                json!({"email_verified": null, "nbf": NOW, "aio": "x", "ver": "2.0", "tid": "t"}),
            ),
        ),
        (
            "Keycloak",
            "jenkinsci/oic-auth-plugin/issues/304",
            sent(
                "claims",
                json!({"aud": ["refract", "account"], "azp": "refract", "acr": 1, "address": {}, "allowed-origins": []}),
            ),
        ),
        (
            "Okta",
            "developer.okta.com/docs/reference/api/oidc",
            sent(
                "claims",
                json!({"ver": 1, "amr": ["pwd"], "idp": "00o", "address": {"locality": null}, "zoneinfo": 2}),
            ),
        ),
        (
            "Google",
            "developers.google.com/identity/openid-connect/openid-connect",
            google,
        ),
        (
            "GitLab",
            "docs.gitlab.com/integration/openid_connect_provider",
            sent(
                "claims",
                json!({"sub_legacy": "1", "profile": "", "picture": 5, "groups_direct": "a"}),
            ),
        ),
        (
            "Zitadel",
            "BookStackApp/BookStack/pull/4147",
            sent(
                "claims",
                json!({"aud": ["1@project", "refract", "2@project", "project"], "azp": "refract", "client_id": "refract"}),
            ),
        ),
        (
            "Dex",
            "dexidp.io/docs/configuration/custom-scopes-claims-clients",
            sent(
                "claims",
                json!({"sub": "CgcyMzQyNzQ5EgZnaXRodWI", "federated_claims": {"connector_id": "ldap"}}),
            ),
        ),
        ("Authelia", "vavallee/bindery/issues/2097", authelia),
        (
            "Apple",
            "nicokaiser/passport-apple/pull/86",
            sent(
                "claims",
                json!({"email_verified": "true", "is_private_email": "false", "nonce_supported": true, "name": null}),
            ),
        ),
        (
            "Centrify",
            "oauth2-proxy/oauth2-proxy/pull/103",
            sent(
                "claims",
                json!({"email_verified": "true", "phone_number": "", "scope": "openid email"}),
            ),
        ),
        (
            "gov.br",
            "servicosgovbr/manual-roteiro-integracao-login-unico/issues/43",
            sent(
                "userinfo",
                json!({"email_verified": "true", "amr": "passwd"}),
            ),
        ),
        (
            "Globus",
            "aces/Loris/pull/8928",
            sent("key", json!({"kid": null})),
        ),
        (
            "LemonLDAP, Shibboleth",
            "nextcloud/user_oidc/issues/709",
            sent("key", json!({"alg": null, "use": null})),
        ),
        (
            "no kid in the token",
            "Infisical/infisical/pull/4849",
            sent("header", json!({"kid": null, "typ": "at+jwt"})),
        ),
        (
            "NetIQ",
            "DuendeArchive/identity-model-oidc-client-js/issues/451",
            sent("key", json!({"x": format!("{x}=")})),
        ),
        (
            "Ory Hydra",
            "ory/hydra",
            sent(
                "claims",
                json!({"aud": ["refract"], "rat": 1_777_885_680, "sid": "s", "acr": "0", "exp": 1_777_885_987.5}),
            ),
        ),
        (
            "LinkedIn",
            "locale of its older API",
            sent(
                "claims",
                json!({"locale": {"language": "en", "country": "US"}}),
            ),
        ),
        (
            "AD FS",
            "elastic/elasticsearch/issues/43709",
            sent(
                "discovery",
                json!({"scopes_supported": "openid email", "op_policy_uri": "", "service_documentation": "docs", "acr_values_supported": [1, 2], "end_session_endpoint": "", "registration_endpoint": "", "response_types_supported": "code"}),
            ),
        ),
        (
            "no list of algorithms",
            "sourcegraph/sourcegraph-public-snapshot/issues/21003",
            sent(
                "discovery",
                json!({"id_token_signing_alg_values_supported": null, "subject_types_supported": null, "userinfo_endpoint": null}),
            ),
        ),
        (
            "a name that is no text",
            "sevensolutions/traefik-oidc-auth/issues/19",
            sent("claims", json!({"name": {"first": "Ada"}})),
        ),
        (
            "ids as numbers",
            "OpenID Connect Core, 2: a text, which own providers forget",
            ProviderCase {
                userinfo: json!({"sub": 17}),
                ..sent("claims", json!({"sub": 17, "name": null}))
            },
        ),
    ];
    for (provider, source, sent) in table {
        let identity = sign_on(sent, &of_domain());
        let email = identity.map(|identity| identity.email.to_string());
        assert_eq!(
            email.as_deref(),
            Ok("ada@example.com"),
            "{provider}: {source}"
        );
    }
}

#[test]
fn roles_of_known_providers_are_read() {
    let table: &[(&str, &str, &str, Value, Role)] = &[
        (
            "Keycloak",
            "realm_access.roles",
            "www.keycloak.org/docs",
            json!({"realm_access": {"roles": ["x", "admins"]}}),
            Role::Owner,
        ),
        (
            "IdentityServer, one group",
            "groups",
            "goharbor/harbor/issues/15416",
            json!({"groups": "admins"}),
            Role::Owner,
        ),
        (
            "Cognito",
            "cognito:groups",
            "furaiev/amazon-cognito-identity-dart-2/issues/66",
            json!({"cognito:groups": ["staff"]}),
            Role::Editor,
        ),
        (
            "Cognito by SAML",
            "custom:groups",
            "oauth2-proxy/oauth2-proxy/issues/1765",
            json!({"custom:groups": "[staff, admins]"}),
            Role::Owner,
        ),
        (
            "Cognito by Lambda",
            "groups",
            "aws-amplify/amplify-category-api/issues/1345",
            json!({"groups": "[\"staff\",\"x\"]"}),
            Role::Editor,
        ),
        (
            "Zitadel",
            "urn:zitadel:iam:org:project:roles",
            "stonith404/pingvin-share/issues/795",
            json!({"urn:zitadel:iam:org:project:roles": {"admins": {"1": "example.com"}}}),
            Role::Owner,
        ),
        (
            "Auth0",
            "https://example.com/roles",
            "auth0.com/docs",
            json!({"https://example.com/roles": ["admins"]}),
            Role::Owner,
        ),
    ];
    for (provider, claim, source, change, role) in table {
        let identity = sign_on(&sent("claims", change.clone()), &by_groups(claim));
        let read = identity.map(|identity| identity.role);
        assert_eq!(read, Ok(Some(*role)), "{provider}: {source}");
    }
    // directories have commas and spaces in names: no text is cut there
    for whole in ["x,admins", "x admins", "cn=admins,ou=x"] {
        let identity = sign_on(
            &sent("claims", json!({"groups": whole})),
            &by_groups("groups"),
        );
        assert!(identity.is_err(), "{whole}");
    }
    // groups that only the userinfo endpoint says
    let by_userinfo = sent("userinfo", json!({"groups": ["admins"]}));
    let identity = sign_on(&by_userinfo, &by_groups("groups")).ok().unwrap();
    assert_eq!(
        (identity.role, identity.missing_role_claim),
        (Some(Role::Owner), None)
    );
}

#[test]
fn a_role_claim_that_is_missing_is_distinguished_from_one_without_a_role() {
    let with = |rules: &str, claims: Value| {
        let mut admission = by_groups("groups");
        admission.roles = RoleRules::parse(rules).unwrap();
        let identity = sign_on(&sent("claims", claims), &admission);
        identity.map(|it| (it.role, it.missing_role_claim))
    };
    let everybody = "admins=owner,*=reviewer";
    let missing = (Some(Role::Reviewer), Some("groups".to_owned()));
    assert_eq!(with(everybody, json!({})), Ok(missing));
    assert_eq!(
        with(everybody, json!({"groups": []})),
        Ok((Some(Role::Reviewer), None))
    );
    let overage = json!({"_claim_names": {"groups": "src1"}});
    let message = with("admins=owner", overage).unwrap_err().to_string();
    assert!(
        message.contains("sent nothing about your role"),
        "{message}"
    );
    let message = with("admins=owner", json!({"groups": []}))
        .unwrap_err()
        .to_string();
    assert!(message.contains("names no role"), "{message}");
}
