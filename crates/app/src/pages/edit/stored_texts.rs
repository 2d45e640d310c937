//! `/prisms/{slug}/edit/trial`: the draft tried on stored texts before it is saved: which ones, what
//! it costs, and the button that starts it. A retest asks the draft; its page has the outcome.

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::prism::PrismVersion;
use refract_service::drafts::DraftRevision;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::{
    PlannedVersion, RetestPlan, StartRetestError, StoredRetest, TextChoice,
};
use refract_service::prisms::{Prism, VersionDraft};

use super::draft::DraftKey;
use super::draft_state::named;
use super::editing::{Editing, REVISION, TAB};
use super::keeping;
use super::trial_form::TrialForm;
use crate::components::{
    NoticeKind, PrismTab, count, counted, left_out, notice, price, retest_address,
};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// Shows the page, with the price.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let mut trial = Trial::find(&visit).await?;
    trial.page(&visit, StatusCode::OK).await
}

/// Starts the trial; or leads to the draft's words, and keeps the choice of texts with the draft.
pub(crate) async fn change(visit: Visit) -> Result<PageReply, PageError> {
    let mut trial = Trial::find(&visit).await?;
    let form = &visit.sent.form;
    if form.get("act") == "words" {
        let place = trial.place_of_words();
        let Trial { editing, form, .. } = &mut trial;
        let query = form.query.in_address();
        query
            .trim_start_matches('?')
            .clone_into(&mut editing.extras.choice);
        keeping::keep(editing, &visit).await?;
        let address = format!("{}{place}", editing.address());
        return Ok(PageReply::see_other(&address));
    }
    let kept = &trial.editing.kept;
    let seen = DraftRevision::parse(form.get(REVISION));
    if seen != Some(kept.revision) && form.get(TAB) != kept.tab {
        let fault =
            "Your draft was changed meanwhile. This is the price of its words as they are now.";
        trial.form.errors.note("", fault);
        return trial.page(&visit, StatusCode::CONFLICT).await;
    }
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    if let Some(plan) = trial.plan() {
        let (retests, actor) = (visit.refract.retests(), visit.actor());
        match retests.start(&actor, &trial.lens, &plan).await {
            Ok(id) => return Ok(PageReply::see_other(&retest_address(&trial.lens.prism, id))),
            Err(StartRetestError::Internal(error)) => return Err(error.into()),
            Err(refused) => {
                if let StartRetestError::UnderWay(_) | StartRetestError::TooMany = refused {
                    status = StatusCode::CONFLICT;
                }
                trial.form.errors.note("", &refused);
            }
        }
    }
    trial.page(&visit, status).await
}

/// A draft that is to be tried, and on what.
struct Trial {
    editing: Editing,
    lens: Arc<PrismLens>,
    draft: TriedDraft,
    form: TrialForm,
}

/// Whether a draft can be tried.
enum TriedDraft {
    /// There is no draft.
    Missing,
    /// It has this many problems.
    Invalid(usize),
    /// It can be saved, and so tried.
    Ready(Arc<PrismVersion>),
}

impl Trial {
    async fn find(visit: &Visit) -> Result<Self, PageError> {
        let editing = Editing::find(visit).await?;
        let lens = Arc::new(visit.find_lens().await?);
        let draft = if editing.kept.is_touched() {
            match editing.read_version(visit).await? {
                Ok(draft) => TriedDraft::Ready(Arc::new(draft.file.version)),
                Err(problems) => TriedDraft::Invalid(problems.as_slice().len()),
            }
        } else {
            TriedDraft::Missing
        };
        Ok(Self {
            form: TrialForm::read(visit, &editing, &lens).await?,
            editing,
            lens,
            draft,
        })
    }

    /// What is to be asked; `None` if there is nothing that can be.
    fn plan(&self) -> Option<RetestPlan> {
        let TriedDraft::Ready(draft) = &self.draft else {
            return None;
        };
        let form = &self.form;
        let (texts, from) = form.texts.zip(form.choice.clone())?;
        Some(RetestPlan {
            texts,
            from,
            model: None,
            version: PlannedVersion::Draft(Arc::clone(draft)),
        })
    }

    /// The place in the form of the draft to which the choice belongs.
    fn place_of_words(&self) -> String {
        let Some(TextChoice::Wrong(question)) = &self.form.choice else {
            return String::new();
        };
        let mut questions = self.editing.draft.questions.iter();
        let saved = DraftKey::Saved(question.to_string());
        let place = questions.position(|it| it.key == saved);
        place.map_or_else(String::new, |place| format!("#questions.{place}"))
    }

