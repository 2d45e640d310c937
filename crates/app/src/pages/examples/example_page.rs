//! `/prisms/{slug}/examples/{example}`: one example with its right answers.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::ids::ExampleId;
use refract_domain::submission::reference::Ref;
use refract_service::lenses::PrismLens;
use refract_service::prisms::CheckedExample;

use super::example_form::ExampleForm;
use super::example_list::{address, to_list};
use crate::components::{
    PrismTab, answer_in_short, example_state, moment, outcome_label, table, whole_text,
};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// Shows the example.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, found) = find(&visit).await?;
    let form = ExampleForm::of_example(&found.example);
    page(&visit, &lens, &found, &form, StatusCode::OK).await
}

/// Replaces the right answers and the note.
pub(crate) async fn change(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, found) = find(&visit).await?;
    let mut form = ExampleForm::sent(&visit.sent.form);
    let Some((expected, note)) = form.read_outcomes(&lens.latest) else {
        return page(
            &visit,
            &lens,
            &found,
            &form,
            StatusCode::UNPROCESSABLE_ENTITY,
        )
        .await;
    };
    let (prisms, actor) = (visit.refract.prisms(), visit.actor());
    let (prism, version) = (&lens.prism, &lens.latest);
    let examples = prisms.example_texts();
    let changing = examples.change(&actor, prism, &found.example, version, expected, note);
    if changing.await? {
        Ok(to_list(&lens, "changed"))
    } else {
        Err(PageError::NotFound)
    }
}

/// Removes the example.
pub(crate) async fn remove(visit: Visit) -> Result<PageReply, PageError> {
    let (lens, found) = find(&visit).await?;
    let (prisms, actor) = (visit.refract.prisms(), visit.actor());
    let removing = prisms
        .example_texts()
        .remove(&actor, &lens.prism, found.example.id);
    if removing.await? {
        Ok(to_list(&lens, "removed"))
    } else {
        Err(PageError::NotFound)
    }
}

async fn find(visit: &Visit) -> Result<(PrismLens, CheckedExample), PageError> {
    let lens = visit.find_lens().await?;
    let id = ExampleId::parse(visit.sent.values.get("example")).ok_or(PageError::NotFound)?;
    let examples = visit.refract.prisms().example_texts();
    let found = examples.find(&lens.prism, &lens.latest, id).await?;
    Ok((lens, found.ok_or(PageError::NotFound)?))
}

async fn page(
    visit: &Visit,
    lens: &PrismLens,
    found: &CheckedExample,
    form: &ExampleForm,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let own_address = format!("{}/{}", address(lens), found.example.id);
    let may_change = visit.visitor.role.may(Role::Editor);
    let main = html! {
        p { a href=(address(lens)) { "All examples" } }
        (form.summary())
        div.split.result {
            section aria-label="The text" {
                @for (key, value) in found.example.submission.fields() {
                    h3 {
                        @if let Some(field) = lens.latest.fields().iter().find(|field| field.key == *key) { (field.label) " " }
                        code.soft { (key) }
                    }
                    (whole_text(value))
                }
                @if let Some(context) = found.example.submission.context() {
                    h3 { "Context" }
                    (whole_text(context))
                }
                (facts(visit, found).await?)
            }
            section aria-label="Right answers" {
                (answers(lens, found))
                @if may_change {
                    form method="post" action=(own_address) {
                        (form.outcomes(&lens.latest))
                        button.main type="submit" { "Save the right answers" }
                    }
                    details {
                        summary { "Remove" }
                        form method="post" action={ (own_address) "/remove" } {
                            span { "New versions are no longer asked about it. " }
                            button.danger type="submit" { "Remove the example" }
                        }
                    }
                }
            }
        }
    };
    let title = format!("Example · {}", lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Examples, title, &main);
    Ok(page.status(status).reply())
}

/// Who kept the text, and where it comes from.
async fn facts(visit: &Visit, found: &CheckedExample) -> Result<Markup, PageError> {
    let example = &found.example;
    let people: Vec<_> = example.changed_by.into_iter().collect();
    let names = visit.refract.people().names(visit.account(), &people);
    let names = names.await?;
    let name = example.changed_by.and_then(|person| names.get(&person));
    Ok(html! {
        dl.facts {
            @if let Some(reference) = &example.reference { dt { "Ref" } dd { bdi { (Ref::as_str(reference)) } } }
            @if let Some(result) = example.result { dt { "From" } dd { a href={ "/results/" (result) } { "a result" } } }
            dt { "Answers saved" }
            dd { @if let Some(name) = name { "by " bdi { (name) } ", " } (moment(example.changed_at)) }
            @if let Some(note) = &example.note { dt { "Note" } dd { bdi { (note) } } }
        }
    })
}

/// The right answers beside those of the latest version.
fn answers(lens: &PrismLens, found: &CheckedExample) -> Markup {
    let (version, columns) = (&lens.latest, lens.columns().lens);
    let state = found.state(version, columns);
    let rows = html! {
        @for it in found.expected(version, columns) {
            tr {
                th scope="row" { span.text dir="auto" { (it.question.text) } }
                td { bdi { (outcome_label(it.question, it.expected.as_str())) } }
                td.broken[it.is_broken] {
                    @match it.answer { Some(answer) => (answer_in_short(it.question, answer, columns)), None => span.soft { "not asked" } }
                }
            }
        }
    };
    let answered = format!("Version {}", lens.prism.latest_version);
    html! {
        p { (example_state(&state)) @if let Some(at) = found.checked_at() { " " span.soft { "asked " (moment(at)) } } }
        (table("Right answers beside those of the latest version", &["Question", "Right answer", &answered], &rows))
        @for (question, outcome) in found.no_longer_asked(version) {
            p.soft {
                @match version.question(question) {
                    Some(question) => { bdi { (question.text) } ": the outcome " code { (outcome) } },
                    None => { "The question " code { (question) } ", expected " code { (outcome) } },
                }
                " is no longer asked."
            }
        }
    }
}
