//! A run with its prism, as the parts of its page show it: its file, and what was done with it; its
//! newest results, and what they were answered with.

use std::sync::Arc;

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::event::{Event, EventDetail, EventTarget};
use refract_domain::ids::FileRunId;
use refract_domain::lens::Column;
use refract_domain::prism::{PrismSelector, Question, VersionNumber};
use refract_domain::result::FileRunState;
use refract_evaluation::counting::{ColumnSummary, ColumnTally};
use refract_identity::events::{EventFilter, EventRange, ListedEvent};
use refract_service::lenses::PrismLens;
use refract_service::results::{PrismResults, ReadableResult, ResultOrder, ResultSearch};
use refract_service::runs::StoredRun;

use crate::components::notice::row_sentence;
use crate::components::{
    count, counted, moment, prism_address, run_address, share_bar, state_words, table,
};
use crate::replies::PageError;
use crate::requests::{Visit, form_id};

/// A run with its prism.
pub(super) struct RunView {
    pub(super) run: StoredRun,
    pub(super) lens: Arc<PrismLens>,
    /// Whether the visitor may change the run.
    pub(super) is_editor: bool,
}

impl RunView {
    /// The state that the script of the page follows. A run that was paused or cancelled has rows on
    /// their way until its node ends the lease: its figures are final only then.
    pub(super) fn followed_state(&self) -> &'static str {
        let state = self.run.state;
        if self.run.is_leased && !state.is_worked_on() {
            return "finishing";
        }
        state.name()
    }
}

/// Finds the run of the address.
pub(super) async fn find(visit: &Visit) -> Result<RunView, PageError> {
    let id = FileRunId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let runs = visit.refract.runs();
    let run = runs.find_file_run(visit.account(), id).await?;
    let run = run.ok_or(PageError::NotFound)?;
    let prism = PrismSelector::Id(run.prism);
    let lens = visit.refract.lenses().find(visit.account(), &prism).await?;
    Ok(RunView {
        run,
        lens: Arc::new(lens),
        is_editor: visit.visitor.role.may(Role::Editor),
    })
}

/// The most refused rows that are shown.
const REFUSED: usize = 10;

/// The refused rows that a check found, with a link to all of them as a file.
pub(super) fn refused(view: &RunView, refused: u64, listed: &[(u64, String)]) -> Markup {
    let address = run_address(view.run.id);
    html! {
        @if refused > 0 {
            p {
                strong { (counted(refused, "row")) " cannot be asked about" } ": "
                a href={ (address) "/refused" } download { "the refused rows as a file" }
                ", to be corrected and run again."
            }
            ul.plain {
                @for (line, reason) in listed.iter().take(REFUSED) {
                    li { "Line " (count(*line)) ": " (row_sentence(reason)) }
                }
                @let rest = refused.saturating_sub(u64::try_from(listed.len().min(REFUSED)).unwrap_or(u64::MAX));
                @if rest > 0 { li.soft { "and " (count(rest)) " more" } }
            }
        }
    }
}

/// The actions on the file: another version, and its deletion.
pub(super) fn file(visit: &Visit, view: &RunView) -> Markup {
    let run = &view.run;
    let address = run_address(run.id);
    let days = visit.site.keep_uploads_days;
    let (Some(_), true) = (run.upload, view.is_editor) else {
        return html! { @if run.upload.is_none() { p.soft { "The file is deleted; the results stay." } } };
    };
    let latest = view.lens.prism.latest_version.get();
    let others: Vec<_> = (1..=latest)
        .rev()
        .filter_map(VersionNumber::new)
        .filter(|version| *version != run.version)
        .collect();
    let has_run = matches!(
        run.state,
        FileRunState::Done | FileRunState::Paused | FileRunState::Cancelled
    );
    html! {
        @if has_run && !others.is_empty() && view.lens.prism.archived_at.is_none() {
            details {
                summary { "Run this file with another version" }
                form.row method="post" action={ (address) "/again" } {
                    (form_id())
                    label for="version" { "Version" }
                    select #version name="version" {
                        @for version in &others { option value=(version) { (version) } }
                    }
                    button type="submit" { "Go on to its columns" }
                }
                p.hint { "Both runs are then compared on this page, row by row." }
            }
        }
        @if !run.state.is_worked_on() {
            details {
                summary { "Delete the file" }
                form method="post" action={ (address) "/delete-file" } {
                    p { "The results of its rows stay. Without the file nothing of it can be run or downloaded in its order any more. It is deleted by itself after " (counted(days, "day")) "." }
                    button.danger type="submit" { "Delete the file" }
                }
            }
        }
    }
}

/// The most events that are shown.
const NEWEST: u32 = 30;

/// The events of the run, newest first.
pub(super) async fn history(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let filter = EventFilter {
        target: Some(EventTarget::Prism(view.run.prism)),
        about: Some(EventDetail::file_run(view.run.id)),
        since: Some(view.run.made_at),
        ..EventFilter::default()
    };
    let events = visit.refract.events();
    let found = events.find(visit.account(), filter, EventRange::Newest, NEWEST);
    let found = found.await?;
    let rows = html! { @for event in &found.events { (row(event)) } };
    Ok(html! {
        details {
            summary { "What was done, by whom" }
            (table("Changes of this run, newest first", &["When", "What", "Who"], &rows))
        }
    })
}

