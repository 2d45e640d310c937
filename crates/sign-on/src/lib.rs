//! Sign-on by a provider of `OpenID Connect`: a company's own directory says who somebody is and what
//! they may do.
//!
//! [`SignOn`] is the relying party. A sign-on is a [`Flow`]: the browser is sent to the provider's
//! [address](SignOn::authorization_address), comes back with a code, and the code is
//! [redeemed](SignOn::redeem) for an [`ProviderIdentity`] and a [`Grant`]. With the grant the provider is
//! [asked again](SignOn::refresh) later, whether the person is still let in.
//!
//! Nothing of a flow is kept in the process: state, nonce and PKCE verifier are derived from one
//! secret in a cookie, so that any node may finish what another began, and strangers who begin
//! flows cost no memory. Tokens of the provider leave the process only [sealed](Grant::seal) with a
//! key that the caller gives.

mod claims;
mod document;
mod error;
mod flow;
mod grant;
mod http_client;
mod metadata;
mod provider;
mod relying_party;
mod settings;
mod verification;

pub use claims::ProviderIdentity;
pub use error::{Distrust, DocumentFault, NotLetIn, SignOnError};
pub use flow::{Flow, ProviderAnswer};
pub use grant::Grant;
pub use metadata::DiscoveryTrial;
pub use provider::SignOn;
pub use relying_party::SignedOn;
pub use settings::{
    AdmissionRules, ProviderSecret, RoleRules, RoleRulesError, SecretFileError, SignOnSettingError,
    SignOnSettings,
};
