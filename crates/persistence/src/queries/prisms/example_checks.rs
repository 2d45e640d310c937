//! What wordings of a prism, saved or not, answered about its example texts.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::ids::{ExampleId, PrismId};

use crate::connections::{for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};
use crate::schema::{example_checks, prism_examples};

/// Number of wordings whose answers about an example are kept: those asked last.
const KEPT: i64 = 4;

/// A hash of a version, saved or not.
pub type WordingHash = Vec<u8>;

/// What a wording of the prism answered about an example.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = example_checks)]
pub struct ExampleCheck {
    /// The example.
    #[diesel(column_name = example_id)]
    pub example: ExampleId,
    /// When the model was asked.
    pub checked_at: DateTime<Utc>,
    /// The answers, or why there are none.
    #[diesel(select_expression = (example_checks::answers, example_checks::error))]
    #[diesel(deserialize_as = Stored<CheckAnswers>)]
    pub answers: Result<Answers, String>,
}

#[boxed]
impl Database {
    /// What a wording answered about the examples of a prism, in no particular order.
    pub async fn list_example_checks(
        &self,
        prism: PrismId,
        wording: &WordingHash,
    ) -> Result<Vec<ExampleCheck>, PersistenceError> {
        let wording = wording.clone();
        let query = example_checks::table
            .inner_join(prism_examples::table.on(prism_examples::id.eq(example_checks::example_id)))
            .filter(prism_examples::prism_id.eq(Bind(prism)))
            .filter(example_checks::wording_hash.eq(wording));
        load_as!(self, query, ExampleCheck).await
    }

    /// Saves what a wording answered about an example, in place of its earlier answers. Of the
    /// wordings asked before, the last few are kept. An example that is gone gets no check. One
    /// transaction.
    pub async fn save_example_check(
        &self,
        wording: &WordingHash,
        check: ExampleCheck,
    ) -> Result<(), PersistenceError> {
        let id = check.example;
        let (answers, error) = match check.answers {
            Ok(answers) => (Some(answers), None),
            Err(error) => (None, Some(error)),
        };
        let answers = answers.map(|answers| serde_json::to_string(&answers));
        let no_json = |_| PersistenceError::Refused("answers have no JSON".to_owned());
        let columns = (
            example_checks::example_id.eq(Bind(id)),
            example_checks::wording_hash.eq(wording.clone()),
            example_checks::checked_at.eq(Bind(check.checked_at)),
            example_checks::answers.eq(answers.transpose().map_err(no_json)?),
            example_checks::error.eq(error),
        );
        self.begin(async move |mut tx| {
            let example = prism_examples::table.find(Bind(id));
            let found = for_update(example.select(prism_examples::id));
            let found: Option<ExampleId> = on!(tx, get_result(found)).optional()?;
            if found.is_some() {
                let insert = diesel::insert_into(example_checks::table)
                    .values(columns)
                    .on_conflict((example_checks::example_id, example_checks::wording_hash))
                    .do_update()
                    .set((
                        example_checks::checked_at.eq(excluded(example_checks::checked_at)),
                        example_checks::answers.eq(excluded(example_checks::answers)),
                        example_checks::error.eq(excluded(example_checks::error)),
                    ));
                on!(tx, execute(insert))?;
                let last = example_checks::table
                    .filter(example_checks::example_id.eq(Bind(id)))
                    .order(example_checks::checked_at.desc())
                    .limit(KEPT + 1)
                    .select(example_checks::wording_hash);
                let wordings: Vec<Vec<u8>> = on!(tx, load(last))?;
                if i64::try_from(wordings.len()).is_ok_and(|number| number > KEPT)
                    && let Some(oldest) = wordings.into_iter().next_back()
                {
                    let oldest = example_checks::table.find((Bind(id), oldest));
                    on!(tx, execute(diesel::delete(oldest)))?;
                }
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}

type CheckAnswers = (example_checks::answers, example_checks::error);

impl TryFrom<Stored<CheckAnswers>> for Result<Answers, String> {
    type Error = UnreadableColumn;

    fn try_from(Stored(answers): Stored<CheckAnswers>) -> Result<Self, UnreadableColumn> {
        let read = match answers {
            (Some(answers), None) => serde_json::from_str(&answers).ok().map(Ok),
            (None, Some(error)) => Some(Err(error)),
            (Some(_), Some(_)) | (None, None) => None,
        };
        read.ok_or(UnreadableColumn(CheckAnswers::NAME))
    }
}
