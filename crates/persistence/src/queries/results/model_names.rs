//! Which models answered some results.

use std::collections::BTreeSet;

use diesel::prelude::*;
use refract_domain::ids::{AccountId, ResultId};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::results;
use crate::schema::sql_types::Bind;

/// Number of ids in one query.
const IDS: usize = 1_000;

impl Database {
    /// The names of the models that answered these results of the account, as reported by their
    /// servers, with `None` if a server reported none.
    pub async fn list_model_names(
        &self,
        account: AccountId,
        ids: &[ResultId],
    ) -> Result<BTreeSet<Option<String>>, PersistenceError> {
        let mut names = BTreeSet::new();
        for ids in ids.chunks(IDS) {
            let ids: Vec<_> = ids.iter().copied().map(Bind).collect();
            let found: Vec<Option<String>> = self
                .read(async move |mut connection| {
                    let query = results::table
                        .filter(results::account_id.eq(Bind(account)))
                        .filter(results::id.eq_any(ids))
                        .select(results::model_name)
                        .distinct();
                    Ok(on!(connection, load(query))?)
                })
                .await?;
            names.extend(found);
        }
        Ok(names)
    }
}
