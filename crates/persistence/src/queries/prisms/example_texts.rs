//! Example texts of a prism, with the outcomes that are right for them.
//!
//! A change locks the prism, so that two people who add the last example cannot both succeed. The
//! lock holds up no result of the prism.

use refract_boxed_futures::boxed;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, ExampleId, PersonId, PrismId, ResultId};
use refract_domain::prism::{ExampleNote, ExpectedOutcomes};
use refract_domain::submission::{CallContext, Ref, Submission};

use crate::connections::{Transaction, for_no_key_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::{add_event, commit_with};
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn, to_json};
use crate::schema::{prism_examples, prisms};

/// A text of a prism with the outcomes that are right for it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = prism_examples)]
pub struct ExampleText {
    /// `UUIDv7`: examples are in the order in which they were added.
    pub id: ExampleId,
    /// The values and the context. A later version may have other fields.
    #[diesel(select_expression = (prism_examples::fields, prism_examples::context))]
    #[diesel(deserialize_as = Stored<(prism_examples::fields, prism_examples::context)>)]
    pub submission: Submission,
    /// The reference of the text, if there is one.
    #[diesel(deserialize_as = Stored<prism_examples::reference>)]
    pub reference: Option<Ref>,
    /// The right outcomes. A later version may not ask these questions.
    #[diesel(deserialize_as = Stored<prism_examples::expected>)]
    pub expected: ExpectedOutcomes,
    /// What a person noted.
    #[diesel(deserialize_as = Stored<prism_examples::note>)]
    pub note: Option<ExampleNote>,
    /// The result from which the text was copied; `None` if there is none, or it was purged.
    #[diesel(column_name = result_id)]
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

/// A saved example with the hash of its text.
#[derive(Queryable, Selectable)]
#[diesel(table_name = prism_examples)]
struct PresentExample {
    text_hash: Vec<u8>,
    #[diesel(embed)]
    text: ExampleText,
}

impl<C: NamedColumn<Form = (String, Option<String>)>> TryFrom<Stored<C>> for Submission {
    type Error = UnreadableColumn;

    fn try_from(Stored((fields, context)): Stored<C>) -> Result<Self, UnreadableColumn> {
        let fields = serde_json::from_str(&fields).map_err(|_| UnreadableColumn(C::NAME))?;
        Ok(Self::saved(fields, context.and_then(CallContext::saved)))
    }
}

/// Where new examples come from, which decides the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleSource {
    /// One example from a form.
    Form,
    /// The rows of a file.
    File,
}

/// Numbers of saved examples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedExamples {
    /// Number of new examples.
    pub added: usize,
    /// Number of examples whose outcomes, note or reference were changed.
    pub changed: usize,
    /// Number of all examples of the prism afterwards.
    pub total: usize,
}

/// The outcome of saving examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamplesOutcome {
    /// They were saved.
    Saved(SavedExamples),
    /// Nothing was saved: the prism would have this number of examples, which is too many.
    TooMany(usize),
}

#[boxed]
impl Database {
    /// The example texts of a prism, oldest first.
    pub async fn list_examples(
        &self,
        prism: PrismId,
    ) -> Result<Vec<ExampleText>, PersistenceError> {
        let query = prism_examples::table
            .filter(prism_examples::prism_id.eq(Bind(prism)))
            .order(prism_examples::id);
        load_as!(self, query, ExampleText).await
    }

    /// Saves examples of a prism, all or none, unless it would have more than `most`. A change has
    /// an event. One transaction.
    ///
    /// # Errors
    /// [`PersistenceError::ReferenceGone`] when a result to copy was deleted meanwhile, or when the
    /// database fails.
    pub async fn save_examples(
        &self,
        prism: PrismId,
        new: Vec<NewExampleText>,
        most: usize,
        source: ExampleSource,
        stamp: EventStamp,
    ) -> Result<ExamplesOutcome, PersistenceError> {
        self.begin(async move |mut tx| {
            let lock = for_no_key_update(prisms::table.find(Bind(prism)).select(prisms::id));
            on!(tx, execute(lock))?;
            let of_prism = prism_examples::table.filter(prism_examples::prism_id.eq(Bind(prism)));
            let present: Vec<PresentExample> = on!(tx, load(of_prism) as PresentExample)?;
            let present: HashMap<_, _> = present
                .into_iter()
                .map(|row| (row.text_hash, row.text))
                .collect();
            let mut saved = SavedExamples::default();
            for example in new {
                match present.get(&example.text_hash) {
                    None => {
                        insert_example(&mut tx, prism, example, &stamp).await?;
                        saved.added += 1;
                    }
                    Some(before) => {
                        if update_example(&mut tx, before, example, &stamp).await? {
                            saved.changed += 1;
                        }
                    }
                }
            }
            saved.total = present.len() + saved.added;
            if saved.total > most && saved.added > 0 {
                return Ok(ExamplesOutcome::TooMany(saved.total));
            }
            if let Some(event) = event_of(source, saved, prism, stamp) {
                add_event(&mut tx, event).await?;
            }
            tx.commit().await?;
            Ok(ExamplesOutcome::Saved(saved))
        })
        .await
    }

