//! Lists events, newest first.

use refract_domain::ids::{AccountId, EventId};
use refract_persistence::{EventFilter, EventRange, PersistenceError};

use super::names::{ListedEvent, named};
use crate::events::Events;

/// A page of events, newest first in either direction of paging.
#[derive(Clone, Debug)]
pub struct FoundEvents {
    /// The events.
    pub events: Vec<ListedEvent>,
    /// The event after which [newer ones](EventRange::NewerThan) begin; `None` when there is none.
    pub newer: Option<EventId>,
    /// The event before which [older ones](EventRange::OlderThan) begin; `None` when there is none.
    pub older: Option<EventId>,
}

impl Events<'_> {
    /// A page of at most `most` events of an account that match a filter.
    pub async fn find(
        self,
        account: AccountId,
        filter: EventFilter,
        range: EventRange,
        most: u32,
    ) -> Result<FoundEvents, PersistenceError> {
        let database = &self.refract.database;
        // one event more shows whether there is another page
        let listing = database.list_events(account, filter, range, most.saturating_add(1));
        let mut found = listing.await?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let has_more = found.len() > most;
        if has_more {
            match range {
                EventRange::Newest | EventRange::OlderThan(_) => drop(found.pop()),
                EventRange::NewerThan(_) => drop(found.remove(0)),
            }
        }
        let first = found.first().map(|event| event.stamp.id);
        let last = found.last().map(|event| event.stamp.id);
        let (newer, older) = match range {
            EventRange::Newest => (None, last.filter(|_| has_more)),
            EventRange::OlderThan(_) => (first, last.filter(|_| has_more)),
            EventRange::NewerThan(_) => (first.filter(|_| has_more), last),
        };
        Ok(FoundEvents {
            events: named(database, account, found).await?,
            newer,
            older,
        })
    }

    /// The newest event of each person of an account, apart from signing in and out.
    pub async fn last_of_people(
        self,
        account: AccountId,
    ) -> Result<Vec<ListedEvent>, PersistenceError> {
        let database = &self.refract.database;
        let found = database.list_last_events(account).await?;
        named(database, account, found).await
    }
}
