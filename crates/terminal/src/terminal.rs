//! The terminal: its width and its colours.
//!
//! Colour is left out when the stream is not a terminal, when `NO_COLOR` is set, and on dumb
//! terminals. This module knows nothing of prisms, results or commands.

mod escape;
mod progress;

use console::{Alignment, Style, Term};
use indicatif::HumanCount;

use crate::streams;

pub(crate) use self::escape::{EscapingWriter, escaped, escaped_but_styles};
pub(crate) use self::progress::{Progress, rate};

/// The width in columns when it cannot be determined.
const DEFAULT_WIDTH: usize = 80;

/// The width of the terminal behind stdout in columns; 80 when stdout is not a terminal.
pub(crate) fn width() -> usize {
    let terminal = streams::stdout_is_terminal().then(Term::stdout);
    let size = terminal.and_then(|terminal| terminal.size_checked());
    size.map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns))
}

/// A text on one line, escaped, cut or padded to exactly `columns`, with `…` at the cut.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let cut = cut(text, columns);
    console::pad_str(&cut, columns, Alignment::Left, None).into_owned()
}

/// A text on one line, escaped, cut to at most `columns`, with `…` at the cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    console::truncate_str(&plain(text), columns, "…").into_owned()
}

/// A text on one line, with control characters and invisible ones escaped.
pub(crate) fn plain(text: &str) -> String {
    let on_one_line = text.replace(|c: char| c.is_ascii_whitespace(), " ");
    escaped(&on_one_line).into_owned()
}

/// The width of a text in columns; wide characters take two.
pub(crate) fn columns_of(text: &str) -> usize {
    console::measure_text_width(text)
}

/// The styles of text on stdout; without colour they change nothing.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// The chosen outcome.
    pub(crate) chosen: Style,
    /// Secondary text.
    pub(crate) faint: Style,
    /// Failures.
    pub(crate) bad: Style,
    /// Headings.
    pub(crate) heading: Style,
}

impl Palette {
    /// The styles for stdout.
    pub(crate) fn of_stdout() -> Self {
        let plain = Style::new();
        let plain = if streams::are_captured() {
            plain.force_styling(false)
        } else {
            plain
        };
        Self {
            chosen: plain.clone().green().bold(),
            faint: plain.clone().dim(),
            bad: plain.clone().red().bold(),
            heading: plain.bold(),
        }
    }
}

/// The block characters that are one to seven eighths full.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const FULL: char = '█';
const EMPTY: char = ' ';
const TICK: char = '│';

/// A bar of exactly `columns` characters for a share from 0 to 1, with a vertical line at each of
/// `marks`, also shares from 0 to 1.
pub(crate) fn bar(share: f64, marks: &[f64], columns: usize) -> String {
    let eighths = scaled(share, columns * 8);
    let (full, rest) = (eighths / 8, eighths % 8);
    let partial = rest.checked_sub(1).and_then(|index| EIGHTHS.get(index));
    let filled = std::iter::repeat_n(FULL, full).chain(partial.copied());
    let mut cells: Vec<char> = filled
        .chain(std::iter::repeat(EMPTY))
        .take(columns)
        .collect();
    for mark in marks {
        let last = columns.saturating_sub(1);
        if let Some(cell) = cells.get_mut(scaled(*mark, columns).min(last)) {
            *cell = TICK;
        }
    }
    cells.into_iter().collect()
}

/// Converts a share to steps, rounded; any share above 0 gets at least one step.
fn scaled(share: f64, steps: usize) -> usize {
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    let step = (share.clamp(0.0, 1.0) * f64::from(steps)).round();
    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to `steps`, which is a u32"
    )]
    let step = step as usize;
    step.max(usize::from(share > 0.0))
}

/// A number with its noun, in the plural unless the number is 1: `1 row`, `1,200 rows`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", HumanCount(number))
}

/// Converts a length to a count.
pub(crate) fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice_and_commands_to_the_terminal_are_escaped() {
        assert_eq!(columns_of("漢字 a"), 6);
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(fit("a\u{1b}[31mb\r\n\tc", 18), "a\\u001b[31mb   c  ");
    }

    #[test]
    fn a_bar_has_its_width_whatever_the_share() {
        assert_eq!(bar(0.0, &[], 4), "    ");
        assert_eq!(bar(0.000_001, &[], 4), "▏   ");
        assert_eq!(bar(0.5, &[], 4), "██  ");
        assert_eq!(bar(0.53, &[], 4), "██▏ ");
        assert_eq!(bar(1.0, &[], 4), "████");
        assert_eq!(bar(f64::NAN, &[], 3).chars().count(), 3);
        assert_eq!(bar(1.0, &[], 0), "");
    }

    #[test]
    fn a_mark_stands_where_its_share_is() {
        assert_eq!(bar(0.8, &[0.4, 0.6], 10), "████│█│█  ");
        assert_eq!(bar(0.1, &[1.0], 4), "▍  │");
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(counted(0, "row"), "0 rows");
        assert_eq!(counted(1, "model request"), "1 model request");
        assert_eq!(counted(1_200, "row"), "1,200 rows");
    }
}
