//! The output of commands: data to stdout, messages to stderr.
//!
//! Data is exact in a pipe. On a terminal, and in all output for people, control characters are
//! escaped.

pub(crate) mod file;
pub(crate) mod report;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::Context as _;
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table};
use refract_domain::result::Cost;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::streams;
use crate::terminal::{self, EscapingWriter};

/// The message when data could not be written to stdout.
pub(crate) const NOT_WRITTEN: &str = "cannot write to stdout";
/// Size in bytes of the buffer for rows.
const ROWS_BUFFER: usize = 64 * 1024;

/// Writes one JSON object as a line.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    data(&line)
}

/// Writes one JSON object, with its members in this order, as a line.
pub(crate) fn object(members: &[(&str, Box<RawValue>)]) -> anyhow::Result<()> {
    json(&NamedMembers(members))
}

/// The members of a JSON object in their order.
pub(crate) struct NamedMembers<'a, V>(pub(crate) &'a [(&'a str, V)]);

impl<V: Serialize> Serialize for NamedMembers<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        in_order(self.0, serializer)
    }
}

/// Anything as a member of an object, or in a list, of values of several types.
pub(crate) fn value(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Writes an indented JSON object, for people to read and edit.
pub(crate) fn pretty_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    data(&text)
}

/// A number as a plain decimal: never with an exponent, and without `.0`.
pub(crate) fn plain_number(number: f64) -> Box<RawValue> {
    RawValue::from_string(number.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A cost as a JSON number with all its decimals.
pub(crate) fn exact_cost(cost: Cost) -> Option<Box<RawValue>> {
    RawValue::from_string(cost.to_string()).ok()
}

/// Serializes names and values as one object, in this order.
pub(crate) fn in_order<S: Serializer>(
    members: &[(&str, impl Serialize)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
}

/// Writes rows under headers, or each row as a JSON line.
pub(crate) fn list<R: Serialize>(
    as_json: bool,
    headers: &[&str],
    rows: &[R],
    cells: impl Fn(&R) -> Vec<String>,
) -> anyhow::Result<()> {
    if as_json {
        return rows.iter().try_for_each(json);
    }
    table(headers, rows.iter().map(cells))
}

/// Writes a table. On a terminal every row takes one line: empty columns are left out, the first
/// column is shown whole, and the other columns share the remaining width and are cut to fit.
pub(crate) fn table(
    headers: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> anyhow::Result<()> {
    let width = streams::stdout_is_terminal().then(terminal::width);
    let rows: Vec<_> = rows.into_iter().collect();
    text(&format!("{}\n", drawn(headers, &rows, width)))
}

fn drawn(headers: &[&str], rows: &[Vec<String>], width: Option<usize>) -> Table {
    let is_filled = |index| {
        rows.iter()
            .any(|row| row.get(index) != Some(&String::new()))
    };
    let columns = 0..headers.len();
    let is_shown: Vec<_> = columns
        .map(|index| index == 0 || width.is_none() || rows.is_empty() || is_filled(index))
        .collect();
    let mut table = Table::new();
    let headers = shown(headers, &is_shown).map(|header| header.to_uppercase());
    table.load_style(NOTHING).set_header(line(headers));
    for cells in rows {
        let cells = shown(cells, &is_shown).map(|cell| terminal::plain(cell));
        table.add_row(line(cells));
    }
    let Some(width) = width else { return table };
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    if let Some(first) = table.column_mut(0) {
        first.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
}

/// The cells of the visible columns.
fn shown<'a, T>(cells: &'a [T], is_shown: &'a [bool]) -> impl Iterator<Item = &'a T> {
    let cells = cells.iter().zip(is_shown);
    cells
        .filter(|(_, is_shown)| **is_shown)
        .map(|(cell, _)| cell)
}

/// A row of one line.
fn line(cells: impl Iterator<Item = String>) -> Row {
    let mut row = Row::from(cells);
    row.max_height(1);
    row
}

/// Writes text for people to stdout. On a terminal it is escaped, except for this program's own
/// colours.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    write(terminal::escaped_but_styles(text).as_bytes())
}

/// Writes JSON, rows or a script to stdout: unchanged in a pipe, escaped on a terminal.
pub(crate) fn data(bytes: &[u8]) -> anyhow::Result<()> {
    if streams::stdout_is_terminal() {
        return write(terminal::escaped(&String::from_utf8_lossy(bytes)).as_bytes());
    }
    write(bytes)
}

/// Buffered stdout for rows: unchanged in a pipe, escaped on a terminal. The caller must flush it.
pub(crate) fn rows() -> Box<dyn Write> {
    let stdout = streams::stdout();
    if streams::stdout_is_terminal() {
        Box::new(EscapingWriter::new(stdout))
    } else {
        Box::new(BufWriter::with_capacity(ROWS_BUFFER, stdout))
    }
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = streams::stdout();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.context(NOT_WRITTEN)
}

/// Writes a message to stderr, escaped. A closed stderr is not an error, since there is no reader.
pub(crate) fn say(message: &str) {
    let message = without_inner_stops(&without_error_numbers(message));
    let message = terminal::escaped_but_styles(&message);
    let _ = writeln!(streams::stderr(), "{message}");
}

/// A message without the error numbers that Rust adds to messages of the operating system:
/// `(os error 2)`.
fn without_error_numbers(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                words.push_str(rest);
            }
            Some(_) | None => {
                words.push_str(" (os error ");
                words.push_str(part);
            }
        }
    }
    words
}

/// A message in which a sentence that a semicolon continues has lost its full stop.
fn without_inner_stops(message: &str) -> String {
    message.replace(".; ", "; ")
}

/// The exit status of wrong usage.
const WRONG_USAGE: u8 = 2;

/// The exit status of a finished command: an error is written to stderr as one line. A closed pipe
/// on stdout is not an error: a reader such as `head` stops early.
pub fn exit_code(ended: anyhow::Result<ExitCode>) -> ExitCode {
    match ended {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<WrongUsage>() => {
            fail_with(&format!("error: {error:#}"));
            ExitCode::from(WRONG_USAGE)
        }
        Err(error) => fail_with(&format!("error: {error:#}")),
    }
}

/// An argument that names something that is not there, so that nothing was begun: exit status 2, as for
/// what the parser of the command line refuses.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongUsage(pub(crate) String);

/// Writes a message as one line to stderr; returns the exit status for failure.
pub fn fail_with(line: &str) -> ExitCode {
    say(&line.replace('\n', " "));
    ExitCode::FAILURE
}

/// Shows help or the version, or reports wrong usage as clap words it; returns the exit status.
pub(crate) fn wrong_usage(error: &clap::Error) -> ExitCode {
    let explained = error.render();
    if !error.use_stderr() {
        let help = if console::colors_enabled() && !streams::are_captured() {
            explained.ansi().to_string()
        } else {
            explained.to_string()
        };
        return exit_code(text(&help).map(|()| ExitCode::SUCCESS));
    }
    let explained = if console::colors_enabled_stderr() && !streams::are_captured() {
        explained.ansi().to_string()
    } else {
        explained.to_string()
    };
    say(explained.trim_end());
    ExitCode::from(WRONG_USAGE)
}

/// Whether an error means that the reader of stdout has closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(ToOwned::to_owned).to_vec();
        vec![
            row([
                "0190b8f2-0000-7000-8000-0000000000aa",
                "\u{6f22}\u{5b57}\u{6f22}\u{5b57}",
                "a b",
            ]),
            row([
                "0190b8f2-0000-7000-8000-0000000000ab",
                "two\nlines\u{1b}[31m",
                &"word ".repeat(40),
            ]),
        ]
    }

    #[test]
    fn on_a_terminal_a_row_is_a_line_that_fits() {
        for width in [50, 60, 80, 200] {
            let drawn = drawn(&["id", "name", "words"], &rows(), Some(width)).to_string();
            assert_eq!(drawn.lines().count(), 3, "{drawn}");
            for line in drawn.lines() {
                assert!(terminal::columns_of(line) <= width, "{width}: {drawn}");
            }
            assert!(
                drawn.contains("0190b8f2-0000-7000-8000-0000000000ab"),
                "{drawn}"
            );
        }
    }

    #[test]
    fn a_message_has_words_without_numbers() {
        let plain = |message| without_error_numbers(message);
        assert_eq!(
            plain("cannot read x: No such file (os error 2)"),
            "cannot read x: No such file"
        );
        assert_eq!(plain("a (os error 2); b (os error 13)."), "a; b.");
        for kept in ["nothing", "a (os error", "a (os error two)", "(os error 2)"] {
            assert_eq!(plain(kept), kept);
        }
    }

    #[test]
    fn a_full_stop_ends_a_message_alone() {
        let message = "answered with status 429.; all is saved. Go on.";
        let expected = "answered with status 429; all is saved. Go on.";
        assert_eq!(without_inner_stops(message), expected);
    }

    #[test]
    fn on_a_terminal_an_empty_column_takes_no_room() {
        let mut rows = rows();
        for row in &mut rows {
            row[1].clear();
        }
        let headers = ["id", "name", "words"];
        let on_terminal = drawn(&headers, &rows, Some(80)).to_string();
        assert!(!on_terminal.contains("NAME") && on_terminal.contains("WORDS"));
        let elsewhere = drawn(&headers, &rows, None).to_string();
        assert!(elsewhere.contains("NAME"));
        let empty = drawn(&headers, &[], Some(80)).to_string();
        assert!(empty.contains("NAME"));
    }

    #[test]
    fn elsewhere_nothing_is_cut_and_wide_characters_count_twice() {
        let drawn = drawn(&["id", "name", "words"], &rows(), None).to_string();
        assert!(drawn.contains(&"word ".repeat(40)), "{drawn}");
        assert!(
            !drawn.contains('\u{1b}') && drawn.lines().count() == 3,
            "{drawn}"
        );
        let column_of = |line: &str, part: &str| {
            let (before, _) = line.split_once(part).unwrap();
            terminal::columns_of(before)
        };
        let lines: Vec<_> = drawn.lines().collect();
        assert_eq!(
            column_of(lines[1], "a b"),
            column_of(lines[2], "word"),
            "{drawn}"
        );
    }
}
