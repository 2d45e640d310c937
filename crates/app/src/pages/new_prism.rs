//! `/prisms/new`: ways to create a prism.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_authoring::prism_file::PrismFile;
use refract_domain::ids::PrismId;
use refract_domain::problem::Problems;
use refract_service::prisms::{EXAMPLES, PrismError};

use crate::components::{
    FormField, NoticeKind, counted, definition, fault_sentence, notice, prism_address,
};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::{Visit, form_id};

/// The most problems of a file that are listed.
const MOST_ERRORS: usize = 200;

/// Shows the page.
pub(crate) fn show(visit: &Visit) -> PageReply {
    page(visit, None)
}

/// A file with problems.
struct RefusedFile<'a> {
    /// The name of the uploaded file; `None` if it was pasted.
    name: Option<&'a str>,
    /// The content of the file, so that it can be corrected on the page.
    content: &'a str,
    problems: &'a Problems,
}

/// Creates a prism from an uploaded or pasted file, or from an example.
pub(crate) async fn submit(visit: Visit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let pasted = form.get("pasted");
    let example = EXAMPLES
        .iter()
        .find(|example| example.slug == form.get("example"));
    let chosen = form.file("file");
    let file = match (example, chosen) {
        (Some(example), _) => example.file,
        (None, Some(file)) => &file.bytes,
        (None, None) => pasted.as_bytes(),
    };
    let id = PrismId::new(form.id_of_made());
    let (prisms, actor) = (visit.refract.prisms(), visit.actor());
    match prisms.create_once(&actor, id, None, file).await {
        Ok(prism) => {
            let address = prism_address(&prism);
            Ok(PageReply::see_other(&format!("{address}?done=created")))
        }
        Err(PrismError::Invalid(problems)) => {
            let refused = RefusedFile {
                name: chosen.map(|file| file.name.as_str()),
                content: &String::from_utf8_lossy(file),
                problems: &problems,
            };
            Ok(page(&visit, Some(&refused)))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn page(visit: &Visit, refused: Option<&RefusedFile<'_>>) -> PageReply {
    let main = html! {
        h1 { "New prism" }
        @if let Some(refused) = refused { (notice(NoticeKind::Refused, &describe(refused))) }
        p { "A prism is a set of questions that texts are asked. Start in the way that suits you; everything can be changed later, as a new version." }
        p { a.button.main href="/prisms/new/edit?from=blank" { "Start blank" } }
        h2 { "From an example" }
        (examples())
        h2 { "From a prism file" }
        (file_form(refused))
    };
    let page = visit.page("New prism", main).section(Section::Prisms);
    let status = match refused {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    page.status(status).reply()
}

/// The problems of a file, and the next step.
fn describe(refused: &RefusedFile<'_>) -> Markup {
    let problems = refused.problems.as_slice();
    html! {
        "No prism was made. "
        @match refused.name {
            Some(name) => { "The file " strong { bdi { (name) } } " has " }
            None => "What you pasted has "
        }
        (counted(problems.len(), "fault")) ", each at its place in the file:"
        ul.problems #faults {
            @for problem in problems.iter().take(MOST_ERRORS) {
                li { code { (problem.path) } ": " (fault_sentence(&problem.error)) }
            }
            @if let Some(more) = problems.len().checked_sub(MOST_ERRORS).filter(|more| *more > 0) {
                li { "and " (more) " more" }
            }
        }
        @if refused.name.is_some() { p { "Correct the file and choose it again, or mend its content below." } }
    }
}

fn examples() -> Markup {
    html! {
        ul.plain.examples {
            @for example in &EXAMPLES {
                li {
                    p { strong { (example.name) } br; span.soft { (example.words) } }
                    form.row method="post" action="/prisms/new" {
                        (form_id())
                        input type="hidden" name="example" value=(example.slug);
                        button type="submit" { "Make it" span.unseen { ": " (example.name) } }
                        a href={ "/prisms/new/edit?from=" (example.slug) } { "Edit first" span.unseen { ": " (example.name) } }
                    }
                    @if let Ok(file) = PrismFile::read(example.file, None) {
                        details {
                            summary { "What it asks" span.unseen { ": " (example.name) } }
                            (definition(&file.version))
                        }
                    }
                }
            }
        }
    }
}

fn file_form(refused: Option<&RefusedFile<'_>>) -> Markup {
    let content = refused.map_or("", |refused| refused.content);
    let name = refused.and_then(|refused| refused.name);
    let label = name.map_or_else(
        || "Or its content".to_owned(),
        |name| format!("Or the content of {name}"),
    );
    let file = FormField::new("file", "File").hint("JSON, as refract prism show prints it.");
    let error = refused.map_or("", |_| "Each fault is listed at the top of the page.");
    let text = FormField::new("pasted", &label).value(content);
    html! {
        form.wide method="post" action="/prisms/new" enctype="multipart/form-data" {
            (form_id())
            (file.around(&html! {
                input #file name="file" type="file" accept=".json,application/json" aria-describedby="file-hint";
            }))
            (text.error(error).area(8))
            button type="submit" { "Make the prism" }
        }
    }
}
