//! Which questions a file of marks may have columns for.

use refract_domain::ids::PrismId;
use refract_domain::key::QuestionKey;
use refract_persistence::Database;

use crate::evaluation;
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
    let questions = evaluation::questions(&history.versions).into_iter();
    Ok(questions.map(|question| question.key.clone()).collect())
}
