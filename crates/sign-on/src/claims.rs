//! Claims: what a provider says about a person, and who that is here.

mod second_factor;

use refract_domain::account::person::{Email, PersonName};
use refract_domain::account::role::Role;
use serde_json::Value;

use self::second_factor::had_second_factor;

use crate::document::Document;
use crate::error::{DocumentFault, NotLetIn};
use crate::settings::AdmissionRules;

/// The most values of the role claim that are read.
const MOST_VALUES: usize = 1_000;
/// The longest subject, in bytes; the standard allows 255 characters.
const LONGEST_SUBJECT: usize = 1_000;

/// A person whom the provider knows and the rules of this installation let in.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderIdentity {
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
    /// The role claim, by name, where the provider left it out, so that only the rule for `*` gave a
    /// role. Some providers do so where there are no groups, others where there are too many.
    pub missing_role_claim: Option<String>,
    /// Whether the person may join whom nobody invited.
    pub may_join: bool,
    /// Whether the signed ID token says that the provider asked for a second factor.
    pub had_second_factor: bool,
}

/// What a provider said about a person, from the ID token and from the userinfo endpoint.
#[derive(Default)]
pub(crate) struct Claims {
    pub(crate) subject: String,
    email: Option<String>,
    email_verified: Option<bool>,
    name: Option<String>,
    had_second_factor: bool,
    /// All claims, for the one with the role.
    pub(crate) all: Document,
}

impl Claims {
    /// The claims of an ID token or of the userinfo endpoint.
    pub(crate) fn of(all: Document) -> Result<Self, DocumentFault> {
        let subject = all.id("sub")?.ok_or(DocumentFault::Missing("sub"))?;
        // what no database stores or no provider makes would be somebody else's id by accident
        if subject.len() > LONGEST_SUBJECT || subject.chars().any(char::is_control) {
            return Err(DocumentFault::Member("sub"));
        }
        Ok(Self {
            subject,
            email: all.text("email")?.map(str::to_owned),
            email_verified: all.flag("email_verified")?,
            name: shown_name(&all),
            had_second_factor: had_second_factor(
                all.words("amr").into_iter(),
                all.words("acr").first().copied(),
            ),
            all,
        })
    }

    /// Claims about a person of whom nothing else is known.
    pub(crate) fn about(subject: &str) -> Self {
        Self {
            subject: subject.to_owned(),
            ..Self::default()
        }
    }

    /// Adds what the userinfo endpoint says. What the signed ID token says stays.
    pub(crate) fn add(&mut self, info: Self) {
        if self.email.is_none() {
            self.email = info.email;
            self.email_verified = info.email_verified;
        } else if self.email_verified.is_none() && self.email == info.email {
            self.email_verified = info.email_verified;
        }
        self.name = self.name.take().or(info.name);
        for (name, value) in info.all.0 {
            self.all.0.entry(name).or_insert(value);
        }
    }

    /// Whether the userinfo endpoint may say more that is of use.
    pub(crate) fn lack_anything(&self, rules: &AdmissionRules) -> bool {
        self.email_verified.is_none() || self.name.is_none() || self.lack_what_decides(rules)
    }

    /// Whether an address or a role is missing.
    pub(crate) fn lack_what_decides(&self, rules: &AdmissionRules) -> bool {
        let lacks_role = rules
            .role_claim
            .as_deref()
            .is_some_and(|claim| self.all.find(claim).is_none());
        self.email.is_none() || lacks_role
    }

    /// Names the role claim that is missing, and the provider's reason where it gives one.
    fn warn_of_missing(&self, claim: &str) {
        let sources = self.all.get("_claim_names").and_then(Value::as_object);
        let is_too_long = sources.is_some_and(|names| names.contains_key(claim));
        tracing::warn!(
            claim,
            is_too_long,
            "the sign-in provider sent no claim of this name, so it gives no role"
        );
    }

    /// Who that is here, if the rules let them in.
    pub(crate) fn identity(
        self,
        issuer: &str,
        rules: &AdmissionRules,
    ) -> Result<ProviderIdentity, NotLetIn> {
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
        let mut missing_role_claim = None;
        let role = match &rules.role_claim {
            None => None,
            Some(claim) => {
                let found = self.all.find(claim);
                missing_role_claim = found.is_none().then(|| claim.clone());
                let values = found.map(role_values).unwrap_or_default();
                let role = rules.roles.role_of(&values);
                if role.is_none() && missing_role_claim.is_some() {
                    self.warn_of_missing(claim);
                    return Err(NotLetIn::NoRoleClaim);
                }
                Some(role.ok_or(NotLetIn::NoRole)?)
            }
        };
        Ok(ProviderIdentity {
            issuer: issuer.to_owned(),
            subject: self.subject,
            name: self.name.and_then(|name| PersonName::parse(&name).ok()),
            email,
            role,
            missing_role_claim,
            may_join: rules.lets_uninvited_join(),
            had_second_factor: self.had_second_factor,
        })
    }
}

/// The values of a role claim: a text, those of a list, those of a list that is written as a text
/// (`["a","b"]`, or `[a, b]` as Cognito passes lists on), or the keys of an object of objects
/// (Zitadel). A text is never cut at a comma: the names of directories have some.
fn role_values(claim: &Value) -> Vec<String> {
    let of_list = |list: &[Value]| {
        let texts = list.iter().filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        texts.take(MOST_VALUES).collect()
    };
    match claim {
        Value::String(text) => {
            let within = text.trim().strip_prefix('[');
            let Some(within) = within.and_then(|rest| rest.strip_suffix(']')) else {
                return vec![text.clone()];
            };
            if let Ok(list) = serde_json::from_str::<Vec<Value>>(text) {
                return of_list(&list);
            }
            let values = within.split(',').map(str::trim);
            values.take(MOST_VALUES).map(str::to_owned).collect()
        }
        Value::Array(list) => of_list(list),
        Value::Object(members) => {
            let roles = members.iter().filter(|(_, value)| value.is_object());
            roles
                .take(MOST_VALUES)
                .map(|(key, _)| key.clone())
                .collect()
        }
        Value::Number(number) => vec![number.to_string()],
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

/// The name without a language, or in any. A person signs in without a name that is no text.
fn shown_name(all: &Document) -> Option<String> {
    if let Ok(Some(name)) = all.text("name") {
        return Some(name.to_owned());
    }
    let mut members = all.0.iter();
    let (_, name) = members.find(|(name, _)| name.starts_with("name#"))?;
    name.as_str().map(str::to_owned)
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
}
