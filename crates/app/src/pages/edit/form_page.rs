//! The page with the form, and a draft's answers to a person's own test texts beside the words.

use maud::{Markup, html};

use super::draft_state::{self, conflict, done, draft_bar, named};
use super::editing::{ASKED, COPIED, CheckedDraft, Editing, NAMED, NEW_ID};
use super::inputs::{Inputs, headings, jumps, question};
use super::item_keys::made_keys;
use super::trial::{MOST_TEXTS, TriedOutcome, TriedTexts, is_blank};
use crate::components::{NoticeKind, PrismTab, bar, notice};
use crate::replies::{Page, PageError, Section};
use crate::requests::{Visit, off_event_loop};

/// A draft with the content of its form.
pub(crate) struct MadeForm {
    editing: Editing,
    checked: CheckedDraft,
    pub(crate) form: Markup,
}

/// Makes the content of the form on a thread of its own: that of a large prism takes so long that
/// other visitors would notice.
pub(crate) async fn made(editing: Editing, checked: CheckedDraft) -> Result<MadeForm, PageError> {
    off_event_loop(move || MadeForm {
        form: inside(&editing, &checked),
        editing,
        checked,
    })
    .await
}

/// The page.
pub(crate) fn show<'a>(visit: &'a Visit, made: &MadeForm) -> Page<'a> {
    let MadeForm {
        editing,
        checked,
        form,
    } = made;
    let main = html! {
        @if editing.prism.is_none() { h1 { "New prism" } }
        @if let Some(notice) = visit.done(done) { (notice) }
        @if checked.is_asked && !checked.problems.is_empty() {
            (notice(NoticeKind::Refused, &html! { "Nothing was saved. What is to be put right is listed under State." }))
        }
        @if !editing.extras.proposed.is_empty() {
            (notice(NoticeKind::Warning, &html! { "Nothing is saved yet. Words without Latin letters got a proposed key, by how they sound. Callers write keys for ever: change them now if you like, and go on." }))
        }
        p.unseen #edit-status role="status" { (editing.extras.acted.message) }
        p #warning.notice.refused role="alert" hidden {}
        (draft_bar(visit, editing))
        form #edit.edit method="post" action=(editing.address()) autocomplete="off" novalidate { (form) }
    };
    let page = match &editing.prism {
        Some(prism) => {
            let title = format!("Edit · {}", prism.name);
            visit.prism_page(prism, PrismTab::Edit, title, &main)
        }
        None => visit.page("New prism", main).section(Section::Prisms),
    };
    page.script("edit.js")
}

/// The content of the form.
fn inside(editing: &Editing, checked: &CheckedDraft) -> Markup {
    let keys = made_keys(&editing.draft, &editing.base)
        .into_iter()
        .collect();
    let inputs = Inputs {
        checked,
        focus: &editing.extras.acted.focus,
        base: &editing.base,
        keys: &keys,
        proposed: &editing.extras.proposed,
    };
    html! {
        // the Enter key presses the first button of a form
        button.unseen type="submit" name="act" value="refresh" tabindex="-1" aria-hidden="true" { "Refresh" }
        (origin(editing))
        @if checked.is_asked && !checked.problems.is_empty() {
            input type="hidden" name=(ASKED) value="1";
        }
        span #acted hidden { (editing.extras.acted.message) }
        (conflict(editing))
        div.columns {
            aside {
                (buttons(editing))
                div #state role="region" aria-label="State of the form" tabindex="0" { (draft_state::panel(editing, checked)) }
                (jumps(&editing.draft))
                (test_texts(inputs, editing))
            }
            div { (words(inputs, editing)) }
        }
    }
}

/// The buttons that go on, before everything else in the order of the keyboard.
fn buttons(editing: &Editing) -> Markup {
    html! {
        div.row {
            @if editing.prism.is_some() {
                button.main #review type="submit" name="act" value="review" { "Review changes" }
            } @else {
                button.main #review type="submit" name="act" value="save" { "Create the prism" }
            }
            button type="submit" name="act" value="check" { "Check" }
            span.hint.with-script { kbd { "Ctrl" } " " kbd { "S" } }
        }
        @if editing.extras.removed.is_some() {
            p.row.undo {
                (editing.extras.acted.message) " "
                button type="submit" name="act" value="undo" id="undo" { "Undo" }
            }
        }
    }
}

