//! What keeps people from signing in to the app of a node that has just started.

use refract_service::Refract;

/// Logs that nobody was invited yet, or that the provider's discovery document is not there. The node
/// runs nevertheless.
pub async fn report_first_steps(refract: &Refract) {
    let people = refract.people();
    if let Some(name) = people.provider_name() {
        if let Err(error) = people.begin_sign_on().await {
            let trial = people.try_discovery().await;
            let trial = trial.map(|trial| format!(" ({trial})")).unwrap_or_default();
            tracing::warn!(
                "nobody can sign on by {name} now: {error}{trial}; `refract doctor` tries again"
            );
        }
    } else if people.is_nobody_invited().await.unwrap_or(false) {
        tracing::info!(
            "nobody can sign in to the app yet: `refract person invite EMAIL` prints a link"
        );
    }
}
