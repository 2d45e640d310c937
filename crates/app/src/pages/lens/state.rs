//! What of a lens page is shown, as its address has it; and the draft of a lens as it is kept on
//! the server, by person and prism.

use chrono::{DateTime, Utc};
use form_urlencoded::Serializer;
use refract_service::drafts::{DraftKind, DraftOutcome, DraftPlace, DraftRevision};
use refract_service::lenses::{DraftRows, PrismLens};
use refract_service::marks::QueueKind;
use refract_service::prisms::Prism;
use serde::{Deserialize, Serialize};

use super::lens_form::{ALSO, LensForm, to_share};
use crate::components::prism_address;
use crate::replies::PageError;
use crate::requests::{Form, Query, Visit};

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

/// The part of a page's state that is not in the draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LensView {
    /// Whether the newest results are listed instead of the changed ones.
    pub(super) is_newest: bool,
    /// The precision in percent, as typed, for which cutoffs were looked for last.
    pub(super) advised: Option<String>,
}

impl LensView {
    /// The view of an address.
    pub(super) fn of_query(query: &Query) -> Self {
        Self {
            is_newest: query.get("show") == Some("newest"),
            advised: query.get("advised").map(ToOwned::to_owned),
        }
    }

    /// The view after a submitted form's button.
    pub(super) fn of_form(form: &Form) -> Self {
        let act = form.get("act");
        let was_newest = form.get("show") == "newest";
        let typed = |name| form.get(name).trim().chars().take(12).collect();
        Self {
            is_newest: act == "newest" || (was_newest && act != "changed"),
            advised: (act == "advise").then(|| typed("precision")),
        }
    }

    /// The rows to list below the column in the middle.
    pub(super) fn rows(&self, form: &LensForm) -> DraftRows {
        if self.is_newest {
            DraftRows::Newest
        } else {
            DraftRows::Changed {
                near: form.chosen(),
                skip: 0,
            }
        }
    }

    /// The query string of the page with this view of a form.
    pub(super) fn query(&self, form: &LensForm) -> Vec<(&'static str, String)> {
        let place = |name, place: Option<usize>| Some((name, place?.to_string()));
        let parts = [
            place("column", form.chosen()),
            place("open", form.open()),
            self.is_newest.then(|| ("show", "newest".to_owned())),
            self.advised.clone().map(|advised| ("advised", advised)),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// The address of a prism's lens page.
pub(super) fn address(prism: &Prism, query: &[(&'static str, String)]) -> String {
    let page = format!("{}/lens", prism_address(prism));
    if query.is_empty() {
        return page;
    }
    let query = Serializer::new(String::new()).extend_pairs(query).finish();
    format!("{page}?{query}")
}

/// The query of the page with all results that a draft changes.
pub(super) fn changed_query(lens: &PrismLens, form: &LensForm) -> String {
    let column = form.chosen().map(|place| ("column", place.to_string()));
    let pairs = column.into_iter().chain(cutoffs_query(lens, form));
    let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
    if query.is_empty() {
        query
    } else {
        format!("?{query}")
    }
}

/// The address of the queue of results near the cutoffs in force of a question.
pub(super) fn near_queue(prism: &Prism, question: &str) -> String {
    let pairs = [("queue", QueueKind::Near.name()), ("question", question)];
    let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("{}/review?{query}", prism_address(prism))
}

/// The cutoffs of the column in the middle, and those that were moved in other columns, for an
/// address, which shows them to anybody.
pub(super) fn cutoffs_query(lens: &PrismLens, form: &LensForm) -> Vec<(&'static str, String)> {
    let Some(column) = form.chosen_column() else {
        return Vec::new();
    };
    let moved = form.moved_beside(&LensForm::of(lens.columns().lens));
    let share = |name, percent: &str| Some((name, to_share(percent.trim())?));
    let parts = [
        Some(("question", column.question().to_owned())),
        share("no_below", &column.no_below),
        share("yes_from", &column.yes_from),
        (!moved.is_empty()).then_some((ALSO, moved)),
    ];
    parts.into_iter().flatten().collect()
}
