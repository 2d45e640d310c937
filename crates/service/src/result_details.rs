//! One result with everything that is known of it beside its answers.

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::maker::Maker;
use refract_domain::mark::Mark;
use refract_persistence::{Database, Provenance};

use crate::made_by::made_by;
use crate::readable_result::ReadableResult;
use crate::refusal::Refusal;

/// A result with where its answers came from, who made it, its retries and its marks.
pub struct ResultDetails {
    /// The result.
    pub result: ReadableResult,
    /// Where the answers came from.
    pub provenance: Provenance,
    /// Who made the result.
    pub maker: Maker,
    /// The failed result that this one retried.
    pub retry_of: Option<ResultId>,
    /// The result that retried this one.
    pub retried_as: Option<ResultId>,
    /// What people say the right outcomes are, in the order of the question keys.
    pub marks: Vec<Mark>,
}

impl ResultDetails {
    /// Finds a result of an account with its details.
    ///
    /// # Errors
    /// When the account has no such result, or the database fails.
    pub async fn find(
        database: &Database,
        account: AccountId,
        id: ResultId,
    ) -> Result<Self, Refusal> {
        let result = ReadableResult::find(database, account, id).await?;
        let provenance = database.find_provenance(account, id).await?;
        let maker = made_by(database, account, id).await?;
        Ok(Self {
            result,
            provenance: provenance.unwrap_or_default(),
            maker: maker.unwrap_or(Maker::Terminal),
            retry_of: database.find_retry_of(account, id).await?,
            retried_as: database.find_retry(id).await?,
            marks: database.list_marks(id).await?,
        })
    }
}
