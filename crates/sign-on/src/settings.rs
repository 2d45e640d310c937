//! Settings of sign-on, and the rules that give people their roles by a claim of the provider.

use std::fmt;
use std::path::PathBuf;

use refract_domain::account::{Email, Role};

/// Every domain, among the allowed ones, and any value, in a rule.
const ANY: &str = "*";

/// How people sign on by a provider.
#[derive(Clone)]
pub struct SignOnSettings {
    /// The address of the issuer, below which discovery finds the rest.
    pub issuer: String,
    /// This installation's id at the provider.
    pub client_id: String,
    /// This installation's secret at the provider; `None` for a public client, which PKCE protects.
    pub client_secret: Option<ProviderSecret>,
    /// The provider's name on the button; the issuer's host where none is set.
    pub name: Option<String>,
    /// The address to which the provider sends the browser back with a code.
    pub redirect_url: String,
    /// The address to which the provider sends the browser after it has signed the person out.
    pub signed_out_url: String,
    /// Scopes to ask for; with `None` those for address and name, and `offline_access` where the
    /// provider has it.
    pub scopes: Option<Vec<String>>,
    /// Whom this installation lets in, and with which role.
    pub rules: AdmissionRules,
    /// The name of the account whose people sign on.
    pub account: String,
    /// Whether the provider asks everybody for a second factor, whatever its tokens say.
    pub asks_for_second_factor: bool,
}

/// Whom an installation lets in, and with which role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionRules {
    /// Domains of addresses, in lower case, or `*` for every domain. With none every domain is
    /// allowed, and people who were not invited need a role by the rules.
    pub allowed_domains: Vec<String>,
    /// The claim that names roles or groups; with `None` owners give the roles in the app.
    pub role_claim: Option<String>,
    /// Which values of the claim give which role.
    pub roles: RoleRules,
}

impl AdmissionRules {
    /// Whether addresses of this one's domain may sign in.
    pub(crate) fn has_domain_of(&self, email: &Email) -> bool {
        self.allowed_domains.is_empty() || self.allows(ANY) || self.names_domain_of(email)
    }

    /// Whether this address's domain is named.
    pub(crate) fn names_domain_of(&self, email: &Email) -> bool {
        self.allows(email.as_str().rsplit('@').next().unwrap_or_default())
    }

    /// Whether people may join whom nobody invited: a domain, `*` or a role says that they belong
    /// here.
    pub(crate) fn lets_uninvited_join(&self) -> bool {
        !self.allowed_domains.is_empty() || self.role_claim.is_some()
    }

    fn allows(&self, domain: &str) -> bool {
        self.allowed_domains.iter().any(|own| own == domain)
    }
}

/// The rule in one line: who joins by signing on.
impl fmt::Display for AdmissionRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.lets_uninvited_join() {
            return f.write_str(
                "only invited people join (REFRACT_OIDC_ALLOWED_DOMAINS or REFRACT_OIDC_ROLES let others join)",
            );
        }
        if self.allowed_domains.is_empty() || self.allows(ANY) {
            f.write_str("everybody whom the provider knows joins")?;
        } else {
            let domains = self.allowed_domains.join(", ");
            write!(f, "people with addresses of {domains} join")?;
        }
        match &self.role_claim {
            Some(claim) => write!(f, " who get a role by the claim {claim}"),
            None => f.write_str(" as reviewers"),
        }
    }
}

/// The client's secret. It has no `Debug`, so that no log shows one by accident.
#[derive(Clone)]
pub enum ProviderSecret {
    /// The secret itself.
    Text(String),
    /// A file that holds it, without the line break at its end. It is read again when the provider
    /// refuses the secret.
    InFile(PathBuf),
}

/// The file of the client's secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        cause: std::io::Error,
    },
    /// The file holds nothing.
    #[error("{} holds no secret", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl ProviderSecret {
    /// The secret, read from its file if there is one.
    pub(crate) fn read(&self) -> Result<String, SecretFileError> {
        match self {
            Self::Text(secret) => Ok(secret.clone()),
            Self::InFile(path) => {
                let path = path.clone();
                let read = std::fs::read_to_string(&path);
                let read = read.map_err(|cause| SecretFileError::Unreadable {
                    path: path.clone(),
                    cause,
                })?;
                let secret = read.trim_end_matches(['\r', '\n']);
                if secret.is_empty() {
                    return Err(SecretFileError::Empty { path });
                }
                Ok(secret.to_owned())
            }
        }
    }
}

/// Why sign-on cannot be set up. The messages repeat no secret.
#[derive(Debug, thiserror::Error)]
pub enum SignOnSettingError {
    /// The issuer is no address.
    #[error("the issuer must be an address such as https://id.example.com")]
    Issuer,
    /// The issuer is not `https`, and not on this machine.
    #[error(
        "the issuer must be https://: tokens on their way would be readable (http:// is for loopback only)"
    )]
    PlainIssuer,
    /// There is a role claim without rules, or there are rules without a role claim.
    #[error("a role claim needs rules such as refract-admins=owner, and rules need a claim")]
    HalfOfRoles,
    /// The client's secret cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    /// The HTTP client cannot be made.
    #[error("the HTTP client for the provider cannot be made")]
    Client,
    /// The program was built without the feature `provider`.
    #[error(
        "this refract was built to try it and signs on by no provider: use the one of `make build`"
    )]
    NotBuilt,
}

/// The kinds of parts that LDAP names of groups have.
const NAME_PARTS: [&str; 4] = ["CN", "OU", "DC", "UID"];

/// Which values of the role claim give which role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRules {
    rules: Vec<(String, Role)>,
}

