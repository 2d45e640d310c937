//! Claims: what a provider says about a person, and who that is here.

use openidconnect::core::CoreGenderClaim;
use openidconnect::{AdditionalClaims, IdTokenClaims, LocalizedClaim, UserInfoClaims};
use refract_domain::account::person::{Email, PersonName};
use refract_domain::account::role::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::NotLetIn;
use crate::second_factor::had_second_factor;
use crate::settings::AdmissionRules;

/// The most values of the role claim that are read.
const MOST_VALUES: usize = 1_000;

/// A person whom the provider knows and the rules of this installation let in.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider, by the address of its issuer.
    pub issuer: String,
    /// The person's id at the provider, which never changes.
    pub subject: String,
    /// The person's address.
    pub email: Email,
    /// The person's name; `None` where the provider says none that can be shown.
    pub name: Option<PersonName>,
    /// The role that the rules give; `None` where there are no rules.
    pub role: Option<Role>,
    /// Whether the person may join whom nobody invited.
    pub may_join: bool,
    /// Whether the signed ID token says that the provider asked for a second factor.
    pub had_second_factor: bool,
}

/// Claims outside of the standard ones, such as groups.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct OtherClaims(Map<String, Value>);

impl AdditionalClaims for OtherClaims {}

/// What a provider said about a person, from the ID token and from the userinfo endpoint.
#[derive(Default)]
pub(crate) struct Claims {
    pub(crate) subject: String,
    pub(crate) email: Option<String>,
    pub(crate) email_verified: Option<bool>,
    pub(crate) name: Option<String>,
    pub(crate) had_second_factor: bool,
    pub(crate) others: OtherClaims,
}

impl Claims {
    pub(crate) fn of_id_token(claims: &IdTokenClaims<OtherClaims, CoreGenderClaim>) -> Self {
        Self {
            subject: claims.subject().to_string(),
            email: claims.email().map(|email| email.to_string()),
            email_verified: claims.email_verified(),
            name: shown_name(claims.name()),
            had_second_factor: had_second_factor(
                claims
                    .auth_method_refs()
                    .into_iter()
                    .flatten()
                    .map(|it| it.as_str()),
                claims.auth_context_ref().map(|it| it.as_str()),
            ),
            others: claims.additional_claims().clone(),
        }
    }

    /// Adds what the userinfo endpoint says. What the signed ID token says stays.
    pub(crate) fn add(&mut self, info: &UserInfoClaims<OtherClaims, CoreGenderClaim>) {
        let email = info.email().map(|email| email.to_string());
        if self.email.is_none() {
            self.email = email;
            self.email_verified = info.email_verified();
        } else if self.email_verified.is_none() && self.email == email {
            self.email_verified = info.email_verified();
        }
        if self.name.is_none() {
            self.name = shown_name(info.name());
        }
        for (name, value) in &info.additional_claims().0 {
            if !self.others.0.contains_key(name) {
                self.others.0.insert(name.clone(), value.clone());
            }
        }
    }

    /// Whether the userinfo endpoint may say more of what the rules need.
    pub(crate) fn lack_anything(&self, rules: &AdmissionRules) -> bool {
        let lacks_role = rules
            .role_claim
            .as_deref()
            .is_some_and(|claim| self.others.find(claim).is_none());
        let lacks_email = self.email.is_none() || self.email_verified.is_none();
        lacks_email || self.name.is_none() || lacks_role
    }

    /// Who that is here, if the rules let them in.
    pub(crate) fn identity(
        self,
        issuer: &str,
        rules: &AdmissionRules,
    ) -> Result<Identity, NotLetIn> {
        let email = self.email.as_deref().ok_or(NotLetIn::NoEmail)?;
        let email = Email::parse(email).map_err(|_| NotLetIn::UnusableEmail)?;
        // some providers say nothing; their word counts for domains that were named
        let is_named = rules.names_domain_of(&email);
        if !self.email_verified.unwrap_or(is_named) {
            return Err(NotLetIn::UnverifiedEmail);
        }
        if !rules.has_domain_of(&email) {
            return Err(NotLetIn::Domain);
        }
        let role = match &rules.role_claim {
            None => None,
            Some(claim) => {
                let values = self.others.values(claim);
                Some(rules.roles.role_of(&values).ok_or(NotLetIn::NoRole)?)
            }
        };
        Ok(Identity {
            issuer: issuer.to_owned(),
            subject: self.subject,
            name: self.name.and_then(|name| PersonName::parse(&name).ok()),
            email,
            role,
            may_join: rules.lets_uninvited_join(),
            had_second_factor: self.had_second_factor,
        })
    }
}

impl OtherClaims {
    /// The claim with this name. A name with dots also leads into objects, as `realm_access.roles`
    /// does.
    fn find(&self, name: &str) -> Option<&Value> {
        if let Some(found) = self.0.get(name) {
            return Some(found);
        }
        let mut parts = name.split('.');
        let mut found = self.0.get(parts.next()?)?;
        for part in parts {
            found = found.as_object()?.get(part)?;
        }
        Some(found)
    }

    /// The texts of a claim: one, or those of a list.
    fn values(&self, name: &str) -> Vec<String> {
        match self.find(name) {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => {
                let texts = several.iter().filter_map(Value::as_str);
                texts.take(MOST_VALUES).map(str::to_owned).collect()
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                Vec::new()
            }
        }
    }
}

/// The name without a language, or in any.
fn shown_name(name: Option<&LocalizedClaim<openidconnect::EndUserName>>) -> Option<String> {
    let name = name?;
    let name = name
        .get(None)
        .or_else(|| name.iter().next().map(|(_, name)| name))?;
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::role_rules::RoleRules;

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
            claims.others = OtherClaims(value.as_object().unwrap().clone());
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
        assert_eq!(
            with(
                "https://a.b/roles",
                json!({"https://a.b/roles": ["admins"]})
            ),
            owner
        );
        for none in [
            json!({}),
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
}
