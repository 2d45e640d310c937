//! What a run says of itself: before it, on the way and at its end.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::HumanCount;
use refract_answering::file_run::{Check, Counts, Distribution, FileRun, Spread, Summary};

use crate::output;
use crate::terminal::{columns_of, plain};

/// Cells of a column that are told apart.
const MOST_CELLS: usize = 6;
/// Columns that are told.
const MOST_COLUMNS: usize = 40;
/// Kinds of failure that are told.
const MOST_FAILURES: usize = 10;

/// What the check found.
pub(super) fn checked(input: &Path, run: &FileRun, check: &Check) -> String {
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
    if !check.passed_by.is_empty() {
        let _ = write!(words, "\n  passed by: {}", check.passed_by);
    }
    for row in &check.told {
        let _ = write!(words, "\n  line {} is refused: {}", row.line, row.words);
    }
    let untold = check.refused.saturating_sub(count(check.told.len()));
    if untold > 0 {
        let _ = write!(words, "\n  and {} more", rows(untold));
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

/// What there is to say on the way.
pub(super) fn going(counts: &Counts) -> String {
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

/// The summary.
pub(super) fn ended(summary: &Summary, counts: &Counts, took: Duration) -> String {
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
    let columns = summary.distributions.iter();
    let names = columns.clone().take(MOST_COLUMNS);
    let width = names
        .map(|told| columns_of(&told.column))
        .max()
        .unwrap_or(0);
    for distribution in columns.take(MOST_COLUMNS) {
        if let Some(spread) = spread(distribution) {
            let _ = write!(words, "\n  {:width$}  {spread}", distribution.column);
        }
    }
    words
}

fn spread(distribution: &Distribution) -> Option<String> {
    match &distribution.spread {
        Spread::Nothing => None,
        Spread::Numbers {
            mean,
            lowest,
            highest,
            ..
        } => Some(format!("mean {mean:.3}, from {lowest} to {highest}")),
        Spread::Cells(cells) => {
            let all = cells.iter().map(|(_, count)| count).sum::<u64>() + distribution.empty;
            let told = cells.iter().take(MOST_CELLS);
            let mut parts: Vec<_> = told
                .map(|(label, count)| format!("{} {}", plain(label), percent(*count, all)))
                .collect();
            let others: u64 = cells.iter().skip(MOST_CELLS).map(|(_, count)| count).sum();
            for (what, count) in [("others", others), ("empty", distribution.empty)] {
                if count > 0 {
                    parts.push(format!("{what} {}", percent(count, all)));
                }
            }
            Some(parts.join(" · "))
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    match (part * 200 / whole.max(1)).div_ceil(2) {
        0 if part > 0 => "<1%".to_owned(),
        percent => format!("{percent}%"),
    }
}

/// How a dry run ends.
pub(super) fn end_of_check(check: &Check) -> ExitCode {
    match check.refused {
        0 => ExitCode::SUCCESS,
        refused => output::fail_with(&format!("error: {} cannot be asked about", rows(refused))),
    }
}

/// How a run ends that came to the end of its file.
pub(super) fn end_of_run(counts: &Counts) -> ExitCode {
    let again = "run the same command again to retry what failed";
    let words = match (counts.failed, counts.refused) {
        (0, 0) => return ExitCode::SUCCESS,
        (failed, 0) => format!("{} failed: {again}", rows(failed)),
        (0, refused) => format!("{} cannot be asked about", rows(refused)),
        (failed, refused) => {
            let refused = rows(refused);
            format!(
                "{} failed and {refused} cannot be asked about: {again}",
                rows(failed)
            )
        }
    };
    output::fail_with(&format!("error: {words}"))
}

fn rows(number: u64) -> String {
    format!("{} row{}", HumanCount(number), plural(number))
}

fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
