//! Takes over a gold file as examples, all of it or nothing.

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_file_runs::{ExampleFileProblem, GoldFile, InputSource, StoredInput};
use refract_service::prisms::ExampleError;

use super::addresses::to_list;
use super::example_list::ExampleList;
use crate::components::fault_sentence::sentence;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::off_event_loop::off_event_loop;
use crate::requests::visit::Visit;

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
                    @if let Some(line) = line { "Line " (line) ": " bdi { (words) } "." }
                    @else { bdi { (sentence(words)) } }
                }
            }
            @if more > 0 { li { "and " (counted(more, "more problem")) } }
        }
    };
    notice(NoticeKind::Refused, &words)
}
