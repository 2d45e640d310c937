//! Keeps a draft on the server, and saves it as a prism or as the next version of one. What was typed
//! survives Back, a reload, an ended session and a server that is away. It is discarded on purpose
//! only, or when it is saved.

use chrono::{DateTime, Utc};
use refract_authoring::prism_file::PrismFile;
use refract_domain::event::EventDetail;
use refract_domain::ids::PrismId;
use refract_domain::prism::{DisplayName, PrismSelector, Slug, VersionNumber};
use refract_service::drafts::{
    DraftContent, DraftKind, DraftOutcome, DraftPlace, DraftRevision, StoredDraft,
};
use refract_service::prisms::{Prism, PrismError, find_example};

use super::carried_draft::{FormAction, StoredEdit};
use super::draft::EditDraft;
use super::draft_form;
use super::editing::{ASKED, COPIED, DraftStanding, Editing, NAMED, NEW_ID, REVISION, TAB};
use crate::components::{describe, prism_address};
use crate::replies::{PageError, PageReply};
use crate::requests::{Form, Visit, version_number};

/// Attempts at saving a draft that the same page changes at the same time.
const ATTEMPTS: usize = 4;

impl Editing {
    /// The person's stored draft of the prism in the address, or of a new prism. Without one, the
    /// latest version, or an example or nothing for a new prism.
    pub(crate) async fn find(visit: &Visit) -> Result<Self, PageError> {
        let mut editing = Self::of_address(visit).await?;
        let query = &visit.sent.query;
        editing.is_asked = query.get("check").is_some();
        let stored = visit.refract.drafts().find(place(visit, &editing));
        let stored = stored.await?;
        if !take(&mut editing, visit, stored).await? {
            if let Some(prism) = &editing.prism {
                let latest = prism.latest_version;
                let name = prism.name.clone();
                editing.put_on(visit, latest).await?;
                if let Some(base) = &editing.base.0 {
                    editing.draft = EditDraft::of(&name, base);
                }
            } else {
                (editing.draft, editing.extras.copied) = new_draft(visit).await?;
            }
        }
        if query.get("acted").is_none() {
            editing.extras.acted = FormAction::default();
        }
        Ok(editing)
    }

    /// The draft that a form of this page holds.
    pub(crate) async fn of_form(visit: &Visit) -> Result<Self, PageError> {
        let form = &visit.sent.form;
        let mut editing = Self::of_address(visit).await?;
        if editing.prism.is_some() {
            let number = version_number(form.get("based_on")).ok_or(PageError::NoForm)?;
            editing.put_on(visit, number).await?;
        } else if let Some(id) = PrismId::parse(form.get(NEW_ID)) {
            editing.id = id;
        }
        editing.draft = draft_form::read(form, &editing.base)?;
        editing.is_asked = form.has(ASKED);
        let stored = visit.refract.drafts().find(place(visit, &editing));
        meet(&mut editing, form, stored.await?);
        editing.extras.texts = draft_form::read_texts(form);
        editing.extras.copied = PrismId::parse(form.get(COPIED));
        editing.follow_new_name(form.get(NAMED));
        Ok(editing)
    }
}

/// Where the draft is kept.
fn place(visit: &Visit, editing: &Editing) -> DraftPlace {
    DraftPlace {
        person: visit.visitor.person,
        prism: editing.prism.as_ref().map(|prism| prism.id),
        kind: DraftKind::Version,
    }
}

/// Puts a stored draft into a page. Returns whether there was one.
async fn take(
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
fn meet(editing: &mut Editing, form: &Form, stored: StoredDraft) {
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

/// The draft of a new prism: a copy of another prism, whose id is returned too, an example, or empty.
async fn new_draft(visit: &Visit) -> Result<(EditDraft, Option<PrismId>), PageError> {
    let query = &visit.sent.query;
    if let Some(copied) = query.get("copy") {
        let selector = PrismSelector::parse(copied).map_err(|_| PageError::NotFound)?;
        let prisms = visit.refract.prisms();
        let prism = prisms.find(visit.account(), &selector).await?;
        let version = prisms.find_version(&prism, prism.latest_version).await?;
        let name = DisplayName::parse(&format!("Copy of {}", prism.name));
        let name = name
            .as_ref()
            .map_or(prism.name.as_str(), DisplayName::as_str);
        return Ok((EditDraft::of(name, &version).into_new(), Some(prism.id)));
    }
    let example = query.get("from").and_then(find_example);
    let example = example.and_then(|example| PrismFile::read(example.file, None).ok());
    let draft = example.map_or_else(EditDraft::blank, |file| {
        EditDraft::of(file.name.as_str(), &file.version).into_new()
    });
    Ok((draft, None))
}

/// The prism that an earlier submission of this form created.
pub(crate) async fn find_created(
    visit: &Visit,
    editing: &Editing,
) -> Result<Option<Prism>, PageError> {
    if editing.prism.is_some() {
        return Ok(None);
    }
    let selector = PrismSelector::Id(editing.id);
    match visit
        .refract
        .prisms()
        .find(visit.account(), &selector)
        .await
    {
        Ok(prism) => Ok(Some(prism)),
        Err(PrismError::NotFound) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Saves the stored draft, with its note, then discards it. A draft that cannot be saved leads to
/// the page that says why.
pub(crate) async fn save(visit: &Visit, editing: &Editing) -> Result<PageReply, PageError> {
    let file = editing.draft.file();
    if !editing.own_problems(visit).await?.is_empty() {
        return Ok(with_problems(editing));
    }
    let prisms = visit.refract.prisms();
    let mut actor = visit.actor();
    match note(editing) {
        Ok(Some(note)) => actor = actor.with_note(note),
        Ok(None) => {}
        Err(_) => return Ok(review(editing)),
    }
    let saved = match &editing.prism {
        None => {
            let slug = Slug::parse(editing.draft.slug.trim());
            prisms
                .create_once(&actor, editing.id, slug.as_ref(), &file)
                .await
        }
        Some(prism) => {
            let selector = PrismSelector::Id(prism.id);
            let saving = prisms.save_version(&actor, &selector, &file, editing.based_on);
            saving.await.map(|(prism, _)| prism)
        }
    };
    match saved {
        Ok(prism) => {
            if let (None, Some(copied)) = (&editing.prism, editing.extras.copied) {
                visit
                    .refract
                    .lenses()
                    .copy(&actor, copied, prism.id)
                    .await?;
            }
            discard(editing, visit).await?;
            Ok(self::saved(editing, &prism))
        }
        Err(PrismError::VersionMeanwhile { .. }) => Ok(review(editing)),
        Err(PrismError::Invalid(_)) => Ok(with_problems(editing)),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The redirect to the form with what is wrong.
fn with_problems(editing: &Editing) -> PageReply {
    PageReply::see_other(&format!("{}?check=1", editing.address()))
}

/// The redirect after the form's prism or its version was saved.
pub(crate) fn saved(editing: &Editing, prism: &Prism) -> PageReply {
    let done = match editing.prism {
        None => "created",
        Some(_) => "saved",
    };
    PageReply::see_other(&format!("{}?done={done}", prism_address(prism)))
}

/// The note of the draft for the event; `None` if nothing was typed.
///
/// # Errors
/// The faults of the note as one text.
pub(crate) fn note(editing: &Editing) -> Result<Option<EventDetail>, String> {
    let typed = &editing.extras.note;
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let note = EventDetail::note(typed);
    note.map(Some).map_err(|errors| describe(typed, &errors))
}

fn review(editing: &Editing) -> PageReply {
    PageReply::see_other(&format!("{}/review", editing.address()))
}
