//! What keeps people from signing in to the app of a node that has just started.

use refract_service::Refract;

/// Logs that nobody was invited yet, or that the provider's discovery document is not there. The node
/// runs nevertheless.
pub async fn report_first_steps(refract: &Refract) {
    let people = refract.people();
    if let Some(name) = people.provider_name() {
        if let Err(error) = people.begin_sign_on().await {
            tracing::warn!(
                "nobody can sign on by {name} now: {error}; `refract doctor` tries again"
            );
        }
    } else if has_people(refract).await == Some(false) {
        tracing::info!(
            "nobody can sign in to the app yet: `refract person invite EMAIL` prints a link"
        );
    }
}

/// Whether any account has people; `None` if the database does not say.
async fn has_people(refract: &Refract) -> Option<bool> {
    for account in refract.accounts().list().await.ok()? {
        if !refract.people().list(account.id).await.ok()?.is_empty() {
            return Some(true);
        }
    }
    Some(false)
}