    async fn page(&mut self, visit: &Visit, status: StatusCode) -> Result<PageReply, PageError> {
        let prism = &self.lens.prism;
        let retests = visit.refract.retests();
        let listed = retests.list(visit.account(), prism.id).await?;
        let mut status = status;
        let mut cost = html! {};
        if prism.archived_at.is_none()
            && let Some(plan) = self.plan()
        {
            match retests.estimate(&self.lens, &plan).await {
                Ok(estimate) if estimate.texts() == 0 => {
                    self.form.errors.note("choice", &StartRetestError::NoTexts);
                    cost = html! { (left_out(&estimate.drawn)) (self.buttons(None)) };
                }
                Ok(estimate) => {
                    cost = html! {
                        h3 { "What it would cost" }
                        (price(&estimate, visit.refract.token_price()))
                        (left_out(&estimate.drawn))
                        (self.buttons(Some(estimate.texts())))
                    };
                }
                Err(StartRetestError::Internal(error)) => return Err(error.into()),
                Err(refused) => self.form.errors.note("choice", &refused),
            }
        }
        if status == StatusCode::OK && !self.form.errors.is_empty() {
            status = StatusCode::UNPROCESSABLE_ENTITY;
        }
        let own = own_trial(visit, &listed, &self.lens.latest);
        let main = html! {
            p.soft { a href=(self.editing.address()) { "Your words" } }
            h2 { "Try other words on stored texts" }
            p {
                "Your draft is asked about texts that are stored. It stays a draft, and no result is made: "
                "you see which answers change, and where texts are marked, which get better or worse."
            }
            @let fault = self.form.errors.of("");
            @if !fault.is_empty() { (notice(NoticeKind::Refused, &html! { (fault) })) }
            (self.hindrance(&listed))
            (self.form.markup(&self.lens, own))
            section #estimate {
                @if cost.0.is_empty() { (self.buttons(None)) } @else { (cost) }
            }
            @if let Some(own) = own { (tried_before(prism, own, self.ready())) }
        };
        let title = format!("Try other words · {}", prism.name);
        let page = visit.prism_page(prism, PrismTab::Edit, title, &main);
        Ok(page.script("stale.js").status(status).reply())
    }

    fn ready(&self) -> Option<&PrismVersion> {
        match &self.draft {
            TriedDraft::Ready(draft) => Some(draft),
            TriedDraft::Missing | TriedDraft::Invalid(_) => None,
        }
    }

    /// Why nothing can be started now.
    fn hindrance(&self, listed: &[StoredRetest]) -> Markup {
        let prism = &self.lens.prism;
        let under_way = listed.iter().find(|retest| retest.state.is_under_way());
        let words = match &self.draft {
            _ if prism.archived_at.is_some() => {
                html! { "This prism is archived, so no model is asked." }
            }
            TriedDraft::Missing => {
                html! { "You have no draft of this prism. Change its words first: the choice of texts is kept with your draft." }
            }
            TriedDraft::Invalid(problems) => html! {
                "Your draft has " (counted(*problems, "thing")) " to put right first. "
                a href={ (self.editing.address()) "?check=1" } { "Show them" }
            },
            TriedDraft::Ready(_) => match under_way {
                Some(retest) => html! {
                    "Texts of this prism are being asked about already. "
                    a href=(retest_address(prism, retest.id)) { "See or stop it" }
                },
                None => return html! {},
            },
        };
        notice(NoticeKind::Warning, &words)
    }

    /// The buttons that start the trial, if texts can be asked about, and that lead to the words.
    fn buttons(&self, texts: Option<usize>) -> Markup {
        let address = format!("{}/trial", self.editing.address());
        let is_first = texts.is_none();
        html! {
            form method="post" action={ (address) (self.form.query.in_address()) } {
                (named(&self.editing))
                div.row {
                    @if let Some(texts) = texts {
                        button.main type="submit" name="act" value="start" { "Try it on " (counted(texts, "text")) }
                    }
                    @if self.lens.prism.archived_at.is_none() {
                        button.main[is_first] type="submit" name="act" value="words" {
                            "Change the words" @if !is_first { " first" }
                        }
                    }
                }
            }
        }
    }
}

/// The newest trial of the visitor's own drafts, unless its words are saved.
fn own_trial<'a>(
    visit: &Visit,
    listed: &'a [StoredRetest],
    latest: &PrismVersion,
) -> Option<&'a StoredRetest> {
    let person = visit.visitor.person;
    let mut listed = listed.iter();
    let newest = listed.find(|it| it.drawn.draft.is_some() && it.actor == Some(person));
    newest.filter(|it| it.drawn.draft.as_ref() != Some(latest))
}

/// What the newest trial of the visitor's own drafts found, for the page before saving.
pub(super) async fn last_trial(
    visit: &Visit,
    prism: &Prism,
    draft: &VersionDraft,
) -> Result<Markup, PageError> {
    let listed = visit
        .refract
        .retests()
        .list(visit.account(), prism.id)
        .await?;
    let own = own_trial(visit, &listed, draft.latest());
    let words = Some(&draft.file.version);
    Ok(own.map_or_else(|| html! {}, |own| tried_before(prism, own, words)))
}

fn tried_before(prism: &Prism, trial: &StoredRetest, draft: Option<&PrismVersion>) -> Markup {
    let counts = trial.counts;
    html! {
        p #tried {
            a href=(retest_address(prism, trial.id)) {
                "Tried on " (count(counts.answered)) " of " (counted(counts.texts, trial.drawn.from.noun()))
            }
            @match trial.flips {
                _ if trial.state.is_under_way() => ", and going on.",
                Some(flips) => { ": " strong { (counted(flips, "answer")) } @if flips == 1 { " changes." } @else { " change." } }
                None => ".",
            }
            @if trial.drawn.draft.as_ref() != draft { " By your words before the last change." }
        }
    }
}
