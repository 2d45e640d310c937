//! Finds the key that an argument names.

use refract_domain::ids::{AccountId, ApiKeyId};
use refract_service::Refract;
use refract_service::keys::FindKeyError;

/// Finds a key by its id, or by its name if one accepted key has it.
pub(in crate::commands) async fn find_key(
    refract: &Refract,
    account: AccountId,
    called: &str,
) -> anyhow::Result<ApiKeyId> {
    let found = refract.keys().find(account, called).await;
    found.map_err(|error| match error {
        FindKeyError::NotFound | FindKeyError::Ambiguous(_) => {
            anyhow::anyhow!("'{called}': {error}: see `refract key list`")
        }
        FindKeyError::Internal(error) => error.into(),
    })
}
