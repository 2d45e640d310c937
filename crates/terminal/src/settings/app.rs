//! The settings of the app, and of sign-on by a provider of `OpenID Connect`. And the API's address
//! as callers type it.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, bail};
use chrono::TimeDelta;
use clap::Args;
use http::Uri;
use refract_file_runs::{RUN_CONCURRENCY, WorkerSettings};
use refract_identity::people::{
    AdmissionRules, AppUrl, DEFAULT_ACCOUNT, ProviderSecret, RoleRules, SignInWays, SignOnSettings,
};
use refract_service::model::tls_client_config;

use crate::arguments::{self, OnOrOff, cannot_be_used, setting_name};

/// The default address of the app's listener.
pub const DEFAULT_APP_LISTEN: &str = "127.0.0.1:8081";
/// The variable of the issuer, without which there is no sign-on.
const ISSUER: &str = "REFRACT_OIDC_ISSUER";

/// The settings of the app.
#[derive(Args, Clone)]
#[command(next_help_heading = "App")]
pub struct AppArgs {
    /// Address of the app; `off` disables it [default: 127.0.0.1:8081]
    #[arg(long, env = "REFRACT_APP_LISTEN", value_name = "ADDRESS")]
    pub app_listen: Option<String>,

    /// The app's address as people type it [default: http:// and the listener]
    #[arg(long, env = "REFRACT_APP_URL", value_name = "URL")]
    app_url: Option<String>,

    /// Networks of proxies, separated by commas, whose `X-Forwarded-For` names the client, for the
    /// API and the app
    #[arg(
        long,
        env = "REFRACT_APP_TRUSTED_PROXIES",
        default_value = "",
        hide_default_value = true,
        value_name = "NETWORKS"
    )]
    pub app_trusted_proxies: String,

    /// The largest file that the app takes for a run, in MiB
    #[arg(
        long,
        env = "REFRACT_APP_UPLOAD_MIB",
        default_value = "100",
        value_parser = arguments::from_1::<NonZeroU32>,
        value_name = "MIB"
    )]
    app_upload_mib: NonZeroU32,

    /// Days after which an uploaded file is deleted; results of its runs are kept
    #[arg(
        long,
        env = "REFRACT_APP_KEEP_UPLOADS_DAYS",
        default_value = "30",
        value_parser = arguments::days::<NonZeroU32>,
        value_name = "DAYS"
    )]
    app_keep_uploads_days: NonZeroU32,
}

impl AppArgs {
    /// Whether the app is served.
    pub fn is_on(&self) -> bool {
        self.app_listen.as_deref() != Some("off")
    }

    /// Most bytes of a file that the app takes for a run.
    pub fn upload_bytes(&self) -> u64 {
        u64::from(self.app_upload_mib.get()) * 1024 * 1024
    }

    /// The limits of a node's work on file runs, given the most model requests in flight.
    pub fn file_runs(&self, model_requests: usize) -> WorkerSettings {
        let of_model = NonZeroUsize::new(model_requests).unwrap_or(NonZeroUsize::MIN);
        WorkerSettings {
            concurrency: RUN_CONCURRENCY.min(of_model),
            keep_uploads: self.upload_age(),
        }
    }

    /// The age at which an uploaded file is deleted.
    pub fn upload_age(&self) -> TimeDelta {
        TimeDelta::days(self.app_keep_uploads_days.get().into())
    }

    /// The app's address in a browser, for links by commands that have no listener.
    ///
    /// # Errors
    /// An invalid value of `REFRACT_APP_URL`.
    pub fn url(&self) -> anyhow::Result<AppUrl> {
        let set = self.app_listen.as_deref();
        let listen = set.filter(|set| !matches!(*set, "" | "off"));
        self.url_of(listen.unwrap_or(DEFAULT_APP_LISTEN))
    }

    /// The app's address in a browser: as set, or by default that of the listener.
    ///
    /// # Errors
    /// An invalid value of `REFRACT_APP_URL`.
    pub fn url_of(&self, listen: &str) -> anyhow::Result<AppUrl> {
        let set = self.app_url.as_deref().filter(|url| !url.is_empty());
        let url = set.map_or_else(|| format!("http://{listen}"), str::to_owned);
        AppUrl::parse(&url).with_context(|| cannot_be_used("REFRACT_APP_URL"))
    }
}

