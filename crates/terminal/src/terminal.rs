//! The terminal: its width and its colours.
//!
//! Colour is left out when the stream is not a terminal, when `NO_COLOR` is set, and on dumb
//! terminals. This module knows nothing of prisms, results or commands.

mod bar;
mod counted;
mod escape;
mod progress;

use console::{Alignment, Style, Term};

use crate::streams;

pub(crate) use self::bar::bar;
pub(crate) use self::counted::{counted, widened};
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
    let plain = plain(text);
    let cut = console::truncate_str(&plain, columns, "…");
    console::pad_str(&cut, columns, Alignment::Left, None).into_owned()
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
}
