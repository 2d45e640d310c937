//! What keeps people from signing in to the app of a node that has just started.

use refract_service::Refract;

/// Logs that nobody was invited yet, or that the provider's discovery document is not there. The node
/// runs nevertheless.
pub async fn report_first_steps(refract: &Refract) {
    let people = refract.people();
    if let Some(name) = people.provider_name() {
        let trial = people.try_discovery().await;
        let away = trial.filter(|trial| trial.status != Ok(200));
        let failure = match away {
            Some(trial) => Some(trial.to_string()),
            // what the document says
            None => people
                .begin_sign_on()
                .await
                .err()
                .map(|error| error.to_string()),
        };
        if let Some(failure) = failure {
            tracing::warn!(
                "nobody can sign on by {name} now: {failure}; `refract doctor` tries again"
            );
        }
    } else if people.is_nobody_invited().await.unwrap_or(false) {
        tracing::info!(
            "nobody can sign in to the app yet: `refract person invite EMAIL` prints a link"
        );
    }
}
