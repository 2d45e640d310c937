//! What a run reports: after the check, on the way and at the end.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::HumanCount;
use refract_domain::column_tally::ColumnSummary;
use refract_file_runs::{FileCheck, FileRun, RunCounts, RunSummary};

use crate::output;
use crate::terminal::{columns_of, plain};

/// Number of a column's labels that are listed. The rest are summed up as others.
const MOST_LABELS: usize = 6;
/// Number of columns that are listed.
const MOST_COLUMNS: usize = 40;
/// Number of different errors that are listed.
const MOST_FAILURES: usize = 10;

/// The report of the check.
pub(crate) fn checked(input: &Path, run: &FileRun, check: &FileCheck) -> String {
    let kind = run.input_kind().describe();
    let mut words = format!("{}: {kind}, {}", input.display(), rows(check.rows_in_file));
    if check.rows != check.rows_in_file {
        let _ = write!(words, ", {} in this shard", HumanCount(check.rows));
    }
    let _ = write!(
        words,
        "; {} version {}",
        run.prism_slug(),
        run.version_number()
    );
    for mapping in run.columns().renamed() {
        let column = plain(&mapping.column);
        let _ = write!(words, "\n  {} is read from {column}", mapping.field);
    }
    if !check.unused_columns.is_empty() {
        let _ = write!(words, "\n  passed by: {}", check.unused_columns_listed());
    }
    for row in &check.listed {
        let _ = write!(words, "\n  line {} is refused: {}", row.line, row.reason);
    }
    let unlisted = check.refused.saturating_sub(count(check.listed.len()));
    if unlisted > 0 {
        let _ = write!(words, "\n  and {} more", rows(unlisted));
    }
    let asked = rows(check.rows - check.refused);
    let _ = match check.requests {
        0 => write!(words, "\n  {asked} to ask about"),
        requests => write!(
            words,
            "\n  {asked} to ask about: about {} tokens in {} model request{}",
            HumanCount(check.tokens),
            HumanCount(requests),
            plural(requests)
        ),
    };
    words
}

/// The counts beside the progress bar.
pub(crate) fn going(counts: &RunCounts) -> String {
    let mut words = format!(", {} ok", HumanCount(counts.ok));
    for (number, what) in [
        (counts.failed, "failed"),
        (counts.refused, "refused"),
        (counts.answered_before, "answered before"),
    ] {
        if number > 0 {
            let _ = write!(words, ", {} {what}", HumanCount(number));
        }
    }
    words
}

/// The summary of a run.
pub(crate) fn ended(summary: &RunSummary, counts: &RunCounts, took: Duration) -> String {
    let per_second = u128::from(counts.done()) * 1000 / took.as_millis().max(1);
    let mut words = format!(
        "{} in {}.{} s ({per_second}/s){}",
        rows(counts.done()),
        took.as_secs(),
        took.subsec_millis() / 100,
        going(counts).replacen(',', ":", 1)
    );
    if counts.requests > 0 {
        let (read, written) = (counts.input_tokens, counts.output_tokens);
        let requests = counts.requests;
        let _ = write!(
            words,
            "\ntokens: {} read, {} written, in {} model request{}",
            HumanCount(read),
            HumanCount(written),
            HumanCount(requests),
            plural(requests)
        );
    }
    for (error, count) in summary.failures.iter().take(MOST_FAILURES) {
        let _ = write!(words, "\nfailed, {}: {error}", rows(*count));
    }
    if summary.failures.len() > MOST_FAILURES {
        let _ = write!(words, "\nfailed otherwise: see the column error");
    }
    let columns = summary.columns.iter();
    let columns = columns.take(MOST_COLUMNS);
    let names = columns.clone().map(|tally| tally.column.name.as_str());
    let width = names.map(columns_of).max().unwrap_or(0);
    for tally in columns {
        if let Some(summary) = tally.summary() {
            let name = tally.column.name.as_str();
            let line = column_line(&summary, tally.empty);
            let _ = write!(words, "\n  {name:width$}  {line}");
        }
    }
    words
}

fn column_line(summary: &ColumnSummary, empty: u64) -> String {
    match summary {
        ColumnSummary::Numbers {
            mean,
            lowest,
            highest,
        } => format!("mean {mean:.3}, from {lowest} to {highest}"),
        ColumnSummary::Labels(labels) => {
            let all = labels.iter().map(|(_, count)| count).sum::<u64>() + empty;
            let listed = labels.iter().take(MOST_LABELS);
            let mut parts: Vec<_> = listed
                .map(|(label, count)| format!("{} {}", plain(label), percent(*count, all)))
                .collect();
            let unlisted = labels.iter().skip(MOST_LABELS);
            let others: u64 = unlisted.map(|(_, count)| count).sum();
            for (what, count) in [("others", others), ("empty", empty)] {
                if count > 0 {
                    parts.push(format!("{what} {}", percent(count, all)));
                }
            }
            parts.join(" · ")
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    match (part * 200 / whole.max(1)).div_ceil(2) {
        0 if part > 0 => "<1%".to_owned(),
        percent => format!("{percent}%"),
    }
}

/// The exit status of a dry run.
pub(crate) fn end_of_check(check: &FileCheck) -> ExitCode {
    match check.refused {
        0 => ExitCode::SUCCESS,
        refused => output::fail_with(&format!("error: {} cannot be asked about", rows(refused))),
    }
}

/// The exit status of a run that reached the end of its file.
pub(crate) fn end_of_run(counts: &RunCounts) -> ExitCode {
    match unanswered(counts) {
        None => ExitCode::SUCCESS,
        Some(words) => output::fail_with(&format!("error: {words}")),
    }
}

/// How many rows of a run have no answer and what to do about it; `None` when all have one.
pub(crate) fn unanswered(counts: &RunCounts) -> Option<String> {
    let again = "run the same command again to retry what failed";
    match (counts.failed, counts.refused) {
        (0, 0) => None,
        (failed, 0) => Some(format!("{} failed: {again}", rows(failed))),
        (0, refused) => Some(format!("{} cannot be asked about", rows(refused))),
        (failed, refused) => {
            let refused = rows(refused);
            Some(format!(
                "{} failed and {refused} cannot be asked about: {again}",
                rows(failed)
            ))
        }
    }
}

/// A number of rows in words.
pub(crate) fn rows(number: u64) -> String {
    format!("{} row{}", HumanCount(number), plural(number))
}

/// The ending of a plural.
pub(crate) fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
