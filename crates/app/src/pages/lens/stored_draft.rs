//! The draft of a lens as it is kept on the server, by person and prism.

use chrono::{DateTime, Utc};
use refract_service::drafts::{DraftKind, DraftOutcome, DraftPlace, DraftRevision};
use refract_service::lenses::PrismLens;
use serde::{Deserialize, Serialize};

use super::lens_form::LensForm;
use crate::replies::PageError;
use crate::requests::Visit;

/// What is stored.
#[derive(Deserialize, Serialize)]
struct DraftText {
    /// The revision of the lens that the draft began from.
    based_on: i32,
    #[serde(flatten)]
    form: LensForm,
}

/// A draft, or the lens itself for a person without a draft.
pub(super) struct LensDraftForm {
    pub(super) form: LensForm,
    /// The revision of the lens that the form began from.
    pub(super) based_on: i32,
    /// The revision of the draft, for the next change of it.
    pub(super) revision: DraftRevision,
    /// When the draft was last changed; `None` without a draft.
    pub(super) saved_at: Option<DateTime<Utc>>,
}

impl LensDraftForm {
    /// Whether another lens was saved since the draft began.
    pub(super) fn is_overtaken(&self, lens: &PrismLens) -> bool {
        self.based_on != lens.prism.lens_revision
    }
}

/// The button that keeps the draft of its page in place of the one of another tab, with the revision of
/// that.
pub(super) const INSTEAD: &str = "instead";

/// Whether a draft is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// The draft has this revision now.
    Kept(DraftRevision),
    /// The draft was changed in another tab meanwhile, and has this revision now.
    Meanwhile(DraftRevision),
}

/// The visitor's draft, or the lens itself.
pub(super) async fn find(visit: &Visit, lens: &PrismLens) -> Result<LensDraftForm, PageError> {
    let found = visit.refract.drafts().find(place(visit, lens)).await?;
    let saved_at = found.content.as_ref().map(|content| content.saved_at);
    // a draft of a later release that this one cannot read stays unchanged
    let text = found
        .content
        .and_then(|content| serde_json::from_str(&content.text).ok());
    let text = text.unwrap_or_else(|| DraftText {
        based_on: lens.prism.lens_revision,
        form: LensForm::of(lens.columns().lens),
    });
    Ok(LensDraftForm {
        form: text.form,
        based_on: text.based_on,
        revision: found.revision,
        saved_at,
    })
}

/// Keeps a submitted draft in place of the one that its page showed. A draft that is the lens itself
/// is none. Where the draft that the page showed became a lens in another tab, there is none to replace.
pub(super) async fn keep(
    visit: &Visit,
    lens: &PrismLens,
    form: &LensForm,
) -> Result<Keeping, PageError> {
    let based_on = based_on(visit, lens);
    let is_overtaken = based_on != lens.prism.lens_revision;
    let is_lens = form.file() == LensForm::of(lens.columns().lens).file();
    if is_lens && (is_overtaken || form.note.trim().is_empty()) {
        return discard(visit, lens).await;
    }
    let text = DraftText {
        based_on,
        form: form.clone(),
    };
    // names and numbers can always be written as JSON
    let text = serde_json::to_string(&text).unwrap_or_default();
    let drafts = visit.refract.drafts();
    let place = place(visit, lens);
    match drafts.save(place, seen(visit), text.clone()).await? {
        DraftOutcome::Meanwhile(present) if is_overtaken && present.content.is_none() => {
            Ok(drafts.save(place, present.revision, text).await?.into())
        }
        outcome @ (DraftOutcome::Saved(_) | DraftOutcome::Meanwhile(_)) => Ok(outcome.into()),
    }
}

/// Discards the draft that the submitted page showed, if it is not gone already.
pub(super) async fn discard(visit: &Visit, lens: &PrismLens) -> Result<Keeping, PageError> {
    let drafts = visit.refract.drafts();
    let discarding = drafts.discard(place(visit, lens), seen(visit));
    Ok(match discarding.await? {
        DraftOutcome::Meanwhile(present) if present.content.is_none() => {
            Keeping::Kept(present.revision)
        }
        outcome @ (DraftOutcome::Saved(_) | DraftOutcome::Meanwhile(_)) => outcome.into(),
    })
}

/// Discards the draft that was saved as the lens. A preview of the same columns that was under way
/// meanwhile is this draft too; a draft of other columns, of another tab, stays.
pub(super) async fn discard_saved(
    visit: &Visit,
    lens: &PrismLens,
    saved: &LensForm,
) -> Result<(), PageError> {
    let Keeping::Meanwhile(present) = discard(visit, lens).await? else {
        return Ok(());
    };
    if find(visit, lens).await?.form.file() == saved.file() {
        let drafts = visit.refract.drafts();
        drafts.discard(place(visit, lens), present).await?;
    }
    Ok(())
}

impl From<DraftOutcome> for Keeping {
    fn from(outcome: DraftOutcome) -> Self {
        match outcome {
            DraftOutcome::Saved(revision) => Self::Kept(revision),
            DraftOutcome::Meanwhile(present) => Self::Meanwhile(present.revision),
        }
    }
}

/// The revision of the lens that the submitted draft began from.
pub(super) fn based_on(visit: &Visit, lens: &PrismLens) -> i32 {
    let sent = visit.sent.form.get("revision").parse();
    sent.unwrap_or(lens.prism.lens_revision)
}

/// The revision of the draft that the submitted page showed, or that it replaces on purpose.
fn seen(visit: &Visit) -> DraftRevision {
    let form = &visit.sent.form;
    let name = if form.has(INSTEAD) { INSTEAD } else { "draft" };
    DraftRevision::parse(form.get(name)).unwrap_or_default()
}

fn place(visit: &Visit, lens: &PrismLens) -> DraftPlace {
    DraftPlace {
        person: visit.visitor.person,
        prism: Some(lens.prism.id),
        kind: DraftKind::Lens,
    }
}