fn row(listed: &ListedEvent) -> Markup {
    let event = &listed.event;
    html! {
        tr {
            td { (moment(event.stamp.at)) }
            td { (what(event)) }
            td { bdi { (listed.by.name) } }
        }
    }
}

/// The change in people's words.
fn what(event: &Event) -> Markup {
    let state = |detail: &Option<EventDetail>| FileRunState::parse(detail.as_ref()?.as_str());
    let details = match (state(&event.from), state(&event.to)) {
        (Some(from), Some(to)) if from == to => return html! { "matched the columns" },
        (Some(from), Some(to)) => html! { (state_words(from)) " → " (state_words(to)) },
        _ => html! {
            @if let Some(from) = &event.from { (from) " → " }
            @if let Some(to) = &event.to { (to) }
        },
    };
    html! { (event.action.label()) div.soft.details { (details) } }
}

/// The most results that are counted, newest first: of a run that a node works on, since its page
/// follows it, and of any other.
const COUNTED_WHILE_WORKED_ON: usize = 500;
const COUNTED: usize = 50_000;
/// The most columns of the lens with shares, and the most values of each.
const COLUMNS: usize = 12;
const VALUES: usize = 6;

/// The newest results that the run made; at most one page of them.
pub(super) async fn newest_results(
    visit: &Visit,
    view: &RunView,
    most: usize,
) -> Result<Vec<ReadableResult>, PageError> {
    let mut newest = of_run(visit, view)?.next_page().await?;
    newest.truncate(most);
    Ok(newest)
}

/// The newest results of the version that the run asks; at most one page of them.
pub(super) async fn newest_of_version(
    visit: &Visit,
    view: &RunView,
    most: usize,
) -> Result<Vec<ReadableResult>, PageError> {
    let mut search = ResultSearch::default();
    search.filter.version = Some(view.run.version);
    search.filter.is_ok = Some(true);
    let mut newest = results(visit, view, search)?.next_page().await?;
    newest.truncate(most);
    Ok(newest)
}

/// The results that the run made, newest first.
fn of_run(visit: &Visit, view: &RunView) -> Result<PrismResults, PageError> {
    let mut search = ResultSearch::default();
    search.filter.run = Some(view.run.id);
    results(visit, view, search)
}

/// The results that a search finds, newest first.
fn results(visit: &Visit, view: &RunView, search: ResultSearch) -> Result<PrismResults, PageError> {
    let lens = (*view.lens).clone();
    let results = visit.refract.results();
    let results = results.of_search(lens, search, ResultOrder::NewestFirst);
    // the search names no column
    results.map_err(|_| PageError::NotFound)
}

/// The shares of the values in each column of the lens.
pub(super) async fn shares(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let columns = view.lens.columns();
    let tally =
        |column: &Column| ColumnTally::new(column, view.lens.latest.question(&column.question));
    let mut tallies: Vec<_> = columns.lens.iter().take(COLUMNS).map(tally).collect();
    let mut results = of_run(visit, view)?;
    let most = if view.run.state.is_worked_on() {
        COUNTED_WHILE_WORKED_ON
    } else {
        COUNTED
    };
    let (mut read, mut answered) = (0, 0);
    while read < most {
        // a page at a time, since texts may be long
        let page = results.next_page().await?;
        if page.is_empty() {
            break;
        }
        let page = page.iter().take(most - read);
        read += page.len();
        for result in page.filter(|result| result.is_ok()) {
            answered += 1;
            for (tally, value) in tallies.iter_mut().zip(result.view().values(columns.lens)) {
                tally.add(value);
            }
        }
    }
    let address = format!(
        "{}/results?run={}",
        prism_address(&view.lens.prism),
        view.run.id
    );
    Ok(html! {
        @if answered > 0 {
            h3 { "What was answered" }
            p.soft {
                @if read >= most { "The newest " (count(most)) " results that this run made, " (count(answered)) " of them answered. " }
                @else { "Of the " (counted(answered, "answer")) " that this run made. " }
                a href=(address) { "Its results" }
            }
            div.columns { @for tally in &tallies { (column(tally, view.lens.latest.question(&tally.column.question), answered)) } }
        }
    })
}

/// The shares of a column's values, under its question with its name.
fn column(tally: &ColumnTally, question: Option<&Question>, all: usize) -> Markup {
    let name = tally.column.name.as_str();
    let is_yes_no = tally.column.output.cutoffs().is_some();
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    html! {
        section {
            h4 { @if let Some(question) = question { bdi { (question.text) } " " } code.soft { (name) } }
            @match tally.summary() {
                None => {}
                Some(ColumnSummary::Numbers { mean, lowest, highest }) => {
                    p { "Mean " (format!("{mean:.2}")) ", from " (format!("{lowest:.2}")) " to " (format!("{highest:.2}")) "." }
                }
                Some(ColumnSummary::Labels(labels)) => {
                    table.bars {
                        caption.unseen { "Shares of " (name) }
                        tbody {
                            @for (label, cells) in labels.iter().take(VALUES) {
                                tr.(label.to_lowercase())[is_yes_no] {
                                    th scope="row" { bdi { (label) } }
                                    td { (share_bar(*cells, all)) }
                                }
                            }
                        }
                    }
                    @if labels.len() > VALUES { p.hint { "and " (count(labels.len() - VALUES)) " more values" } }
                }
            }
        }
    }
}
