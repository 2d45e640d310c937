//! The page with the form.

use maud::{Markup, html};

use super::act::FormAction;
use super::editing::{ASKED, CheckedDraft, Editing, NAMED};
use super::inputs::Inputs;
use super::question_inputs::question;
use super::state_panel;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::PrismTab;
use crate::replies::page::{Page, Section};
use crate::requests::visit::Visit;

/// The page after an action, or without one.
pub(crate) fn show<'a>(
    visit: &'a Visit,
    editing: &Editing,
    checked: &CheckedDraft,
    acted: &FormAction,
) -> Page<'a> {
    let main = html! {
        @if editing.prism.is_none() { h1 { "New prism" } }
        @if checked.is_asked && !checked.problems.is_empty() {
            (notice(NoticeKind::Refused, &html! { "Nothing was saved. What is to be put right is listed under State." }))
        }
        p.unseen #edit-status role="status" { (acted.message) }
        form #edit.edit method="post" action=(editing.address()) autocomplete="off" novalidate
            data-changed[editing.is_touched] { (inside(editing, checked, acted)) }
    };
    let page = match &editing.prism {
        Some(prism) => visit.prism_page(prism, PrismTab::Edit, "Edit", &main),
        None => visit.page("Edit", main).section(Section::Prisms),
    };
    page.script("edit.js")
}

/// The content of the form.
pub(crate) fn inside(editing: &Editing, checked: &CheckedDraft, acted: &FormAction) -> Markup {
    let inputs = Inputs {
        checked,
        focus: &acted.focus,
        base: &editing.base,
    };
    let draft = &editing.draft;
    let is_large = draft.is_large();
    html! {
        // the Enter key presses the first button of a form
        button.unseen type="submit" name="act" value="refresh" tabindex="-1" aria-hidden="true" { "Refresh" }
        (origin(editing))
        @if checked.is_asked && !checked.problems.is_empty() {
            input type="hidden" name=(ASKED) value="1";
        }
        span #acted hidden { (acted.message) }
        div.columns {
            div {
                (inputs.line("name", "Name", &draft.name))
                h2 { "Fields" }
                p.hint { "What a call sends to be judged. Keys are what callers write; saved ones are fixed." }
                (inputs.list_error("fields"))
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
                h2 { "Context" }
                (inputs.area("context", "Context", &draft.context, "What the model should know with every text; may stay empty.", 3))
                h2 { "Questions" }
                p.hint { "A saved question keeps its key and its type, since callers rely on them. An empty key of something new is made from its words." }
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
            aside {
                div #state role="region" aria-label="State of the form" tabindex="0" { (state_panel::panel(editing, checked)) }
                div.row {
                    @if editing.prism.is_some() {
                        button.main type="submit" name="act" value="review" { "Review changes" }
                    } @else {
                        button.main type="submit" name="act" value="save" { "Create the prism" }
                    }
                    button type="submit" name="act" value="check" { "Check" }
                }
            }
        }
    }
}

/// Hidden inputs with the origin of the form: the version and name it was made from.
pub(crate) fn origin(editing: &Editing) -> Markup {
    html! {
        @if let Some(based_on) = editing.based_on {
            input type="hidden" name="based_on" value=(based_on);
        }
        @if let Some(prism) = &editing.prism {
            textarea name=(NAMED) hidden { "\n" (prism.name) }
        }
    }
}
