//! The page before saving: the changes, and both versions on stored texts. When somebody saved another
//! version meanwhile: what that changed, what this person changed, and what saving on top would do.

use std::sync::Arc;

use maud::{Markup, html};
use refract_authoring::version_difference::VersionDifference;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::problem::Problems;
use refract_service::prisms::{
    ChangeOfPrism, DraftTrialCost, PrismChange, SavedMeanwhile, VersionDraft,
};

use super::draft_state::{MOST_WARNINGS, describe, draft_bar, named};
use super::editing::Editing;
use super::example_check::DraftExamples;
use super::keeping::note;
use crate::components::{
    FormField, NoticeKind, PrismTab, counted, differences, fault_sentence, moment, notice,
    prism_address,
};
use crate::replies::{PageError, PageReply};
use crate::requests::{Visit, off_event_loop};

/// The content of the page.
pub(crate) struct Review<'a> {
    pub(crate) editing: &'a Editing,
    pub(crate) draft: &'a VersionDraft,
    pub(crate) changes: &'a DraftChanges,
    /// What the last trial on stored texts found.
    pub(crate) tried: Markup,
    /// The prism's examples.
    pub(super) examples: DraftExamples,
}

/// What a draft changes. A version may have 25,300 options.
pub(crate) struct DraftChanges {
    is_empty: bool,
    list: Markup,
    /// About the wording of what changed.
    warnings: Vec<WordingWarning>,
}

impl DraftChanges {
    /// Compares a draft with the version that it follows.
    pub(crate) async fn of(
        editing: &Editing,
        draft: &Arc<VersionDraft>,
    ) -> Result<Self, PageError> {
        let is_small = !editing.draft.is_large();
        let questions = editing.draft.questions.iter();
        let linted: Vec<bool> = questions
            .map(|question| is_small || !editing.base.has(question))
            .collect();
        let draft = Arc::clone(draft);
        off_event_loop(move || {
            let changes = draft.differences();
            Self {
                is_empty: changes.is_empty(),
                list: differences(&changes),
                warnings: lint_questions(&draft.file.version, |place| {
                    linted.get(place).copied().unwrap_or(is_small)
                }),
            }
        })
        .await
    }
}

/// The page.
pub(crate) fn show(visit: &Visit, review: &Review<'_>) -> PageReply {
    let Review {
        editing,
        draft,
        changes,
        ..
    } = review;
    let prism = &draft.prism;
    let new_name = draft.file.name.as_str();
    let is_renamed = prism.name != new_name;
    let is_changed = is_renamed || !changes.is_empty;
    let main = html! {
        (draft_bar(visit, editing))
        (review.examples.markup())
        h2 { "What changes against version " (prism.latest_version) }
        @if is_renamed { p { "The prism is called " bdi { (new_name) } ". Its slug stays." } }
        @if !is_changed { p { "Nothing changes." } }
        (changes.list)
        (wording(&changes.warnings))
        (form(review, is_changed))
    };
    let title = format!("Review · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Edit, title, &main);
    page.script("edit.js").reply()
}

/// The warnings about the wording of what changed.
fn wording(warnings: &[WordingWarning]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            (notice(NoticeKind::Warning, &html! {
                "About the wording:"
                ul {
                    @for warning in warnings.iter().take(MOST_WARNINGS) {
                        li { (describe(&warning.path)) ": " bdi { (warning.message) } "." }
                    }
                    @if warnings.len() > MOST_WARNINGS { li { "and more of them" } }
                }
            }))
        }
    }
}

/// The form that saves the version, or tries it.
fn form(review: &Review<'_>, is_changed: bool) -> Markup {
    let Review { editing, draft, .. } = review;
    let next = draft.prism.latest_version.next().filter(|_| is_changed);
    let is_active = draft.prism.archived_at.is_none();
    let unasked = review.examples.cost.texts;
    let reason = FormField::new("note", "Why")
        .value(&editing.extras.note)
        .hint("Kept with the version, for those who read its history; may stay empty.")
        .error(note(editing).err().unwrap_or_default());
    html! {
        p #warning.notice.refused role="alert" hidden {}
        form #before-saving.wide method="post" action={ (editing.address()) "/draft" } {
            (named(editing))
            (reason.area(2))
            div.row {
                @if let Some(next) = next {
                    button.main type="submit" name="act" value="save" { "Save version " (next) }
                    span.hint.with-script { kbd { "Ctrl" } " " kbd { "S" } }
                }
                a.button href=(editing.address()) { "Go on editing" }
            }
            @if unasked > 0 && is_active {
                div.row {
                    button type="submit" name="act" value="examples" { "Check " (counted(unasked, "example")) }
                }
                (check_hint(review.examples.cost))
            }
            @if is_active {
                div.row {
                    button type="submit" name="act" value="trial" { "Try it on stored texts" }
                    span.hint { "See which answers change before you save." }
                }
                (review.tried)
            }
        }
    }
}

