//! Which questions a file of marks may have columns for.

use refract_domain::ids::PrismId;
use refract_domain::key::QuestionKey;
use refract_persistence::Database;

use crate::refusal::InternalError;

/// The questions of all versions of a prism: those of the latest version in its order, then those
/// that only older versions have, the latest of them first.
///
/// # Errors
/// When the database fails, or the prism is not there.
pub async fn questions(
    database: &Database,
    prism: PrismId,
) -> Result<Vec<QuestionKey>, InternalError> {
    let history = database.prism_history(prism).await?;
    let history = history.ok_or(InternalError::VersionMissing)?;
    let mut keys: Vec<QuestionKey> = Vec::new();
    for version in history.versions.iter().rev() {
        for question in version.questions() {
            if !keys.contains(&question.key) {
                keys.push(question.key.clone());
            }
        }
    }
    Ok(keys)
}
