//! A person's own sessions, as that person sees them.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::account::secret_hash::TokenHash;
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PersonId;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::sessions::SessionsAlive;
use crate::schema::sessions;
use crate::schema::sql_types::Bind;

/// A session of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnSession {
    /// The hash of the session's token.
    pub hash: TokenHash,
    /// When the session began.
    pub began_at: DateTime<Utc>,
    /// When the session was last used, to the hour.
    pub last_used_at: DateTime<Utc>,
}

/// Which of a person's sessions are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedSessions {
    /// This one.
    One(TokenHash),
    /// All but this one.
    AllBut(TokenHash),
}

impl Database {
    /// The sessions of a person that have not ended, the most recently used first.
    pub async fn list_own_sessions(
        &self,
        person: PersonId,
        alive: SessionsAlive,
    ) -> Result<Vec<OwnSession>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = sessions::table
                .filter(sessions::person_id.eq(Bind(person)))
                .filter(sessions::last_used_at.gt(Bind(alive.used_after)))
                .filter(sessions::created_at.gt(Bind(alive.begun_after)))
                .order((sessions::last_used_at.desc(), sessions::created_at.desc()))
                .select((sessions::hash, sessions::created_at, sessions::last_used_at));
            let found: Vec<(Vec<u8>, DateTime<Utc>, DateTime<Utc>)> = on!(connection, load(query))?;
            let rows = found.into_iter().map(|(hash, began_at, last_used_at)| {
                let hash = hash.try_into().map_err(|_| PersistenceError::Unreadable {
                    column: "sessions.hash",
                })?;
                Ok(OwnSession {
                    hash: TokenHash::new(hash),
                    began_at,
                    last_used_at,
                })
            });
            rows.collect()
        })
        .await
    }

    /// Ends sessions of a person, with an event if there were any. A session that has ended
    /// already, or that belongs to another person, changes nothing. One transaction.
    pub async fn end_own_sessions(
        &self,
        person: PersonId,
        ended: EndedSessions,
        alive: SessionsAlive,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let of_person = sessions::table
                .filter(sessions::person_id.eq(Bind(person)))
                .filter(sessions::last_used_at.gt(Bind(alive.used_after)))
                .filter(sessions::created_at.gt(Bind(alive.begun_after)));
            let (number, stamp) = match ended {
                EndedSessions::One(hash) => {
                    let one = of_person.filter(sessions::hash.eq(hash.bytes().to_vec()));
                    (on!(tx, execute(diesel::delete(one)))?, stamp)
                }
                EndedSessions::AllBut(hash) => {
                    let others = of_person.filter(sessions::hash.ne(hash.bytes().to_vec()));
                    let number = on!(tx, execute(diesel::delete(others)))?;
                    let counted = u64::try_from(number).unwrap_or(u64::MAX);
                    (
                        number,
                        stamp.noted(EventDetail::counted(counted, "session")),
                    )
                }
            };
            if number > 0 {
                let target = EventTarget::Person(person);
                add_event(&mut tx, stamp.event(EventAction::SessionEnded, target)).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