    /// Replaces the expected outcomes and the note of an example, with an event if that changes
    /// anything. Returns whether the prism has the example. One transaction.
    pub async fn change_example(
        &self,
        prism: PrismId,
        id: ExampleId,
        expected: &ExpectedOutcomes,
        note: Option<ExampleNote>,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let wanted = (to_json(expected)?, note.map(|note| note.to_string()));
        let change = (
            prism_examples::expected.eq(wanted.0.clone()),
            prism_examples::note.eq(wanted.1.clone()),
            prism_examples::changed_by.eq(stamp.actor.person()),
            prism_examples::changed_at.eq(Bind(stamp.at)),
        );
        let event = stamp.event(EventAction::ExampleChanged, EventTarget::Prism(prism));
        self.begin(async move |mut tx| {
            let example = prism_examples::table
                .filter(prism_examples::id.eq(Bind(id)))
                .filter(prism_examples::prism_id.eq(Bind(prism)));
            let now = example.select((prism_examples::expected, prism_examples::note));
            let now = on!(tx, get_result(for_no_key_update(now))).optional()?;
            if now.is_none() || now == Some(wanted) {
                return Ok(now.is_some());
            }
            on!(tx, execute(diesel::update(example).set(change)))?;
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }

    /// Removes an example with its checks, with an event. Returns whether the prism had it. One
    /// transaction.
    pub async fn remove_example(
        &self,
        prism: PrismId,
        id: ExampleId,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let event = stamp.event(EventAction::ExampleRemoved, EventTarget::Prism(prism));
        self.begin(async move |mut tx| {
            let example = prism_examples::table
                .filter(prism_examples::id.eq(Bind(id)))
                .filter(prism_examples::prism_id.eq(Bind(prism)));
            if on!(tx, execute(diesel::delete(example)))? == 0 {
                return Ok(false);
            }
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }

    /// Deletes the examples of the stamp's account with a reference, of any prism, with an event if
    /// there are any. Returns their number. One transaction.
    pub async fn erase_examples_of_reference(
        &self,
        reference: &Ref,
        stamp: EventStamp,
    ) -> Result<u64, PersistenceError> {
        let reference = reference.as_str().to_owned();
        let account: AccountId = stamp.account;
        self.begin(async move |mut tx| {
            let of_account = prisms::table
                .filter(prisms::account_id.eq(Bind(account)))
                .select(prisms::id);
            let examples = prism_examples::table
                .filter(prism_examples::reference.eq(Some(reference)))
                .filter(prism_examples::prism_id.eq_any(of_account));
            let erased = on!(tx, execute(diesel::delete(examples)))?;
            if erased > 0 {
                add_event(&mut tx, erased_event(erased, stamp)).await?;
            }
            tx.commit().await?;
            Ok(u64::try_from(erased).unwrap_or(u64::MAX))
        })
        .await
    }
}

async fn insert_example(
    tx: &mut Transaction,
    prism: PrismId,
    example: NewExampleText,
    stamp: &EventStamp,
) -> QueryResult<()> {
    let submission = &example.submission;
    let insert = diesel::insert_into(prism_examples::table).values((
        prism_examples::id.eq(Bind(example.id)),
        prism_examples::prism_id.eq(Bind(prism)),
        prism_examples::text_hash.eq(example.text_hash),
        prism_examples::fields.eq(to_json(submission.field_values())?),
        prism_examples::context.eq(submission.context().map(str::to_owned)),
        prism_examples::reference.eq(example.reference.map(|it| it.as_str().to_owned())),
        prism_examples::expected.eq(to_json(&example.expected)?),
        prism_examples::note.eq(example.note.map(|note| note.to_string())),
        prism_examples::result_id.eq(example.result),
        prism_examples::changed_by.eq(stamp.actor.person()),
        prism_examples::changed_at.eq(Bind(stamp.at)),
    ));
    on!(tx, execute(insert))?;
    Ok(())
}

/// Saves an example whose text the prism has; returns whether that changes anything.
async fn update_example(
    tx: &mut Transaction,
    before: &ExampleText,
    example: NewExampleText,
    stamp: &EventStamp,
) -> QueryResult<bool> {
    let after = ExampleText {
        expected: example.expected,
        reference: example.reference.or_else(|| before.reference.clone()),
        note: example.note.or_else(|| before.note.clone()),
        result: example.result.or(before.result),
        ..before.clone()
    };
    if after == *before {
        return Ok(false);
    }
    let row = prism_examples::table.find(Bind(before.id));
    let update = diesel::update(row).set((
        prism_examples::expected.eq(to_json(&after.expected)?),
        prism_examples::reference.eq(after.reference.map(|it| it.as_str().to_owned())),
        prism_examples::note.eq(after.note.map(|note| note.to_string())),
        prism_examples::result_id.eq(after.result),
        prism_examples::changed_by.eq(stamp.actor.person()),
        prism_examples::changed_at.eq(Bind(stamp.at)),
    ));
    on!(tx, execute(update))?;
    Ok(true)
}

/// The event of saved examples; `None` if nothing changed.
fn event_of(
    source: ExampleSource,
    saved: SavedExamples,
    prism: PrismId,
    stamp: EventStamp,
) -> Option<Event> {
    let action = match source {
        ExampleSource::File => EventAction::ExamplesUploaded,
        ExampleSource::Form if saved.added > 0 => EventAction::ExampleAdded,
        ExampleSource::Form => EventAction::ExampleChanged,
    };
    let counted = |number: usize| {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        Some(EventDetail::counted(number, "example"))
    };
    (saved.added + saved.changed > 0).then(|| Event {
        from: counted(saved.total - saved.added).filter(|_| saved.added > 0),
        to: counted(saved.total).filter(|_| saved.added > 0),
        ..stamp.event(action, EventTarget::Prism(prism))
    })
}

/// The event of erased examples.
fn erased_event(erased: usize, stamp: EventStamp) -> Event {
    let number = u64::try_from(erased).unwrap_or(u64::MAX);
    let account = EventTarget::Account(stamp.account);
    Event {
        from: Some(EventDetail::counted(number, "example")),
        ..stamp.event(EventAction::ExamplesErased, account)
    }
}
