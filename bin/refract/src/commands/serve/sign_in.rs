//! The ways to sign in to the app, from their settings.

use anyhow::Context as _;
use refract_service::people::{AppUrl, SignInWays};
use refract_service::sign_on::SignOn;
use refract_terminal::settings::SignOnArgs;

/// The ways to sign in to the app at this address. The provider is not asked yet: a node starts
/// without it.
pub(super) fn ways(args: &SignOnArgs, app: &AppUrl) -> anyhow::Result<SignInWays> {
    let settings = args.settings(app)?;
    let provider = settings.map(|settings| {
        let tls = refract_model_gateway::tls_client_config()?;
        SignOn::new(settings, tls).context("sign-on cannot be set up")
    });
    let ways = SignInWays::new(provider.transpose()?, args.has_passwords());
    ways.context("nobody could sign in")
}
