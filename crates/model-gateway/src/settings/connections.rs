//! The operator's settings for connections to model servers: certificates and proxies.

use std::fmt;
use std::sync::Arc;

use refract_tls_files::{ClientCertificate, TrustedCertificates};

/// How connections to model servers are opened. By default directly, and only the system's
/// certificates are trusted.
#[derive(Clone, Debug, Default)]
pub struct ConnectionSettings {
    /// The proxies that may be used.
    pub proxies: ProxyVariables,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: TrustedCertificates,
    /// The certificate that is shown to a server that asks for one.
    pub client_certificate: Option<Arc<ClientCertificate>>,
}

/// The variables of the environment that name HTTP proxies, as other programs read them: the names
/// in lower case come first, and an empty value counts as none. They may hold a password, which
/// `Debug` does not show.
#[derive(Clone, Default)]
pub struct ProxyVariables {
    pub(crate) http: Option<ProxyVariable>,
    pub(crate) https: Option<ProxyVariable>,
    /// Hosts that are asked without a proxy, separated by commas.
    pub(crate) exempt: String,
}

/// A variable with the address of a proxy.
#[derive(Clone)]
pub(crate) struct ProxyVariable {
    pub(crate) name: &'static str,
    pub(crate) value: String,
}

impl ProxyVariables {
    /// Reads the variables of this process.
    pub fn of_environment() -> Self {
        Self::read(|name| {
            let value = std::env::var_os(name)?;
            // what is no UTF-8 is no address either, and is refused as such
            Some(value.to_string_lossy().into_owned())
        })
    }

    /// Reads the variables by a function that returns a variable's value.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Self {
        let first = |names: &[&'static str]| {
            names.iter().find_map(|name| {
                let value = value(name).filter(|value| !value.trim().is_empty())?;
                Some(ProxyVariable { name, value })
            })
        };
        // a web server that runs this program as a CGI script sets HTTP_PROXY to the caller's header
        // `Proxy`
        let is_cgi = value("REQUEST_METHOD").is_some();
        let http = if is_cgi {
            &["http_proxy", "all_proxy", "ALL_PROXY"][..]
        } else {
            &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"][..]
        };
        let exempt = first(&["no_proxy", "NO_PROXY"]);
        Self {
            http: first(http),
            https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            exempt: exempt.map(|variable| variable.value).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for ProxyVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyVariables(..)")
    }
}