/// The settings of sign-on.
#[derive(Args, Clone)]
#[command(next_help_heading = "Sign-on")]
pub struct SignOnArgs {
    /// Issuer of the company's OIDC provider, exactly as its discovery document names it
    #[arg(long, env = "REFRACT_OIDC_ISSUER", value_name = "URL")]
    oidc_issuer: Option<String>,

    /// This installation's client id at the provider
    #[arg(long, env = "REFRACT_OIDC_CLIENT_ID", value_name = "ID")]
    oidc_client_id: Option<String>,

    /// This installation's client secret at the provider; never logged. Without one it is a public
    /// client, protected by PKCE
    #[arg(
        long,
        env = "REFRACT_OIDC_CLIENT_SECRET",
        value_name = "SECRET",
        hide_env_values = true
    )]
    oidc_client_secret: Option<String>,

    /// A file that holds the secret, instead of --oidc-client-secret; it is read again when the
    /// provider refuses the secret
    #[arg(long, env = "REFRACT_OIDC_CLIENT_SECRET_FILE", value_name = "FILE")]
    oidc_client_secret_file: Option<PathBuf>,

    /// The provider's name on the sign-in button [default: the issuer's host]
    #[arg(long, env = "REFRACT_OIDC_NAME", value_name = "NAME")]
    oidc_name: Option<String>,

    /// Domains of the addresses that may sign in and join, separated by commas; `*` stands for all.
    /// Without domains and roles, only invited people join
    #[arg(
        long,
        env = "REFRACT_OIDC_ALLOWED_DOMAINS",
        default_value = "",
        hide_default_value = true,
        value_name = "DOMAINS"
    )]
    oidc_allowed_domains: String,

    /// The claim that gives roles, such as `groups` or `realm_access.roles`
    #[arg(long, env = "REFRACT_OIDC_ROLE_CLAIM", value_name = "CLAIM")]
    oidc_role_claim: Option<String>,

    /// Roles by values of the claim, such as `refract-admins=owner,staff=reviewer`; `*` stands for
    /// everybody. People without a matching value cannot sign in
    #[arg(
        long,
        env = "REFRACT_OIDC_ROLES",
        default_value = "",
        hide_default_value = true,
        value_name = "RULES"
    )]
    oidc_roles: String,

    /// Scopes to ask for, separated by blanks [default: openid email profile, and `offline_access`
    /// where the provider has it]
    #[arg(long, env = "REFRACT_OIDC_SCOPES", value_name = "SCOPES")]
    oidc_scopes: Option<String>,

    /// The account whose people sign on: new ones join it, as reviewers unless rules say otherwise
    #[arg(
        long,
        env = "REFRACT_OIDC_ACCOUNT",
        default_value = DEFAULT_ACCOUNT,
        value_name = "NAME"
    )]
    oidc_account: String,

    /// Whether the provider asks everybody for a second factor. With `off`, an account that requires
    /// one-time codes asks for one after a sign-on whose token names no second factor (`amr`, `acr`)
    #[arg(
        long,
        env = "REFRACT_OIDC_SECOND_FACTOR",
        default_value = "off",
        value_name = "ON_OR_OFF"
    )]
    oidc_second_factor: OnOrOff,

    /// Whether passwords sign in; `off` needs a provider
    #[arg(
        long,
        env = "REFRACT_APP_PASSWORDS",
        default_value = "on",
        value_name = "ON_OR_OFF"
    )]
    app_passwords: OnOrOff,
}

impl SignOnArgs {
    /// The ways to sign in to the app at this address.
    ///
    /// # Errors
    /// A setting that cannot be used, or passwords that are switched off without a provider.
    pub fn ways(&self, app: &AppUrl) -> anyhow::Result<SignInWays> {
        let ways = SignInWays::new(self.settings(app)?, self.has_passwords(), || {
            tls_client_config().ok()
        });
        ways.with_context(|| format!("{} cannot be used for sign-on", setting_name(ISSUER)))
    }

    /// Whether a provider is set.
    pub(crate) fn has_provider(&self) -> bool {
        given(self.oidc_issuer.as_ref()).is_some()
    }

    fn has_passwords(&self) -> bool {
        self.app_passwords == OnOrOff::On
    }

