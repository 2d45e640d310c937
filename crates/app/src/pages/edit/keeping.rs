//! Keeps a draft on the server: what was typed survives Back, a reload, an ended session and a
//! server that is away. It is discarded on purpose only.

use chrono::{DateTime, Utc};
use refract_domain::prism::VersionNumber;
use refract_service::people::{
    DraftContent, DraftKind, DraftOutcome, DraftPlace, DraftRevision, StoredDraft,
};

use super::editing::Editing;
use super::stored_edit::StoredEdit;
use crate::replies::page_error::PageError;
use crate::requests::form::Form;
use crate::requests::visit::Visit;

/// The hidden input with the revision of the draft that the form shows.
pub(crate) const REVISION: &str = "revision";
/// The hidden input with the page that the form belongs to.
pub(crate) const TAB: &str = "tab";
/// Attempts at saving a draft that the same page changes at the same time.
const ATTEMPTS: usize = 4;

/// How a draft is kept.
pub(crate) struct KeptState {
    /// The revision that the next change replaces.
    pub(crate) revision: DraftRevision,
    /// The page that shows the draft. Its form holds the whole draft, so it may replace a revision
    /// of its own whose reply it did not see.
    pub(crate) tab: String,
    pub(crate) standing: DraftStanding,
}

/// Whether a draft is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftStanding {
    /// Nothing is stored yet.
    Unsaved,
    /// It was last stored at this moment.
    Stored(DateTime<Utc>),
    /// Another page stored another draft at this moment; this one is not stored.
    Overtaken(DateTime<Utc>),
    /// The draft was saved or discarded since the page was shown; this one is not stored.
    Gone,
}

impl KeptState {
    /// The state of a page that has stored nothing.
    pub(crate) fn of_page(visit: &Visit) -> Self {
        Self {
            revision: DraftRevision::default(),
            tab: visit.request.as_str().to_owned(),
            standing: DraftStanding::Unsaved,
        }
    }

    /// Whether the draft of this page must not replace the stored one unasked.
    pub(crate) fn is_refused(&self) -> bool {
        match self.standing {
            DraftStanding::Unsaved | DraftStanding::Stored(_) => false,
            DraftStanding::Overtaken(_) | DraftStanding::Gone => true,
        }
    }

    /// Whether the form may hold changes.
    pub(crate) fn is_touched(&self) -> bool {
        self.standing != DraftStanding::Unsaved
    }
}

/// Where the draft is kept.
pub(crate) fn place(visit: &Visit, editing: &Editing) -> DraftPlace {
    DraftPlace {
        person: visit.visitor.person,
        prism: editing.prism.as_ref().map(|prism| prism.id),
        kind: DraftKind::Version,
    }
}

/// Puts a stored draft into a page. Returns whether there was one.
pub(crate) async fn take(
    editing: &mut Editing,
    visit: &Visit,
    stored: StoredDraft,
) -> Result<bool, PageError> {
    editing.kept.revision = stored.revision;
    let Some((edit, saved_at)) = read(stored.content) else {
        return Ok(false);
    };
    editing.id = edit.id;
    if let Some(number) = edit.based_on.and_then(VersionNumber::new) {
        editing.put_on(visit, number).await?;
    }
    editing.draft = editing.base.read(edit.draft)?;
    editing.extras = edit.extras;
    editing.kept.standing = DraftStanding::Stored(saved_at);
    editing.follow_new_name(&edit.named);
    Ok(true)
}

/// Compares a submitted form with the stored draft, and takes over what the form lacks.
pub(crate) fn meet(editing: &mut Editing, form: &Form, stored: StoredDraft) {
    let seen = DraftRevision::parse(form.get(REVISION)).unwrap_or_default();
    if form.has(TAB) {
        form.get(TAB).clone_into(&mut editing.kept.tab);
    }
    let is_seen = seen == stored.revision;
    editing.kept.revision = stored.revision;
    match read(stored.content) {
        Some((edit, saved_at)) if is_seen || edit.tab == editing.kept.tab => {
            editing.extras = edit.extras;
            editing.kept.standing = DraftStanding::Stored(saved_at);
        }
        Some((_, saved_at)) => editing.kept.standing = DraftStanding::Overtaken(saved_at),
        None if is_seen => {}
        None => editing.kept.standing = DraftStanding::Gone,
    }
}

/// Stores the draft, unless another page stored another one.
pub(crate) async fn keep(editing: &mut Editing, visit: &Visit) -> Result<(), PageError> {
    let place = place(visit, editing);
    for _ in 0..ATTEMPTS {
        if editing.kept.is_refused() {
            return Ok(());
        }
        let seen = editing.kept.revision;
        let saving = visit.refract.drafts().save(place, seen, write(editing));
        match saving.await? {
            DraftOutcome::Saved(revision) => {
                editing.kept.revision = revision;
                editing.kept.standing = DraftStanding::Stored(Utc::now());
                return Ok(());
            }
            DraftOutcome::Meanwhile(present) => {
                editing.kept.revision = present.revision;
                editing.kept.standing = match read(present.content) {
                    Some((edit, at)) if edit.tab == editing.kept.tab => DraftStanding::Stored(at),
                    Some((_, at)) => DraftStanding::Overtaken(at),
                    None => DraftStanding::Gone,
                };
            }
        }
    }
    Ok(())
}

/// Lets the draft of this page replace the stored one.
pub(crate) fn insist(editing: &mut Editing, visit: &Visit) {
    if editing.kept.standing == DraftStanding::Gone && editing.prism.is_none() {
        // the prism of the draft that is gone may exist
        editing.id = visit.refract.prisms().new_id();
    }
    editing.kept.standing = DraftStanding::Unsaved;
}

/// Discards the stored draft that the page shows. Returns whether it is gone: another page may
/// have stored another one.
pub(crate) async fn discard(editing: &Editing, visit: &Visit) -> Result<bool, PageError> {
    let place = place(visit, editing);
    let mut seen = editing.kept.revision;
    for _ in 0..ATTEMPTS {
        match visit.refract.drafts().discard(place, seen).await? {
            DraftOutcome::Saved(_) => return Ok(true),
            DraftOutcome::Meanwhile(present) => match read(present.content) {
                None => return Ok(true),
                Some((edit, _)) if edit.tab == editing.kept.tab => seen = present.revision,
                Some(_) => return Ok(false),
            },
        }
    }
    Ok(false)
}

fn write(editing: &Editing) -> String {
    let named = editing.prism.as_ref().map(|prism| prism.name.clone());
    let stored = StoredEdit {
        id: editing.id,
        based_on: editing.based_on.map(VersionNumber::get),
        named: named.unwrap_or_default(),
        tab: editing.kept.tab.clone(),
        draft: editing.base.carry(&editing.draft),
        extras: editing.extras.clone(),
    };
    // every part of a draft can be written as JSON
    serde_json::to_string(&stored).unwrap_or_default()
}

/// The stored draft, and when it was stored.
fn read(content: Option<DraftContent>) -> Option<(StoredEdit, DateTime<Utc>)> {
    let content = content?;
    Some((serde_json::from_str(&content.text).ok()?, content.saved_at))
}
