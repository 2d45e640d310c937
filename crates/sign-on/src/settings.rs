//! Settings of sign-on.

use std::fmt;
use std::path::PathBuf;

use refract_domain::account::{Email, Role};

use crate::role_rules::RoleRules;

/// Every domain, among the allowed ones.
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
}