    /// The settings of sign-on; `None` without an issuer.
    fn settings(&self, app: &AppUrl) -> anyhow::Result<Option<SignOnSettings>> {
        arguments::refuse_both("REFRACT_OIDC_CLIENT_SECRET")?;
        let Some(issuer) = given(self.oidc_issuer.as_ref()) else {
            if !self.has_passwords() {
                bail!(
                    "{}: nobody could sign in without passwords and without a provider: set {ISSUER} too",
                    cannot_be_used("REFRACT_APP_PASSWORDS")
                );
            }
            return Ok(None);
        };
        let client_id = given(self.oidc_client_id.as_ref());
        let Some(client_id) = client_id else {
            bail!(
                "{} needs {}: the id under which the provider knows this installation",
                setting_name(ISSUER),
                setting_name("REFRACT_OIDC_CLIENT_ID")
            );
        };
        let roles = RoleRules::parse(&self.oidc_roles);
        let scopes = given(self.oidc_scopes.as_ref());
        let domains = self.oidc_allowed_domains.split(',').map(str::trim);
        let domains = domains.filter(|domain| !domain.is_empty());
        Ok(Some(SignOnSettings {
            issuer,
            client_id,
            client_secret: self.secret(),
            name: given(self.oidc_name.as_ref()),
            redirect_url: format!("{app}/sign-on/callback"),
            signed_out_url: format!("{app}/sign-in"),
            scopes: scopes.map(|text| text.split_whitespace().map(str::to_owned).collect()),
            rules: AdmissionRules {
                allowed_domains: domains.map(str::to_lowercase).collect(),
                role_claim: given(self.oidc_role_claim.as_ref()),
                roles: roles.with_context(|| cannot_be_used("REFRACT_OIDC_ROLES"))?,
            },
            account: self.oidc_account.clone(),
            asks_for_second_factor: self.oidc_second_factor == OnOrOff::On,
        }))
    }

    fn secret(&self) -> Option<ProviderSecret> {
        let file = self.oidc_client_secret_file.as_ref();
        let file = file.filter(|path| !path.as_os_str().is_empty());
        match file {
            Some(file) => Some(ProviderSecret::InFile(file.clone())),
            None => given(self.oidc_client_secret.as_ref()).map(ProviderSecret::Text),
        }
    }
}

/// The value of a setting that is not empty.
fn given(value: Option<&String>) -> Option<String> {
    value.filter(|value| !value.is_empty()).cloned()
}

/// The path under which the API is served.
const PATH: &str = "/v1";

/// The address, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiUrl(String);

/// Why a text is not the address of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be http:// or https://, a host and the API's path, such as https://refract.example.com/v1"
)]
pub struct NotAnApiUrl;

/// The setting of the address.
#[derive(Args, Clone)]
pub struct ApiUrlArgs {
    /// The API's address as callers type it, up to and with `/v1` [default: http:// and the listener]
    #[arg(long, env = "REFRACT_API_URL", value_name = "URL")]
    api_url: Option<String>,
}

impl ApiUrlArgs {
    /// The address as set, or that of a listener.
    pub(crate) fn url_of(&self, listen: &str) -> anyhow::Result<ApiUrl> {
        let set = self.api_url.as_deref().filter(|url| !url.is_empty());
        let url = set.map_or_else(|| format!("http://{listen}"), str::to_owned);
        let url = url.parse();
        url.with_context(|| cannot_be_used("REFRACT_API_URL"))
    }
}

impl FromStr for ApiUrl {
    type Err = NotAnApiUrl;

    /// Parses an address. A bare host gets the API's path.
    fn from_str(text: &str) -> Result<Self, NotAnApiUrl> {
        let uri: Uri = text.parse().map_err(|_| NotAnApiUrl)?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let has_host = uri.host().is_some_and(|host| !host.is_empty());
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        let is_plain = uri.query().is_none() && !text.contains('#');
        if !is_web || !has_host || has_user || !is_plain {
            return Err(NotAnApiUrl);
        }
        let text = text.trim_end_matches('/');
        let is_bare = uri.path().trim_end_matches('/').is_empty();
        Ok(Self(format!("{text}{}", if is_bare { PATH } else { "" })))
    }
}

impl fmt::Display for ApiUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_path() {
        for (text, url) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://api.example.com/v1/", "https://api.example.com/v1"),
            ("http://10.0.0.1:8080", "http://10.0.0.1:8080/v1"),
            ("http://h/refract/v1", "http://h/refract/v1"),
        ] {
            assert_eq!(text.parse::<ApiUrl>().unwrap().to_string(), url);
        }
        for text in [
            "",
            "api.example.com/v1",
            "ftp://h/v1",
            "https://",
            "https://user:secret@h/v1",
            "https://h/v1?key=x",
            "https://h/v1#x",
            "https://h/a b",
        ] {
            assert_eq!(text.parse::<ApiUrl>(), Err(NotAnApiUrl), "{text}");
        }
    }
}
