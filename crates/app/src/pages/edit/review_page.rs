//! The page before saving: the changes, and both versions on stored texts.

use maud::{Markup, html};
use refract_authoring::wording::lint_questions;
use refract_domain::answer::{Answer, most_probable};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;
use refract_service::prisms::{DraftTrialCost, TrialPair, VersionDraft};

use super::draft_form::WHOLE;
use super::editing::Editing;
use super::form_page::origin;
use super::place_description::describe;
use super::state_panel::MOST_WARNINGS;
use crate::components::bar::bar;
use crate::components::differences::differences;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::components::prism_tabs::PrismTab;
use crate::components::table::table;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The content of the page.
pub(crate) struct Review<'a> {
    pub(crate) editing: &'a Editing,
    pub(crate) draft: &'a VersionDraft,
    /// The cost of trying the draft on stored texts.
    pub(crate) cost: DraftTrialCost,
    /// The outcome of the trial; `None` unless requested.
    pub(crate) pairs: Option<Vec<TrialPair>>,
}

/// The page.
pub(crate) fn show(visit: &Visit, review: &Review<'_>) -> PageReply {
    let Review {
        editing,
        draft,
        cost,
        pairs,
    } = review;
    let prism = &draft.prism;
    let changes = draft.differences();
    let new_name = draft.file.name.as_str();
    let is_renamed = prism.name != new_name;
    let typed = &editing.draft;
    let warnings = lint_questions(&draft.file.version, |place| {
        let question = typed.questions.get(place);
        let is_changed = question.is_some_and(|question| !editing.base.has(question));
        is_changed || !typed.is_large()
    });
    let next = prism.latest_version.next();
    let main = html! {
        h2 { "What changes against version " (prism.latest_version) }
        @if is_renamed { p { "The prism is called " bdi { (new_name) } ". Its slug stays." } }
        @if changes.is_empty() && !is_renamed {
            p { "Nothing changes." }
        }
        (differences(&changes))
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
        form method="post" action=(editing.address()) {
            (carried(editing))
            div.row {
                @if let (Some(next), true) = (next, is_renamed || !changes.is_empty()) {
                    button.main type="submit" name="act" value="save" { "Save version " (next) }
                }
                button type="submit" name="act" value="edit" { "Go on editing" }
                @if cost.texts > 0 && prism.archived_at.is_none() {
                    button type="submit" name="act" value="try" { "Try it on stored texts" }
                }
            }
            @if cost.texts > 0 && prism.archived_at.is_none() { (trial_hint(*cost)) }
        }
        @if let Some(pairs) = pairs {
            h2 { "Your version beside stored answers" }
            p { "No result was made, and no stored result was changed." }
            @if pairs.is_empty() { p { "No stored text has every field of your version." } }
            @for pair in pairs { (tried(pair, &draft.file.version)) }
        }
    };
    let page = visit.prism_page(prism, PrismTab::Edit, "Review", &main);
    page.reply()
}

/// The draft as hidden inputs of another form.
pub(crate) fn carried(editing: &Editing) -> Markup {
    html! {
        textarea name=(WHOLE) hidden { "\n" (editing.base.carry(&editing.draft)) }
        (origin(editing))
    }
}

/// The cost of a trial in words: the number of texts sent to the model, and that nothing is saved.
fn trial_hint(cost: DraftTrialCost) -> Markup {
    html! {
        p.hint {
            "Asks your version about " (counted(cost.texts, "text"))
            " of those answered last, and shows its answers beside the stored ones: "
            @if cost.requests == 0 { "the built-in scorer answers, no model request is sent. " }
            @else {
                "about " (counted(cost.requests, "model request"))
                ", at most twice as many where the model is busy. "
            }
            "Nothing of it is saved: it makes no results."
        }
    }
}

fn tried(pair: &TrialPair, version: &PrismVersion) -> Markup {
    let old = pair.stored.view();
    let stored = format!("Stored, by version {}", old.version);
    let before = |question: &Question| {
        let asked = old
            .questions
            .iter()
            .find(|other| other.key == question.key)?;
        Some(answer(asked, old.status.answers()?.get(&asked.key)?))
    };
    let rows = html! {
        @for question in version.questions() {
            tr {
                th scope="row" { span.text dir="auto" { (question.text) } }
                td { @match before(question) { Some(shown) => { (shown) } None => { span.soft { "not asked" } } } }
                td {
                    @if let Ok(answers) = &pair.answers {
                        @if let Some(found) = answers.get(&question.key) { (answer(question, found)) }
                    }
                }
            }
        }
    };
    html! {
        @for (key, value) in pair.stored.submission().fields() {
            p { code { (key) } " " span.text dir="auto" { (value.chars().take(300).collect::<String>()) } }
        }
        @if let Err(failure) = &pair.answers {
            (notice(NoticeKind::Refused, &html! { (failure) }))
        }
        (table("Answers of both versions about this text", &["Question", &stored, "Your version"], &rows))
    }
}

fn answer(question: &Question, answer: &Answer) -> Markup {
    let named = match answer {
        Answer::Choice {
            value,
            probabilities,
            ..
        } => value.as_ref().or_else(|| most_probable(probabilities)),
        Answer::Scale { level, .. } => Some(level),
        Answer::YesNo { probability } => return html! { "Yes " (bar(*probability, true)) },
    };
    let label = named.and_then(|key| question.label_of(key));
    let probability = named.and_then(|key| answer.probability_of(key));
    html! {
        bdi { (label.unwrap_or("none of the options")) }
        @if let Some(probability) = probability { " " (bar(probability, true)) }
    }
}
