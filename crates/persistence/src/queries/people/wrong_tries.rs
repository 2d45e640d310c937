//! Sign-in tries with a wrong password. Those for a person's address have events.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PersonId;

use crate::connections::{for_update, run, transaction};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::sign_in_tries::{SignInCounter, SignInTry, TriesWindow};
use crate::schema::sql_types::Bind;
use crate::schema::{people, sign_in_tries};

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
macro_rules! count_wrong {
    ($c:ident, $wrong:ident) => {{
        let of_address = || {
            sign_in_tries::table
                .filter(sign_in_tries::tried_at.ge(Bind($wrong.window.since)))
                .filter(sign_in_tries::tried_at.le(Bind($wrong.window.until)))
                .filter(sign_in_tries::email_hash.eq($wrong.tried.email.0.to_vec()))
                .filter(sign_in_tries::refused_at.is_not_null())
        };
        let number: i64 = match &$wrong.tried.counter {
            SignInCounter::Network(network) => {
                let wrong = of_address().filter(sign_in_tries::network.eq(network));
                wrong.count().get_result($c).await?
            }
            SignInCounter::Browser(hash) => {
                let hash = sign_in_tries::browser_hash.eq(hash.bytes().to_vec());
                of_address().filter(hash).count().get_result($c).await?
            }
        };
        number
    }};
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
        transaction!(self, |c| {
            let mut refused = None;
            if let Some((person, stamp)) = person {
                // concurrent wrong tries are counted one after the other
                let one = people::table
                    .filter(people::id.eq(Bind(person)))
                    .filter(people::removed_at.is_null())
                    .select(people::id);
                let there: Option<PersonId> = for_update(one).get_result(c).await.optional()?;
                refused = there.map(|person| (EventTarget::Person(person), stamp));
            }
            run!(
                c,
                diesel::update(sign_in_tries::table.find(Bind(wrong.tried.id)))
                    .set(sign_in_tries::refused_at.eq(Some(wrong.refused_at)))
            );
            if let Some((person, stamp)) = refused {
                let further = stamp.further();
                add_event!(c, stamp.event(EventAction::SignInRefused, person));
                if count_wrong!(c, wrong) == i64::from(wrong.stopping) {
                    let number = u64::from(wrong.stopping);
                    let stopped = "wrong tries, the next ones are stopped for a while";
                    let further = further.noted(EventDetail::worded(number, stopped));
                    add_event!(c, further.event(EventAction::SignInRefused, person));
                }
            }
            QueryResult::Ok(())
        })
    }
}
