//! Settings of sign-on.

use std::path::PathBuf;

use refract_domain::account::person::Email;

use crate::role_rules::RoleRules;

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
    /// The name of the account that people join at their first sign-on.
    pub account: String,
}

/// Whom an installation lets in, and with which role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionRules {
    /// Domains of addresses, in lower case; with none every domain is allowed.
    pub allowed_domains: Vec<String>,
    /// The claim that names roles or groups; with `None` owners give the roles in the app.
    pub role_claim: Option<String>,
    /// Which values of the claim give which role.
    pub roles: RoleRules,
}

impl AdmissionRules {
    pub(crate) fn has_domain_of(&self, email: &Email) -> bool {
        let domain = email.as_str().rsplit('@').next().unwrap_or_default();
        self.allowed_domains.is_empty() || self.allowed_domains.iter().any(|own| own == domain)
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
