//! An example text and its row.

use chrono::{DateTime, Utc};
use diesel::QueryResult;
use diesel::prelude::*;
use diesel::result::Error;
use refract_domain::event::EventStamp;
use refract_domain::ids::{ExampleId, PersonId, PrismId, ResultId};
use refract_domain::prism::example::{ExampleNote, ExpectedOutcomes};
use refract_domain::submission::reference::Ref;
use refract_domain::submission::{CallContext, Submission};

use crate::error::PersistenceError;
use crate::schema::prism_examples;
use crate::schema::sql_types::Bind;

/// A text of a prism with the outcomes that are right for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleText {
    /// `UUIDv7`: examples are in the order in which they were added.
    pub id: ExampleId,
    /// The values and the context. A later version may have other fields.
    pub submission: Submission,
    /// The reference of the text, if there is one.
    pub reference: Option<Ref>,
    /// The right outcomes. A later version may not ask these questions.
    pub expected: ExpectedOutcomes,
    /// What a person noted.
    pub note: Option<ExampleNote>,
    /// The result from which the text was copied; `None` if there is none, or it was purged.
    pub result: Option<ResultId>,
    /// The person who saved the outcomes last.
    pub changed_by: Option<PersonId>,
    /// When that person saved them.
    pub changed_at: DateTime<Utc>,
}

/// An example text to save. If the prism has the text, its expected outcomes are replaced, and its
/// note and its reference if there are new ones.
#[derive(Clone, Debug)]
pub struct NewExampleText {
    /// `UUIDv7`.
    pub id: ExampleId,
    /// A hash of the values and the context.
    pub text_hash: Vec<u8>,
    /// The values and the context.
    pub submission: Submission,
    /// The reference of the text, if there is one.
    pub reference: Option<Ref>,
    /// The right outcomes.
    pub expected: ExpectedOutcomes,
    /// What a person noted.
    pub note: Option<ExampleNote>,
    /// The result from which the text is copied.
    pub result: Option<ResultId>,
}

/// The columns of a saved example.
#[derive(Queryable, Selectable)]
#[diesel(table_name = prism_examples)]
pub(super) struct ExampleColumns {
    pub(super) id: ExampleId,
    pub(super) text_hash: Vec<u8>,
    fields: String,
    context: Option<String>,
    reference: Option<String>,
    expected: String,
    note: Option<String>,
    result_id: Option<ResultId>,
    changed_by: Option<PersonId>,
    changed_at: DateTime<Utc>,
}

/// The columns of a new example.
#[derive(Insertable)]
#[diesel(table_name = prism_examples)]
#[diesel(treat_none_as_default_value = false)]
pub(super) struct NewExampleColumns {
    #[diesel(serialize_as = Bind<ExampleId>)]
    id: ExampleId,
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    text_hash: Vec<u8>,
    fields: String,
    context: Option<String>,
    reference: Option<String>,
    expected: String,
    note: Option<String>,
    result_id: Option<ResultId>,
    changed_by: Option<PersonId>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    changed_at: DateTime<Utc>,
}

/// The values that saving a present text again gives its row.
pub(super) struct ExampleChange {
    pub(super) expected: String,
    pub(super) reference: Option<String>,
    pub(super) note: Option<String>,
    pub(super) result: Option<ResultId>,
}

impl NewExampleColumns {
    /// The row of an example that is added to a prism.
    pub(super) fn new(
        prism: PrismId,
        example: &NewExampleText,
        stamp: &EventStamp,
    ) -> QueryResult<Self> {
        let submission = &example.submission;
        let fields = serde_json::to_string(submission.field_values());
        Ok(Self {
            id: example.id,
            prism_id: prism,
            text_hash: example.text_hash.clone(),
            fields: fields.map_err(no_json)?,
            context: submission.context().map(str::to_owned),
            reference: text_of(example.reference.as_ref().map(Ref::as_str)),
            expected: expected_json(&example.expected)?,
            note: text_of(example.note.as_ref().map(ExampleNote::as_str)),
            result_id: example.result,
            changed_by: stamp.actor.person(),
            changed_at: stamp.at,
        })
    }
}

/// What saving an example changes in the row of its text; `None` if nothing.
pub(super) fn changes(
    row: &ExampleColumns,
    example: &NewExampleText,
) -> QueryResult<Option<ExampleChange>> {
    let reference = text_of(example.reference.as_ref().map(Ref::as_str));
    let note = text_of(example.note.as_ref().map(ExampleNote::as_str));
    let change = ExampleChange {
        expected: expected_json(&example.expected)?,
        reference: reference.or_else(|| row.reference.clone()),
        note: note.or_else(|| row.note.clone()),
        result: example.result.or(row.result_id),
    };
    let is_new = change.expected != row.expected
        || change.reference != row.reference
        || change.note != row.note
        || change.result != row.result_id;
    Ok(Some(change).filter(|_| is_new))
}

/// The JSON of expected outcomes.
pub(super) fn expected_json(expected: &ExpectedOutcomes) -> QueryResult<String> {
    serde_json::to_string(expected).map_err(no_json)
}

fn no_json(error: serde_json::Error) -> Error {
    Error::SerializationError(Box::new(error))
}

fn text_of(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

impl TryFrom<ExampleColumns> for ExampleText {
    type Error = PersistenceError;

    fn try_from(columns: ExampleColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let fields = serde_json::from_str(&columns.fields);
        let fields = fields.map_err(|_| unreadable("prism_examples.fields"))?;
        let expected = serde_json::from_str(&columns.expected);
        Ok(Self {
            id: columns.id,
            submission: Submission::saved(fields, columns.context.and_then(CallContext::saved)),
            reference: columns.reference.map(Ref::saved),
            expected: expected.map_err(|_| unreadable("prism_examples.expected"))?,
            note: columns.note.map(ExampleNote::saved),
            result: columns.result_id,
            changed_by: columns.changed_by,
            changed_at: columns.changed_at,
        })
    }
}
