//! Which questions a file of marks may have columns for.

use refract_domain::ids::PrismId;
use refract_domain::key::QuestionKey;

use crate::InternalError;
use crate::marks::Marks;
use crate::measures::evaluation;

impl Marks<'_> {
    /// The questions of all versions of a prism: those of the latest version in its order, then
    /// those that only older versions have, newest version first.
    ///
    /// # Errors
    /// When the database fails, or the prism does not exist.
    pub async fn questions(self, prism: PrismId) -> Result<Vec<QuestionKey>, InternalError> {
        let history = self.refract.database.prism_history(prism).await?;
        let history = history.ok_or(InternalError::VersionMissing)?;
        let questions = evaluation::questions(&history.versions).into_iter();
        Ok(questions.map(|question| question.key.clone()).collect())
    }
}
