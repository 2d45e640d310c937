//! Example texts of a prism, with the outcomes that are right for them.
//!
//! A change locks the prism, so that two people who add the last example cannot both succeed. The
//! lock holds up no result of the prism.

mod row;

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel::sql_query;
use diesel_async::RunQueryDsl;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, ExampleId, PrismId};
use refract_domain::prism::example::{ExampleNote, ExpectedOutcomes};
use refract_domain::submission::reference::Ref;

use self::row::{ExampleColumns, NewExampleColumns, changes, expected_json};
pub use self::row::{ExampleText, NewExampleText};
use crate::connections::{
    ExclusiveConnection, in_transaction, is_committed, load_as, run, unless_rolled_back,
};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{prism_examples, prisms};

/// Locks a prism against other changes of its examples. Results that name the prism do not wait.
const LOCK_ON_POSTGRES: &str = "SELECT id FROM prisms WHERE id = $1 FOR NO KEY UPDATE";
/// Locks nothing: a writing transaction of SQLite already holds the only lock.
const LOCK_ON_SQLITE: &str = "SELECT id FROM prisms WHERE id = $1";

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

impl Database {
    /// The example texts of a prism, oldest first.
    pub async fn list_examples(
        &self,
        prism: PrismId,
    ) -> Result<Vec<ExampleText>, PersistenceError> {
        let query = prism_examples::table
            .filter(prism_examples::prism_id.eq(Bind(prism)))
            .order(prism_examples::id);
        load_as!(self, query, ExampleColumns).await
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
        self.write(async move |mut connection| {
            let lock = lock(&connection);
            let mut total = 0;
            let mut saved = SavedExamples::default();
            let ended = in_transaction!(connection, |c| {
                sql_query(lock)
                    .bind::<Id, _>(Bind(prism))
                    .execute(c)
                    .await?;
                let of_prism =
                    prism_examples::table.filter(prism_examples::prism_id.eq(Bind(prism)));
                let present: Vec<ExampleColumns> =
                    of_prism.select(ExampleColumns::as_select()).load(c).await?;
                let present: HashMap<_, _> = present
                    .into_iter()
                    .map(|row| (row.text_hash.clone(), row))
                    .collect();
                for example in new {
                    match present.get(&example.text_hash) {
                        None => {
                            let row = NewExampleColumns::new(prism, &example, &stamp)?;
                            run!(c, diesel::insert_into(prism_examples::table).values(row));
                            saved.added += 1;
                        }
                        Some(row) => {
                            if let Some(change) = changes(row, &example)? {
                                let values = (
                                    prism_examples::expected.eq(change.expected),
                                    prism_examples::reference.eq(change.reference),
                                    prism_examples::note.eq(change.note),
                                    prism_examples::result_id.eq(change.result),
                                    prism_examples::changed_by.eq(stamp.actor.person()),
                                    prism_examples::changed_at.eq(Bind(stamp.at)),
                                );
                                let row = prism_examples::table.find(Bind(row.id));
                                run!(c, diesel::update(row).set(values));
                                saved.changed += 1;
                            }
                        }
                    }
                }
                total = present.len() + saved.added;
                saved.total = total;
                if total > most && saved.added > 0 {
                    return Err(RollbackTransaction);
                }
                if let Some(event) = event_of(source, saved, prism, stamp) {
                    add_event!(c, event);
                }
                QueryResult::Ok(())
            });
            Ok(if is_committed(ended)? {
                ExamplesOutcome::Saved(saved)
            } else {
                ExamplesOutcome::TooMany(total)
            })
        })
        .await
    }

    /// Replaces the expected outcomes and the note of an example, with an event. Returns whether
    /// the prism has the example. One transaction.
    pub async fn change_example(
        &self,
        prism: PrismId,
        id: ExampleId,
        expected: &ExpectedOutcomes,
        note: Option<ExampleNote>,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let change = (
            prism_examples::expected.eq(expected_json(expected)?),
            prism_examples::note.eq(note.map(|note| note.to_string())),
            prism_examples::changed_by.eq(stamp.actor.person()),
            prism_examples::changed_at.eq(Bind(stamp.at)),
        );
        let event = stamp.event(EventAction::ExampleChanged, EventTarget::Prism(prism));
        unless_rolled_back!(self, |c| {
            let example = prism_examples::table
                .filter(prism_examples::id.eq(Bind(id)))
                .filter(prism_examples::prism_id.eq(Bind(prism)));
            if diesel::update(example).set(change).execute(c).await? == 0 {
                return Err(RollbackTransaction);
            }
            add_event!(c, event);
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let example = prism_examples::table
                .filter(prism_examples::id.eq(Bind(id)))
                .filter(prism_examples::prism_id.eq(Bind(prism)));
            if diesel::delete(example).execute(c).await? == 0 {
                return Err(RollbackTransaction);
            }
            add_event!(c, event);
            QueryResult::Ok(())
        })
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
        self.write(async move |mut connection| {
            let erased = in_transaction!(connection, |c| {
                let of_account = prisms::table
                    .filter(prisms::account_id.eq(Bind(account)))
                    .select(prisms::id);
                let examples = prism_examples::table
                    .filter(prism_examples::reference.eq(Some(reference)))
                    .filter(prism_examples::prism_id.eq_any(of_account));
                let erased = diesel::delete(examples).execute(c).await?;
                if erased > 0 {
                    add_event!(c, erased_event(erased, stamp));
                }
                QueryResult::Ok(erased)
            })?;
            Ok(u64::try_from(erased).unwrap_or(u64::MAX))
        })
        .await
    }
}

fn lock(connection: &ExclusiveConnection) -> &'static str {
    match connection {
        ExclusiveConnection::Postgres(_) => LOCK_ON_POSTGRES,
        ExclusiveConnection::Sqlite(_) => LOCK_ON_SQLITE,
    }
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
