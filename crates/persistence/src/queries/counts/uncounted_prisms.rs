//! The prisms whose results are not all counted.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Nullable, Text};
use refract_domain::event::EventAction;
use refract_domain::ids::{AccountId, PrismId, ResultId};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::{Bind, Id};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watermark {
    /// Results by day, with what they used.
    Counted,
    /// Answers by hour.
    Watched,
}

impl Watermark {
    /// The table of the watermarks.
    fn table(self) -> &'static str {
        match self {
            Self::Counted => "counted_results",
            Self::Watched => "watched_results",
        }
    }

    /// The first uncounted result of each prism of all accounts: the next one in the index by prism
    /// and id. By id alone, the planner would walk over the results of other prisms. An account that
    /// is being imported is left out, since its results come after its watermarks.
    fn first_uncounted(self) -> String {
        let table = self.table();
        format!(
            "SELECT prism, account, first FROM (
                SELECT prisms.id AS prism, prisms.account_id AS account, (
                    SELECT CASE WHEN results.prism_id = prisms.id THEN results.id END FROM results
                    WHERE (results.prism_id, results.id) > (prisms.id, COALESCE({table}.up_to, $1))
                    ORDER BY results.prism_id, results.id
                    LIMIT 1
                ) AS first
                FROM prisms
                LEFT JOIN {table} ON {table}.prism_id = prisms.id
                WHERE NOT EXISTS (
                    SELECT 1 FROM events
                    WHERE events.account_id = prisms.account_id AND events.action = $2
                ) OR EXISTS (
                    SELECT 1 FROM events
                    WHERE events.account_id = prisms.account_id AND events.action = $3
                )
            ) AS firsts
            WHERE first <= $4"
        )
    }
}

/// A prism with results that are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct UncountedPrism {
    /// The prism.
    #[diesel(sql_type = Id)]
    pub prism: PrismId,
    /// The prism's account.
    #[diesel(sql_type = Id)]
    pub account: AccountId,
    /// The first of the results.
    #[diesel(sql_type = Nullable<Id>)]
    pub first: Option<ResultId>,
}

impl Database {
    /// The prisms of all accounts that have a result after their watermark, or after `from` without
    /// one, and up to `up_to`. Accounts that are being imported have none.
    pub async fn list_uncounted_prisms(
        &self,
        watermark: Watermark,
        from: ResultId,
        up_to: ResultId,
    ) -> Result<Vec<UncountedPrism>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = sql_query(watermark.first_uncounted())
                .bind::<Id, _>(Bind(from))
                .bind::<Text, _>(EventAction::AccountImportStarted.name())
                .bind::<Text, _>(EventAction::AccountImported.name())
                .bind::<Id, _>(Bind(up_to));
            Ok(on!(connection, load(query))?)
        })
        .await
    }
}
