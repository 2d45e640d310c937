//! The reports of a run: after the check, in progress and at the end.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::HumanCount;
use refract_evaluation::counting::ColumnSummary;
use refract_file_runs::{FileCheck, FileRun, RunCounts, RunSummary, ShownRow};
use refract_service::model::TokenPrice;

use crate::commands::files::InputPath;
use crate::terminal::{columns_of, counted, cut, plain, rate, widened};
use crate::{output, streams};

/// The most labels of a column that are listed. The rest are summed up as others.
const MOST_LABELS: usize = 6;
/// The most columns that are listed.
const MOST_COLUMNS: usize = 40;
/// Columns of a shown text.
const SHOWN: usize = 70;
/// The most different errors that are listed.
const MOST_FAILURES: usize = 10;

/// The report of the check.
pub(crate) fn checked(
    input: &InputPath,
    run: &FileRun,
    check: &FileCheck,
    price: TokenPrice,
) -> String {
    let kind = run.describe_input();
    let mut words = format!("{input}: {}, {}", plain(&kind), rows(check.rows_in_file));
    let left_out = if check.leaves_out_blank {
        check.blank
    } else {
        0
    };
    if check.rows + left_out != check.rows_in_file {
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
        let _ = write!(
            words,
            "\n  ignored columns: {}",
            check.unused_columns_listed()
        );
    }
    for remark in check.remarks() {
        let _ = write!(words, "\n  {remark}");
    }
    if check.odd_cells.hidden_rows > 0 {
        words.push_str("\n  leave hidden rows out with --hidden-rows skip");
    }
    for row in &check.listed {
        let _ = write!(words, "\n  line {} is refused: {}", row.line, row.reason);
    }
    let unlisted = check.refused.saturating_sub(widened(check.listed.len()));
    if unlisted > 0 {
        let _ = write!(words, "\n  and {} more", rows(unlisted));
    }
    let _ = write!(words, "\n  {}", to_ask(check, price));
    words
}

/// The number of rows that the run would send to the model, and the cost.
fn to_ask(check: &FileCheck, price: TokenPrice) -> String {
    let mut words = match check.answered_before {
        0 => format!("{} to ask about", rows(check.to_ask())),
        answered => {
            let refused = match check.refused {
                0 => String::new(),
                refused => format!(", {} refused", HumanCount(refused)),
            };
            format!(
                "{}: {} answered before{refused}, {} to ask about",
                rows(check.rows),
                HumanCount(answered),
                HumanCount(check.to_ask())
            )
        }
    };
    words.push_str(&cost(check.tokens, check.requests, price));
    words
}

/// An estimated cost, to be appended to a number of rows; empty if no model request is sent.
pub(crate) fn cost(tokens: u64, requests: u64, price: TokenPrice) -> String {
    if requests == 0 {
        return String::new();
    }
    let price = price.of_reading(tokens);
    let price = price.map_or_else(String::new, |price| format!("; {price}"));
    let tokens = counted(tokens, "token");
    let requests = counted(requests, "model request");
    format!(": about {tokens} in {requests}{price}")
}

/// The counts next to the progress bar.
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
pub(crate) fn ended(
    summary: &RunSummary,
    counts: &RunCounts,
    took: Duration,
    price: TokenPrice,
) -> String {
    let rate = rate(counts.done(), took);
    let mut words = format!(
        "{} in {}.{} s{}{}",
        rows(counts.done()),
        took.as_secs(),
        took.subsec_millis() / 100,
        rate.map_or_else(String::new, |rate| format!(" ({rate})")),
        going(counts).replacen(',', ":", 1)
    );
    if counts.requests > 0 {
        let (read, written) = (counts.input_tokens, counts.output_tokens);
        let _ = write!(
            words,
            "\ntokens: {} read, {} written, in {}",
            HumanCount(read),
            HumanCount(written),
            counted(counts.requests, "model request")
        );
        if let Some(cost) = price.of_results(counts.cost) {
            let _ = write!(words, "\ncost: {cost}");
        }
    }
    if counts.truncated > 0 {
        let cut = rows(counts.truncated);
        let _ = write!(
            words,
            "\nthe model server cut the texts of {cut}: see `refract model check`"
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
            let listed = labels.iter().take(MOST_LABELS);
            let mut parts: Vec<_> = listed
                .map(|(label, count)| (plain(label), *count))
                .collect();
            let unlisted = labels.iter().skip(MOST_LABELS);
            let others = unlisted.map(|(_, count)| count).sum();
            let rest = [("others", others), ("empty", empty)];
            let rest = rest.into_iter().filter(|(_, count)| *count > 0);
            parts.extend(rest.map(|(what, count)| (what.to_owned(), count)));
            let percents = percents(parts.iter().map(|(_, count)| *count));
            let parts = parts.iter().zip(percents);
            let parts: Vec<_> = parts
                .map(|((what, _), percent)| format!("{what} {percent}"))
                .collect();
            parts.join(" · ")
        }
    }
}