/// Why a text is no list of role rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no rule such as refract-admins=owner: a value, `=` and reviewer, editor or owner"
)]
pub struct RoleRulesError(String);

impl RoleRules {
    /// Parses rules separated by commas, such as `refract-admins=owner,staff=reviewer`. The value
    /// `*` stands for everybody. A value may be an LDAP name, which has equals signs and commas:
    /// `CN=admins,DC=example=owner`.
    ///
    /// # Errors
    /// A part that is no rule.
    pub fn parse(text: &str) -> Result<Self, RoleRulesError> {
        let mut rules = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            // the parts of a name before its last one end no rule
            let mut ends = rest
                .match_indices(',')
                .map(|(end, _)| end)
                .chain([rest.len()]);
            let mut begin = 0;
            let end = ends.find(|end| {
                let part = rest.get(begin..*end).unwrap_or_default();
                begin = end + 1;
                !is_part_of_name(part)
            });
            let end = end.unwrap_or(rest.len());
            let rule = rest.get(..end).unwrap_or_default().trim();
            if !rule.is_empty() {
                rules.push(read(rule).ok_or_else(|| RoleRulesError(rule.to_owned()))?);
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(Self { rules })
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The highest role that these values of the claim give; `None` if they give none.
    pub fn role_of(&self, values: &[String]) -> Option<Role> {
        let fitting = self
            .rules
            .iter()
            .filter(|(value, _)| value == ANY || values.contains(value));
        fitting.map(|(_, role)| *role).max()
    }
}

/// The value and the role of a text.
fn read(text: &str) -> Option<(String, Role)> {
    let (value, role) = text.rsplit_once('=')?;
    let value = value.trim();
    let role = Role::named(role.trim())?;
    (!value.is_empty()).then(|| (value.to_owned(), role))
}

/// Whether a text is one part of an LDAP name, and no role follows.
fn is_part_of_name(part: &str) -> bool {
    let Some((kind, value)) = part.trim().split_once('=') else {
        return false;
    };
    let is_kind = NAME_PARTS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(kind));
    is_kind && !value.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_joins_is_stated_in_one_line() {
        let rule = |domains: &[&str], claim: Option<&str>| {
            let rules = AdmissionRules {
                allowed_domains: domains.iter().map(ToString::to_string).collect(),
                role_claim: claim.map(str::to_owned),
                ..AdmissionRules::default()
            };
            (rules.lets_uninvited_join(), rules.to_string())
        };
        for (domains, claim, joins, line) in [
            (&[][..], None, false, "only invited people join"),
            (
                &["a.b", "c.d"],
                None,
                true,
                "people with addresses of a.b, c.d join as reviewers",
            ),
            (
                &["*"],
                None,
                true,
                "everybody whom the provider knows joins as reviewers",
            ),
            (
                &[],
                Some("groups"),
                true,
                "everybody whom the provider knows joins who get a role",
            ),
        ] {
            let (lets, line_shown) = rule(domains, claim);
            assert_eq!(lets, joins, "{line_shown}");
            assert!(line_shown.starts_with(line), "{line_shown}");
        }
    }

    #[test]
    fn a_secret_is_read_from_its_file_without_the_line_break() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, "s3cret \n").unwrap();
        let secret = ProviderSecret::InFile(path.clone());
        assert_eq!(secret.read().unwrap(), "s3cret ");
        std::fs::write(&path, "\n").unwrap();
        let empty = secret.read().unwrap_err().to_string();
        assert!(empty.ends_with("holds no secret"), "{empty}");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(
            secret.read(),
            Err(SecretFileError::Unreadable { .. })
        ));
    }

    fn role(rules: &str, values: &[&str]) -> Option<Role> {
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        RoleRules::parse(rules).unwrap().role_of(&values)
    }

    #[test]
    fn the_highest_role_counts() {
        let rules = "staff=reviewer, admins = owner,authors=editor";
        assert_eq!(role(rules, &["staff", "authors"]), Some(Role::Editor));
        assert_eq!(role(rules, &["admins", "staff"]), Some(Role::Owner));
        assert_eq!(role(rules, &["Staff", "others"]), None);
        assert_eq!(role(rules, &[]), None);
        assert_eq!(role("*=reviewer,admins=owner", &[]), Some(Role::Reviewer));
        assert_eq!(role("", &["staff"]), None);
    }

    #[test]
    fn a_value_may_have_equals_signs() {
        let rules = RoleRules::parse("cn=refract=owner").unwrap();
        assert_eq!(rules.role_of(&["cn=refract".to_owned()]), Some(Role::Owner));
        let rules = "a=reviewer, CN=owner,OU=x, DC=y=editor,cn=b,dc=z=owner,c=reviewer";
        for (value, expected) in [
            ("a", Role::Reviewer),
            ("CN=owner,OU=x, DC=y", Role::Editor),
            ("cn=b,dc=z", Role::Owner),
            ("c", Role::Reviewer),
        ] {
            assert_eq!(role(rules, &[value]), Some(expected), "{value}");
        }
        assert_eq!(role(rules, &["CN", "OU=x", "cn=b"]), None);
    }

    #[test]
    fn what_is_no_rule_is_named() {
        for wrong in [
            "staff",
            "staff=admin",
            "=owner",
            "a=owner,b",
            "staff=Owner",
            "staff=admin,b=owner",
            "CN=a,OU=b",
        ] {
            let error = RoleRules::parse(wrong).unwrap_err();
            assert!(error.to_string().contains("is no rule"), "{error}");
        }
        assert!(RoleRules::parse(" , ").unwrap().is_empty());
    }
}
