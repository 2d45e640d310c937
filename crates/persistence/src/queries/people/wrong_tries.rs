//! Sign-in tries with a wrong password. Those for a person's address have events.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PersonId;

use crate::connections::{Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::person::lock_person;
use crate::queries::people::sign_in_tries::{SignInCounter, SignInTry, TriesWindow};
use crate::schema::sign_in_tries;
use crate::schema::sql_types::Bind;

/// A sign-in try whose password was wrong.
#[derive(Clone, Debug)]
pub struct WrongTry {
    /// The try, as it was saved before the password check.
    pub tried: SignInTry,
    /// When its password turned out to be wrong.
    pub refused_at: DateTime<Utc>,
    /// The time in which tries count.
    pub window: TriesWindow,
    /// How many wrong tries for the address, by this try's counter, block the next one.
    pub stopping: u32,
}

/// Counts the wrong tries for the address of a try, by its counter.
async fn count_wrong(tx: &mut Transaction, wrong: &WrongTry) -> QueryResult<i64> {
    let of_address = sign_in_tries::table
        .filter(sign_in_tries::tried_at.ge(Bind(wrong.window.since)))
        .filter(sign_in_tries::tried_at.le(Bind(wrong.window.until)))
        .filter(sign_in_tries::email_hash.eq(wrong.tried.email.0.to_vec()))
        .filter(sign_in_tries::refused_at.is_not_null());
    match wrong.tried.counter.clone() {
        SignInCounter::Network(network) => {
            let wrong = of_address.filter(sign_in_tries::network.eq(network));
            on!(tx, get_result(wrong.count()))
        }
        SignInCounter::Browser(hash) => {
            let wrong = of_address.filter(sign_in_tries::browser_hash.eq(hash.bytes().to_vec()));
            on!(tx, get_result(wrong.count()))
        }
    }
}

impl Database {
    /// Records that a try was wrong. If the address is a person's, an event of the refusal is
    /// saved, and another one when the wrong tries reach the number that blocks the next. One
    /// transaction: of several concurrent tries, one reaches the number. An unknown address costs a
    /// commit too, so that timing does not reveal which addresses exist.
    pub async fn refuse_sign_in_try(
        &self,
        wrong: WrongTry,
        person: Option<(PersonId, EventStamp)>,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let mut refused = None;
            if let Some((person, stamp)) = person
                // concurrent wrong tries are counted one after the other
                && lock_person(&mut tx, person).await?
            {
                refused = Some((EventTarget::Person(person), stamp));
            }
            let update = diesel::update(sign_in_tries::table.find(Bind(wrong.tried.id)))
                .set(sign_in_tries::refused_at.eq(Some(wrong.refused_at)));
            on!(tx, execute(update))?;
            if let Some((person, stamp)) = refused {
                let further = stamp.further();
                add_event(&mut tx, stamp.event(EventAction::SignInRefused, person)).await?;
                if count_wrong(&mut tx, &wrong).await? == i64::from(wrong.stopping) {
                    let number = u64::from(wrong.stopping);
                    let stopped = "wrong tries, the next ones are stopped for a while";
                    let further = further.noted(EventDetail::worded(number, stopped));
                    let event = further.event(EventAction::SignInRefused, person);
                    add_event(&mut tx, event).await?;
                }
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
