//! Claims: what a provider says about a person, who that is here and in which role, and whether the
//! provider asked for a second factor, by the claims `amr` (RFC 8176) and `acr` of its token.

use refract_domain::account::{Email, PersonName, Role};
use serde_json::Value;

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

/// Methods of something that the person knows.
const KNOWN: [&str; 3] = ["pwd", "pin", "kba"];
/// Methods of something that the person has.
const HELD: [&str; 8] = ["otp", "hwk", "swk", "pop", "sc", "sms", "tel", "fido"];
/// Methods of something that the person is.
const INHERENT: [&str; 5] = ["face", "fpt", "iris", "retina", "vbm"];
/// The method that says that there were several factors.
const SEVERAL: &str = "mfa";
/// Contexts that mean several factors, wherever they are used: those of `OpenID` (phishing-resistant,
/// also with a key in hardware), of PAPE, of REFEDS and of Okta. Other contexts, such as numbers, mean
/// something else at each provider.
const CONTEXTS: [&str; 6] = [
    "phr",
    "phrh",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor",
    "http://schemas.openid.net/pape/policies/2007/06/multi-factor-physical",
    "https://refeds.org/profile/mfa",
    "urn:okta:loa:2fa:any",
];

/// Whether these methods and this context mean that the person gave two factors of different kinds.
fn had_second_factor<'a>(methods: impl Iterator<Item = &'a str>, context: Option<&str>) -> bool {
    let (mut known, mut held, mut inherent) = (false, false, false);
    for method in methods {
        if method == SEVERAL {
            return true;
        }
        known |= KNOWN.contains(&method);
        held |= HELD.contains(&method);
        inherent |= INHERENT.contains(&method);
    }
    let kinds = u8::from(known) + u8::from(held) + u8::from(inherent);
    kinds > 1 || context.is_some_and(|context| CONTEXTS.contains(&context))
}

#[cfg(test)]
mod tests;
