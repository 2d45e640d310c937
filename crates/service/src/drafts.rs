//! Drafts: what a person typed on a page of a prism and has not saved, kept until it is saved or
//! discarded on purpose.

use chrono::{DateTime, Utc};
use refract_boxed_futures::boxed;
use refract_domain::result::whole_milliseconds;
use refract_persistence::StoredDraftRow;
pub use refract_persistence::{DraftKind, DraftPlace};

use crate::{InternalError, Refract};

/// The use cases of drafts, from [`Refract::drafts`](crate::Refract::drafts).
#[derive(Clone, Copy)]
pub struct Drafts<'a> {
    refract: &'a Refract,
}

/// A revision of a draft, which a page shows in its form and each change of the draft names. The
/// default is that of a draft that was never saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftRevision(i32);

/// A draft as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDraft {
    /// The revision to name in the next change.
    pub revision: DraftRevision,
    /// What was typed; `None` if nothing was, or the draft was saved or discarded.
    pub content: Option<DraftContent>,
}

/// What a person typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftContent {
    /// The content, as the page wrote it.
    pub text: String,
    /// When it was last changed.
    pub saved_at: DateTime<Utc>,
}

/// Whether a change of a draft was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftOutcome {
    /// The draft has this revision now.
    Saved(DraftRevision),
    /// The draft was changed meanwhile, in another tab or by a request that overtook this one: this
    /// is the present one, unchanged.
    Meanwhile(StoredDraft),
}

impl Refract {
    /// Drafts: what people typed and have not saved.
    pub fn drafts(&self) -> Drafts<'_> {
        Drafts { refract: self }
    }
}

impl DraftRevision {
    /// The revision as a number, for a form.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Reads a revision from a form; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let number: i32 = text.parse().ok()?;
        (number >= 0).then_some(Self(number))
    }
}

#[boxed]
impl Drafts<'_> {
    /// The draft of a person. A draft that was saved or discarded has a revision and no content.
    pub async fn find(self, place: DraftPlace) -> Result<StoredDraft, InternalError> {
        let found = self.refract.database.find_draft(place).await?;
        Ok(found.map_or_else(StoredDraft::default, StoredDraft::from))
    }

    /// Saves what a person typed in place of the revision that they saw. A text that is the draft
    /// already, because a page sent it twice, is saved whatever revision was seen.
    ///
    /// # Errors
    /// When the person was removed, or the database fails.
    pub async fn save(
        self,
        place: DraftPlace,
        seen: DraftRevision,
        text: String,
    ) -> Result<DraftOutcome, InternalError> {
        let outcome = self.replace(place, seen, Some(text.clone())).await?;
        Ok(match outcome {
            DraftOutcome::Meanwhile(present) if present.has(&text) => {
                DraftOutcome::Saved(present.revision)
            }
            outcome @ (DraftOutcome::Saved(_) | DraftOutcome::Meanwhile(_)) => outcome,
        })
    }

    /// Discards the revision that a person saw, because it was saved or on purpose. Discarding
    /// nothing changes nothing.
    ///
    /// # Errors
    /// When the person was removed, or the database fails.
    pub async fn discard(
        self,
        place: DraftPlace,
        seen: DraftRevision,
    ) -> Result<DraftOutcome, InternalError> {
        self.replace(place, seen, None).await
    }

    async fn replace(
        self,
        place: DraftPlace,
        seen: DraftRevision,
        content: Option<String>,
    ) -> Result<DraftOutcome, InternalError> {
        let database = &self.refract.database;
        if let Some(next) = seen.0.checked_add(1) {
            let row = StoredDraftRow {
                revision: next,
                content,
                saved_at: whole_milliseconds(Utc::now()),
            };
            if database.replace_draft(place, row).await? {
                return Ok(DraftOutcome::Saved(DraftRevision(next)));
            }
        }
        Ok(DraftOutcome::Meanwhile(self.find(place).await?))
    }
}

impl StoredDraft {
    fn has(&self, text: &str) -> bool {
        self.content
            .as_ref()
            .is_some_and(|content| content.text == text)
    }
}

impl From<StoredDraftRow> for StoredDraft {
    fn from(row: StoredDraftRow) -> Self {
        let saved_at = row.saved_at;
        Self {
            revision: DraftRevision(row.revision),
            content: row.content.map(|text| DraftContent { text, saved_at }),
        }
    }
}