/// The cost of a check in words: the number of texts sent to the model, and that nothing is saved.
fn check_hint(cost: DraftTrialCost) -> Markup {
    html! {
        p.hint {
            "Asks your version about " (counted(cost.texts, "text"))
            ", and shows its answers beside the others: "
            @if cost.requests == 0 { "the built-in scorer answers, no model request is sent. " }
            @else {
                "about " (counted(cost.requests, "model request"))
                ", at most twice as many where the model is busy. "
            }
            "Nothing of it is saved: it makes no results."
        }
    }
}

/// The page.
pub(crate) async fn show_meanwhile(
    visit: &Visit,
    editing: &Editing,
) -> Result<PageReply, PageError> {
    let account = visit.account();
    let (selector, file) = (visit.prism()?, editing.draft.file());
    let based_on = editing.based_on.ok_or(PageError::NoForm)?;
    let prisms = visit.refract.prisms();
    let comparing = prisms.saved_meanwhile(account, &selector, &file, based_on);
    let meanwhile = comparing.await?;
    let SavedMeanwhile {
        prism,
        saved,
        theirs,
        mine,
        on_top,
    } = &meanwhile;
    let latest = prism.latest_version;
    let new_name = editing.draft.name.trim();
    let main = html! {
        (notice(NoticeKind::Refused, &html! {
            "Version " (latest) " was saved while you edited version " (based_on)
            ". Nothing of yours is lost: your draft is kept."
        }))
        div.split {
            section {
                h2 { "What was saved meanwhile" }
                ul.plain { @for change in saved { li { (saved_by(change, &prism_address(prism))) } } }
                h3 { "Changes against version " (based_on) }
                (changes(theirs))
            }
            section {
                h2 { "What you changed" }
                @if new_name != prism.name { p { "You call the prism " bdi { (new_name) } "." } }
                h3 { "Changes against version " (based_on) }
                @match mine { Ok(mine) => { (changes(mine)) } Err(problems) => { (wrong(problems)) } }
            }
        }
        h2 { "If you save yours on top of version " (latest) }
        @match on_top {
            Ok(on_top) => {
                p { "Your version takes the place of version " (latest) " as a whole. Against it, this changes:" }
                (changes(on_top))
            }
            Err(problems) => { (wrong(problems)) }
        }
        form method="post" action={ (editing.address()) "/draft" } {
            (named(editing))
            input type="hidden" name="onto" value=(latest);
            div.row {
                button.main type="submit" name="act" value="on_top" { "Go on with yours, on top of version " (latest) }
                button type="submit" name="act" value="discard" { "Take version " (latest) " and discard yours" }
            }
            p.hint { "Going on opens your form again with everything that you typed. Review lists these changes once more before you save." }
        }
    };
    let title = format!("Saved meanwhile · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Edit, title, &main);
    Ok(page.reply())
}

/// Who saved a version, and when.
fn saved_by(change: &PrismChange, prism: &str) -> Markup {
    html! {
        @if let ChangeOfPrism::Version(number) = change.what {
            a href={ (prism) "/versions/" (number) } { "Version " (number) }
        }
        ", saved by "
        @match &change.actor { Some(name) => { bdi { (name) } } None => "the terminal" }
        ", " (moment(change.made_at))
    }
}

fn changes(found: &[VersionDifference]) -> Markup {
    html! { @if found.is_empty() { p { "Nothing." } } @else { (differences(found)) } }
}

fn wrong(problems: &Problems) -> Markup {
    html! {
        p { "Before yours can be saved, this is to be put right:" }
        ul.problems {
            @for problem in problems.as_slice() {
                li { (describe(&problem.path)) ": " (fault_sentence(&problem.error)) }
            }
        }
    }
}
