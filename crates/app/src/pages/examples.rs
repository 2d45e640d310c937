//! `/prisms/{slug}/examples`: fixed texts of a prism with the answers that are right for them. Every
//! version is asked about them before it is saved, and on request. A gold file is taken over as
//! examples, all of it or nothing.
//!
//! `/prisms/{slug}/examples/{example}`: one example with its right answers.

mod example_form;
mod example_list;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::ids::{ExampleId, ResultId};
use refract_domain::submission::Ref;
use refract_file_runs::{
    ExampleFileProblem, GoldFile, GoldFormat, GoldText, InputSource, StoredInput,
};
use refract_lens_rendering::Format;
use refract_service::CallError;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{AskedExamples, CheckedExample, ExampleError};
use refract_service::results::ResultDetails;

use self::example_form::ExampleForm;
use self::example_list::{ExampleList, address, to_list};
use crate::components::notice::row_sentence;
use crate::components::{
    NoticeKind, PrismTab, answer_in_short, counted, example_state, moment, notice, outcome_label,
    sentence, table, whole_text,
};
use crate::replies::{PageError, PageReply};
use crate::requests::{Visit, off_event_loop};

/// How long the check of all examples may take: less than proxies wait for a reply.
const PATIENCE: Duration = Duration::from_secs(50);

/// Shows the list.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let list = ExampleList::find(&visit).await?;
    Ok(list.page(&visit, None).reply())
}

/// Shows the form of a new example, with the text of a result if the address names one.
pub(crate) async fn show_new(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let named = visit.sent.query.get("result").unwrap_or_default();
    let form = match find_result(&visit, &lens, named).await? {
        Some(details) => ExampleForm::of_result(&details, &lens),
        None if named.is_empty() => ExampleForm::default(),
        None => return Err(PageError::NotFound),
    };
    Ok(form.page(&visit, &lens).reply())
}

/// Keeps a text as an example.
pub(crate) async fn create(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let mut form = ExampleForm::sent(&visit.sent.form);
    let status = match form.read(&lens.latest) {
        None => StatusCode::UNPROCESSABLE_ENTITY,
        Some(input) => {
            let details = find_result(&visit, &lens, form.result()).await?;
            let result = details.as_ref().map(|details| &details.result);
            let (prisms, actor) = (visit.refract.prisms(), visit.actor());
            let examples = prisms.example_texts();
            match examples.keep(&actor, &lens.prism, input, result).await {
                Ok(saved) => {
                    let done = if saved.added > 0 { "kept" } else { "changed" };
                    return Ok(to_list(&lens, done));
                }
                Err(ExampleError::Internal(error)) => return Err(error.into()),
                Err(refusal @ (ExampleError::TooMany(_) | ExampleError::ResultGone)) => {
                    form.refuse(&refusal);
                    StatusCode::CONFLICT
                }
            }
        }
    };
    Ok(form.page(&visit, &lens).status(status).reply())
}

/// Asks the latest version about every example.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    if lens.prism.archived_at.is_none() {
        let examples = visit.refract.prisms().example_texts();
        let (prism, version) = (&lens.prism, &lens.latest);
        let asking = examples.ask(prism, version, AskedExamples::All, PATIENCE);
        asking.await?;
    }
    Ok(to_list(&lens, "checked"))
}

/// Sends the examples as a gold file. An example that lacks a field of the latest version is left
/// out: the file would give it an empty value.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let (prism, version) = (&lens.prism, &lens.latest);
    let examples = visit.refract.prisms().example_texts();
    let checked = examples.checked(prism, version).await?;
    let texts = GoldText::of_examples(&checked, version);
    examples.record_download(&visit.actor(), prism).await?;
    let mut bytes = Vec::new();
    // writing to a `Vec` cannot fail
    let format = GoldFile::write(version, &texts, &mut bytes).unwrap_or(GoldFormat::Csv);
    let format = match format {
        GoldFormat::Csv => Format::Csv,
        GoldFormat::JsonLines => Format::Jsonl,
    };
    let name = format!("{}-examples.{}", prism.slug, format.name());
    Ok(PageReply::file(&name, format.content_type(), bytes))
}

/// A result of the prism; `None` for another text, and where there is no such result.
async fn find_result(
    visit: &Visit,
    lens: &PrismLens,
    named: &str,
) -> Result<Option<ResultDetails>, PageError> {
    let Some(id) = ResultId::parse(named) else {
        return Ok(None);
    };
    match visit.refract.results().details(visit.account(), id).await {
        Ok(details) => Ok(Some(details).filter(|it| it.result.prism().id == lens.prism.id)),
        Err(CallError::Internal(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 200;

/// Keeps the rows of a file as examples.
pub(crate) async fn upload(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let Some(file) = visit.sent.form.file("file") else {
        return refused(&visit, &[of_file("Choose a file first".to_owned())]).await;
    };
    let source = StoredInput::of_bytes(&file.name, file.bytes.clone());
    let source = source.within(&visit.site.workbooks);
    let version = Arc::clone(&lens.latest);
    let read = off_event_loop(move || {
        GoldFile::read(InputSource::Stored(source), &version).map_err(|error| error.to_string())
    })
    .await?;
    let inputs = match read {
        Ok(file) => file.examples(&lens.latest),
        Err(error) => Err(vec![of_file(error)]),
    };
    let inputs = match inputs {
        Ok(inputs) => inputs,
        Err(problems) => return refused(&visit, &problems).await,
    };
    let (prisms, actor) = (visit.refract.prisms(), visit.actor());
    match prisms
        .example_texts()
        .upload(&actor, &lens.prism, inputs)
        .await
    {
        Ok(_) => Ok(to_list(&lens, "uploaded")),
        Err(ExampleError::Internal(error)) => Err(error.into()),
        Err(refusal @ (ExampleError::TooMany(_) | ExampleError::ResultGone)) => {
            refused(&visit, &[of_file(refusal.to_string())]).await
        }
    }
}

fn of_file(words: String) -> ExampleFileProblem {
    ExampleFileProblem { line: None, words }
}

async fn refused(visit: &Visit, problems: &[ExampleFileProblem]) -> Result<PageReply, PageError> {
    let list = ExampleList::find(visit).await?;
    let page = list.page(visit, Some(&problem_list(problems)));
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

fn problem_list(problems: &[ExampleFileProblem]) -> Markup {
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    let words = html! {
        "No example of the file was kept. Put it right, and choose it again:"
        ul.problems #faults {
            @for ExampleFileProblem { line, words } in problems.iter().take(MOST_PROBLEMS) {
                li {
                    @if let Some(line) = line { "Line " (line) ": " bdi { (row_sentence(words).trim_end_matches('.')) } "." }
                    @else { bdi { (sentence(words)) } }
                }
            }
            @if more > 0 { li { "and " (counted(more, "more problem")) } }
        }
    };
    notice(NoticeKind::Refused, &words)
}

/// Shows the example.
pub(crate) async fn show_example(visit: Visit) -> Result<PageReply, PageError> {
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
