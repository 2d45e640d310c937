//! Takes over a gold file as examples, all of it or nothing.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::web;
use maud::{Markup, html};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::example::{EXAMPLE_TEXTS, ExpectedOutcomes};
use refract_domain::result::mark::outcomes;
use refract_file_runs::{GoldFile, GoldProblem, InputSource, StoredInput};
use refract_http_serving::Panicked;
use refract_service::prisms::{ExampleError, ExampleInput};

use super::addresses::to_list;
use super::example_list::ExampleList;
use crate::components::fault_sentence::sentence;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 200;
/// The most outcomes of a question in a problem.
const MOST_OUTCOMES: usize = 20;

/// What is wrong with a file, with the line if it is a row's.
type FileProblem = (Option<u64>, String);

/// Keeps the rows of a file as examples.
pub(crate) async fn upload(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let Some(file) = visit.sent.form.file("file") else {
        let problem = (None, "Choose a file first".to_owned());
        return refused(&visit, &[problem]).await;
    };
    let source = StoredInput::of_bytes(&file.name, file.bytes.clone());
    let version = Arc::clone(&lens.latest);
    let reading = web::block(move || {
        GoldFile::read(InputSource::Stored(source), &version).map_err(|error| error.to_string())
    });
    let read = reading.await.map_err(|_| PageError::from(Panicked))?;
    let inputs = match read {
        Ok(file) => inputs(file, &lens.latest),
        Err(error) => Err(vec![(None, error)]),
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
            refused(&visit, &[(None, refusal.to_string())]).await
        }
    }
}

/// The examples of a file, or everything that is wrong with it, in the order of the file.
fn inputs(file: GoldFile, version: &PrismVersion) -> Result<Vec<ExampleInput>, Vec<FileProblem>> {
    let keys = version
        .questions()
        .iter()
        .map(|question| question.key.as_str());
    let keys: Vec<_> = keys.collect();
    let unknown = file.unknown_columns.iter().map(|column| {
        let words = format!(
            "the column {column} is of no question: there are {}",
            keys.join(", ")
        );
        (None, words)
    });
    let mut problems: Vec<FileProblem> = unknown.collect();
    let of_rows = file.problems.iter();
    problems.extend(of_rows.map(|problem| (Some(problem.line()), describe(problem, version))));
    let rows = file.texts.len() + file.problems.len();
    if rows > EXAMPLE_TEXTS {
        let words = format!("it has {rows} rows, at most {EXAMPLE_TEXTS} examples can be kept");
        problems.push((None, words));
    }
    if problems.is_empty() && file.texts.iter().all(|(_, text)| text.expected.is_empty()) {
        let column = keys.first().copied().unwrap_or_default();
        let words = format!("no row has a right answer: add a column such as expected_{column}");
        problems.push((None, words));
    }
    let mut lines = HashMap::new();
    let mut inputs = Vec::with_capacity(file.texts.len());
    for (line, text) in file.texts {
        let expected = text.expected.into_iter();
        let expected = expected.map(|one| (one.question, one.outcome)).collect();
        let input = ExampleInput {
            submission: text.submission,
            reference: text.reference,
            expected: ExpectedOutcomes(expected),
            note: None,
        };
        if let Some(earlier) = lines.insert(input.text_key(), line) {
            problems.push((Some(line), format!("it has the text of line {earlier}")));
        } else {
            inputs.push(input);
        }
    }
    if problems.is_empty() {
        return Ok(inputs);
    }
    problems.sort_by_key(|(line, _)| *line);
    Err(problems)
}

fn describe(problem: &GoldProblem, version: &PrismVersion) -> String {
    match problem {
        GoldProblem::Refused { reason, .. } => reason.clone(),
        GoldProblem::NoOutcome { question, .. } => {
            let found = version.question(question);
            let keys = found.into_iter().flat_map(outcomes).map(|one| one.key);
            let mut keys: Vec<_> = keys.take(MOST_OUTCOMES + 1).collect();
            if keys.len() > MOST_OUTCOMES {
                keys.truncate(MOST_OUTCOMES);
                keys.push("…");
            }
            format!(
                "the right answer to {question} is none of its outcomes: {}",
                keys.join(", ")
            )
        }
    }
}

async fn refused(visit: &Visit, problems: &[FileProblem]) -> Result<PageReply, PageError> {
    let list = ExampleList::find(visit).await?;
    let page = list.page(visit, Some(&problem_list(problems)));
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

fn problem_list(problems: &[FileProblem]) -> Markup {
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    let words = html! {
        "No example of the file was kept. Put it right, and choose it again:"
        ul.problems #faults {
            @for (line, problem) in problems.iter().take(MOST_PROBLEMS) {
                li {
                    @if let Some(line) = line { "Line " (line) ": " bdi { (problem) } "." }
                    @else { bdi { (sentence(problem)) } }
                }
            }
            @if more > 0 { li { "and " (counted(more, "more problem")) } }
        }
    };
    notice(NoticeKind::Refused, &words)
}