/// Each count in whole percents that add up to 100: the points lost by rounding down go to the
/// largest remainders.
fn percents(counts: impl Iterator<Item = u64>) -> Vec<String> {
    let counts: Vec<_> = counts.map(u128::from).collect();
    let whole = counts.iter().sum::<u128>().max(1);
    let mut percents: Vec<_> = counts.iter().map(|count| count * 100 / whole).collect();
    let rounded: u128 = percents.iter().sum();
    let missing = usize::try_from(100 - rounded.min(100)).unwrap_or(0);
    let remainders = counts.iter().map(|count| count * 100 % whole);
    let mut by_remainder: Vec<_> = percents.iter_mut().zip(remainders).collect();
    by_remainder.retain(|(_, remainder)| *remainder > 0);
    by_remainder.sort_by_key(|(_, remainder)| Reverse(*remainder));
    for (percent, _) in by_remainder.into_iter().take(missing) {
        *percent += 1;
    }
    let pairs = percents.iter().zip(&counts);
    let describe = |(percent, count): (&u128, &u128)| match percent {
        0 if *count > 0 => "<1%".to_owned(),
        percent => format!("{percent}%"),
    };
    pairs.map(describe).collect()
}

/// Shows the first rows as they would be asked about on a terminal; returns the exit status of a dry
/// run. Texts go into no pipe, which a log may be behind.
pub(crate) fn end_of_check(check: &FileCheck) -> anyhow::Result<ExitCode> {
    if !check.first.is_empty() && streams::stdout_is_terminal() {
        output::text(&first_rows(&check.first))?;
    }
    Ok(match check.refused {
        0 => ExitCode::SUCCESS,
        refused => output::fail_with(&format!("error: {} cannot be asked about", rows(refused))),
    })
}

fn first_rows(rows: &[ShownRow]) -> String {
    let mut words = "The first rows as they are asked about:\n".to_owned();
    for row in rows {
        let _ = write!(words, "  line {}", row.line);
        if let Some(reference) = &row.reference {
            let _ = write!(words, ", {}", cut(reference, SHOWN));
        }
        let fields = row.fields.iter();
        let fields = fields.map(|(key, text)| (key.as_str(), text.as_str()));
        let context = row.context.as_deref().map(|text| ("context", text));
        for (name, text) in fields.chain(context) {
            let _ = write!(words, "\n    {name}: {}", cut(text, SHOWN));
        }
        words.push('\n');
    }
    words
}

/// The exit status of a run that reached the end of its file.
pub(crate) fn end_of_run(counts: &RunCounts) -> ExitCode {
    match unanswered(counts) {
        None => ExitCode::SUCCESS,
        Some(words) => output::fail_with(&format!("error: {words}")),
    }
}

/// How many rows have no answer and what to do about it; `None` if all have one.
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

/// A number of rows with its noun.
pub(crate) fn rows(number: u64) -> String {
    counted(number, "row")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_add_up_to_a_hundred() {
        for (counts, expected) in [
            (&[190, 10][..], &["95%", "5%"][..]),
            (&[189, 11], &["95%", "5%"]),
            (&[1, 1, 1], &["34%", "33%", "33%"]),
            (&[999, 1], &["100%", "<1%"]),
            (&[u64::MAX, u64::MAX], &["50%", "50%"]),
            (&[5, 0], &["100%", "0%"]),
            (&[0], &["0%"]),
            (&[], &[]),
        ] {
            assert_eq!(percents(counts.iter().copied()), expected, "{counts:?}");
        }
    }

    #[test]
    fn the_first_rows_are_cut_and_on_lines_of_their_own() {
        let row = |line, reference: Option<&str>, text: &str| ShownRow {
            line,
            reference: reference.map(str::to_owned),
            fields: vec![("text".to_owned(), text.to_owned())],
            context: reference.map(|_| "a\ncontext".to_owned()),
        };
        let long = "long ".repeat(30);
        let shown = first_rows(&[row(2, Some("M-1"), "one"), row(4, None, &long)]);
        let cut = format!("{}…", long.get(..69).unwrap());
        assert_eq!(
            shown,
            format!(
                "The first rows as they are asked about:\n  line 2, M-1\n    text: one\n    \
                 context: a context\n  line 4\n    text: {cut}\n"
            )
        );
    }
}