/// The inputs of the prism's words.
fn words(inputs: Inputs<'_>, editing: &Editing) -> Markup {
    let draft = &editing.draft;
    let is_large = draft.is_large();
    html! {
        @if editing.prism.is_some() {
            (inputs.line("name", "Name", &draft.name))
        } @else {
            div.question-words { (inputs.line("name", "Name", &draft.name)) (inputs.slug(&draft.slug)) }
            p.hint { "Callers write the slug in addresses: it is for ever once the prism is made." }
        }
        h2 { "Fields" }
        p.hint { "What a call sends to be judged. Callers write the keys, so a saved key is for ever." }
        (inputs.list_error("fields"))
        (headings("field-item", &["Label", "Key"]))
        ol.outcomes {
            @for (place, field) in draft.fields.iter().enumerate() {
                @let path = format!("fields.{place}");
                li.item.field-item #(path) data-item=(path) {
                    (inputs.line(&format!("{path}.label"), "Label", &field.label))
                    (inputs.key(&path, &field.key))
                    (inputs.rearranging(&path, place, draft.fields.len(), &format!("field {}", place + 1)))
                }
            }
        }
        (inputs.adding("fields.add", "Add a field"))
        (inputs.area("context", "Context", &draft.context, "What the model should know with every text; may stay empty.", 3))
        h2 { "Questions" }
        p.hint { "A saved question keeps its key and its type for ever, since callers rely on them." }
        (inputs.list_error("questions"))
        @for (place, one) in draft.questions.iter().enumerate() {
            (question(inputs, one, place, draft.questions.len(), is_large))
        }
        div.row {
            (inputs.adding("questions.add.choice", "Add a choice"))
            (inputs.adding("questions.add.yes_no", "Add a yes / no"))
            (inputs.adding("questions.add.scale", "Add a scale"))
        }
    }
}

/// Hidden inputs with the origin of the form: the version and name it was made from, and the
/// stored draft that it shows.
fn origin(editing: &Editing) -> Markup {
    html! {
        (named(editing))
        @if let Some(based_on) = editing.based_on {
            input type="hidden" name="based_on" value=(based_on);
        }
        @match &editing.prism {
            Some(prism) => { textarea name=(NAMED) hidden { "\n" (prism.name) } }
            None => {
                input type="hidden" name=(NEW_ID) value=(editing.id);
                @if let Some(copied) = editing.extras.copied { input type="hidden" name=(COPIED) value=(copied); }
            }
        }
    }
}

/// The test texts beside the words, with the draft's answers.
pub(crate) fn test_texts(inputs: Inputs<'_>, editing: &Editing) -> Markup {
    let extras = &editing.extras;
    let blank = [vec![String::new(); editing.draft.fields.len().max(1)]];
    let texts = if extras.texts.is_empty() {
        &blank[..]
    } else {
        &extras.texts
    };
    let is_used = !extras.texts.iter().all(|text| is_blank(text)) || !extras.choice.is_empty();
    html! {
        details #texts.test-texts open[is_used] {
            summary { "Test texts" }
            @for (place, text) in texts.iter().enumerate() {
                div.test-text {
                    @for (field, value) in field_values(editing, text) {
                        @let name = format!("texts.{place}.{field}");
                        (inputs.area(&name, &label(editing, place, field), value, "", 2))
                    }
                    @if texts.len() > 1 {
                        button.quiet type="submit" name="act" value={ "texts." (place) ".remove" }
                            aria-label={ "Remove test text " (place + 1) } { "Remove" }
                    }
                    @if let Some(trial) = &extras.own { (own_answers(trial, text, editing)) }
                }
            }
            div.row {
                button type="submit" name="act" value="test" id="test" { "Answer" }
                @if texts.len() < MOST_TEXTS { (inputs.adding("texts.add", "Add a text")) }
            }
            p.hint { "Your words answer, saved or not. It asks the model and makes no results." }
            @if editing.prism.is_some() {
                button type="submit" name="act" value="trial" { "Try them on stored texts" }
            }
        }
    }
}

/// The values of a test text, one for each field of the draft.
fn field_values<'a>(
    editing: &Editing,
    text: &'a [String],
) -> impl Iterator<Item = (usize, &'a str)> {
    let fields = editing.draft.fields.len().max(1);
    (0..fields).map(|place| (place, text.get(place).map_or("", String::as_str)))
}

fn label(editing: &Editing, place: usize, field: usize) -> String {
    let text = format!("Test text {}", place + 1);
    match editing.draft.fields.get(field) {
        Some(named) if editing.draft.fields.len() > 1 => format!("{text}, {}", named.label),
        Some(_) | None => text,
    }
}

fn own_answers(trial: &TriedTexts, text: &[String], editing: &Editing) -> Markup {
    let Some(tried) = trial.texts.iter().find(|tried| tried.own == text) else {
        return html! {};
    };
    html! {
        @if !trial.is_of(&editing.draft) { p.hint { "By your words before the last change:" } }
        @if !tried.error.is_empty() { p.fault { (tried.error) } }
        ul.test-answers {
            @for answer in &tried.answers {
                li {
                    span.text.soft dir="auto" { (answer.text) } " "
                    @if let Some(now) = &answer.now { (outcome(now)) }
                }
            }
        }
    }
}

fn outcome(outcome: &TriedOutcome) -> Markup {
    html! {
        bdi { (outcome.label) }
        @if let Some(probability) = outcome.probability() { " " (bar(probability, true)) }
    }
}
