//! Reads any number of events, page by page, and writes them as rows.

use refract_boxed_futures::boxed;
use std::io;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use refract_domain::event::{EventAction, EventTarget};
use refract_domain::ids::AccountId;
use refract_lens_rendering::{EventRowWriter, RowFormat};
use refract_persistence::{EventFilter, EventRange, PersistenceError};

use super::list::ListedEvent;
use crate::Identity;
use crate::events::Events;
use crate::people::AccountActor;

/// Events that one query reads.
const PAGE: u32 = 500;

/// The events of an account that match a filter, newest first, read page by page. Events that are
/// added meanwhile are left out.
pub struct ListedEvents {
    identity: Identity,
    account: AccountId,
    filter: EventFilter,
    /// Where the next page begins; `None` after the last.
    next: Option<EventRange>,
}

impl Events<'_> {
    /// Prepares to read the events of an account that match a filter. Makes no query yet.
    pub fn list(self, account: AccountId, filter: EventFilter) -> ListedEvents {
        ListedEvents {
            identity: self.identity.clone(),
            account,
            filter,
            next: Some(EventRange::Newest),
        }
    }
}

#[boxed]
impl ListedEvents {
    /// The next page, which is empty after the last event.
    pub async fn next_page(&mut self) -> Result<Vec<ListedEvent>, PersistenceError> {
        let Some(range) = self.next else {
            return Ok(Vec::new());
        };
        let filter = self.filter.clone();
        let events = self.identity.events();
        let finding = events.find(self.account, filter, range, PAGE);
        let found = finding.await?;
        self.next = found.older.map(EventRange::OlderThan);
        Ok(found.events)
    }
}

/// Why a download of events ended early.
#[derive(Debug, thiserror::Error)]
pub enum EventExportError {
    /// The events cannot be read.
    #[error(transparent)]
    Read(#[from] PersistenceError),
    /// The rows cannot be written.
    #[error("cannot write the rows")]
    Write(#[from] io::Error),
}

#[boxed]
impl Events<'_> {
    /// The bytes of a download of the events of the caller's account, a chunk for the header and
    /// one for each page: the next page is read when the next chunk is asked for. The download is
    /// an event itself, which is saved before the first chunk and is not part of the download.
    ///
    /// # Errors
    /// When the event cannot be saved. The stream ends with its first error; chunks before it stay
    /// valid.
    pub async fn export(
        self,
        actor: &AccountActor,
        filter: EventFilter,
        format: RowFormat,
    ) -> Result<impl Stream<Item = Result<Bytes, EventExportError>> + use<>, PersistenceError> {
        let account = actor.account();
        let stamp = actor.event_stamp().noted(format.name());
        let before = stamp.id;
        let event = stamp.event(EventAction::EventsExported, EventTarget::Account(account));
        self.identity.database.save_event(event).await?;
        let begin = EventDownload {
            events: ListedEvents {
                next: Some(EventRange::OlderThan(before)),
                ..self.list(account, filter)
            },
            format,
            has_header: false,
        };
        Ok(try_unfold(begin, async |mut download| {
            let chunk = download.next_chunk().await?;
            Ok(chunk.map(|chunk| (chunk, download)))
        }))
    }
}

/// The state of a download between two chunks.
struct EventDownload {
    events: ListedEvents,
    format: RowFormat,
    has_header: bool,
}

impl EventDownload {
    /// The next chunk; `None` at the end. The header of jsonl is an empty chunk.
    async fn next_chunk(&mut self) -> Result<Option<Bytes>, EventExportError> {
        let mut rows = EventRowWriter::new(self.format, Vec::new());
        if self.has_header {
            let page = self.events.next_page().await?;
            if page.is_empty() {
                return Ok(None);
            }
            for event in &page {
                rows.write_row(event.row())?;
            }
        } else {
            self.has_header = true;
            rows.write_header()?;
        }
        Ok(Some(Bytes::from(rows.finish()?)))
    }
}
