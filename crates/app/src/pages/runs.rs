//! `/prisms/{slug}/runs`: files whose rows a prism was asked about, and a form for another one.

mod upload;

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::ids::FileRunId;
use refract_service::prisms::Prism;
use refract_service::runs::{RunPage, StoredRun};

pub(crate) use self::upload::upload;
use crate::components::empty_state::empty_state;
use crate::components::field::FormField;
use crate::components::file_run::{run_address, state_tag};
use crate::components::list_pages::{OLDER, neighbours, page_address};
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::count;
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::components::table::stacked_table;
use crate::replies::page::Page;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::page_request::Query;
use crate::requests::visit::Visit;

/// Runs on a page of the list.
const RUNS_ON_A_PAGE: u32 = 50;
/// The endings of files that a run reads.
const ENDINGS: &str = ".csv,.tsv,.tab,.txt,.jsonl,.ndjson,.json,.xlsx";

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    Ok(page(&visit, &prism, "").await?.reply())
}

/// The page; `file_error` says why a file was not taken.
async fn page<'a>(
    visit: &'a Visit,
    prism: &Prism,
    file_error: &str,
) -> Result<Page<'a>, PageError> {
    let older_than = match visit.sent.query.get(OLDER) {
        Some(id) => Some(FileRunId::parse(id).ok_or(PageError::NotFound)?),
        None => None,
    };
    let runs = visit.refract.runs();
    let page = RunPage {
        before: older_than,
        limit: RUNS_ON_A_PAGE,
    };
    let listed = runs.list_file_runs(visit.account(), Some(prism.id), page);
    let listed = listed.await?;
    let is_full = u32::try_from(listed.len()).is_ok_and(|runs| runs >= RUNS_ON_A_PAGE);
    let address = format!("{}/runs", prism_address(prism));
    let older = listed.last().filter(|_| is_full);
    let older = page_address(&address, &Query::default(), OLDER, older.map(|run| run.id));
    let newest = older_than.map(|_| address.clone());
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! { "This prism is archived, so it answers no file." }))
        } @else if visit.visitor.role.may(Role::Editor) {
            (form(visit, &address, file_error))
        }
        @if listed.is_empty() {
            (empty_state("No file was run here yet. Each row of a file becomes a result like all others.", &html! {}))
        } @else {
            (rows(&listed))
        }
        (neighbours("Pages of runs", newest, older))
    };
    let title = format!("Runs · {}", prism.name);
    Ok(visit.prism_page(prism, PrismTab::Runs, title, &main))
}

fn done(what: &str) -> Option<&'static str> {
    let words = "The file is deleted. The results of its rows stay.";
    (what == "deleted").then_some(words)
}

fn form(visit: &Visit, address: &str, error: &str) -> Markup {
    let hint = format!(
        "A table with a row for each text: CSV, TSV, JSON Lines or XLSX, up to {} MiB. Nothing is asked before you say so.",
        visit.site.upload_mib()
    );
    let field = FormField::new("file", "A file").hint(&hint).error(error);
    let input = html! {
        input #file name="file" type="file" accept=(ENDINGS) required
            aria-describedby="file-hint" aria-invalid=[(!error.is_empty()).then_some("true")];
    };
    html! {
        form.narrow method="post" action=(address) enctype="multipart/form-data" {
            (field.around(&input))
            button.main type="submit" { "Upload" }
        }
    }
}

fn rows(runs: &[StoredRun]) -> Markup {
    let headings = [
        "File", "State", "Rows", "Answered", "Failed", "Version", "By", "When",
    ];
    let rows = html! { @for run in runs { (row(run)) } };
    stacked_table("File runs", &headings, &rows)
}

fn row(run: &StoredRun) -> Markup {
    let progress = &run.progress;
    html! {
        tr {
            th scope="row" { a href=(run_address(run.id)) { bdi { (run.file_name) } } }
            td data-label="State" { (state_tag(run.state)) }
            td.number data-label="Rows" { (count(progress.rows)) }
            td.number data-label="Answered" { (count(progress.answered + progress.answered_before)) }
            td.number data-label="Failed" { (count(progress.failed)) }
            td.number data-label="Version" { (run.version) }
            td data-label="By" { @match &run.by { Some(name) => bdi { (name) }, None => span.soft { "terminal" } } }
            td data-label="When" { (moment(run.made_at)) }
        }
    }
}
