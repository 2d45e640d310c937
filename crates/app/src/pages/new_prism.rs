//! `/prisms/new`: the ways to a first version.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_answering::examples::EXAMPLES;
use refract_answering::prisms::{PrismRefusal, create};

use crate::components::field::FormField;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::prism_address;
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::Visit;

/// Shows the page.
pub(crate) fn show(visit: &Visit) -> PageReply {
    page(visit, "", "", StatusCode::OK)
}

/// Makes a prism from an uploaded or pasted file, or from an example.
pub(crate) async fn submit(visit: Visit) -> Result<PageReply, PageRefusal> {
    let form = &visit.sent.form;
    let pasted = form.get("pasted");
    let example = EXAMPLES
        .iter()
        .find(|example| example.slug == form.get("example"));
    let file = match (example, form.file("file")) {
        (Some(example), _) => example.file,
        (None, Some(file)) => file,
        (None, None) => pasted.as_bytes(),
    };
    match create(visit.answering.database(), visit.caller(), file).await {
        Ok(prism) => {
            let address = prism_address(&prism);
            Ok(PageReply::see_other(&format!("{address}?done=created")))
        }
        Err(PrismRefusal::Invalid(problems)) => {
            // what was in a file is shown, so that it can be mended here
            let typed = String::from_utf8_lossy(file).into_owned();
            let words = problems.to_string();
            Ok(page(
                &visit,
                &typed,
                &words,
                StatusCode::UNPROCESSABLE_ENTITY,
            ))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

fn page(visit: &Visit, pasted: &str, fault: &str, status: StatusCode) -> PageReply {
    let main = html! {
        h1 { "New prism" }
        @if !fault.is_empty() {
            (notice(NoticeKind::Refused, &html! { "The file breaks rules: " bdi { (fault) } }))
        }
        p { "A prism is a set of questions that texts are asked. Start in the way that suits you; everything can be changed later, as a new version." }
        p { a.button.main href="/prisms/new/edit?from=blank" { "Start blank" } }
        h2 { "From an example" }
        (examples())
        h2 { "From a prism file" }
        (file_form(pasted, fault))
    };
    let page = visit.page("New prism", main).section(Section::Prisms);
    page.status(status).reply()
}

fn examples() -> Markup {
    html! {
        ul.plain {
            @for example in &EXAMPLES {
                li.row {
                    form method="post" action="/prisms/new" {
                        input type="hidden" name="example" value=(example.slug);
                        button type="submit" { "Make " (example.name) }
                    }
                    span { (example.words) " " a href={ "/prisms/new/edit?from=" (example.slug) } { "Edit first" } }
                }
            }
        }
    }
}

fn file_form(pasted: &str, fault: &str) -> Markup {
    let file = FormField {
        name: "file",
        label: "File",
        hint: "JSON, as refract prism show prints it.",
        ..FormField::default()
    };
    let text = FormField {
        name: "pasted",
        label: "Or its content",
        value: pasted,
        fault,
        ..FormField::default()
    };
    html! {
        form.wide method="post" action="/prisms/new" enctype="multipart/form-data" {
            (file.around(&html! {
                input #file name="file" type="file" accept=".json,application/json" aria-describedby="file-hint";
            }))
            (text.area(8))
            button type="submit" { "Make the prism" }
        }
    }
}
