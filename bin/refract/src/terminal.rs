//! What a person sits at: whether there is a terminal, how wide it is, whether it has colour.
//!
//! Colour is left out where a stream is no terminal, where `NO_COLOR` is set and on dumb
//! terminals. Nothing here knows of prisms, results or commands.

mod bar;
mod progress;

use std::io::{self, IsTerminal as _};

use console::{Alignment, Style, Term};

pub(crate) use self::bar::bar;
pub(crate) use self::progress::Progress;

/// The width where nobody says another.
const DEFAULT_WIDTH: usize = 80;

/// Whether stdout is a terminal: then a person reads it.
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether stderr is a terminal: then it may draw.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Columns of the terminal that stdout is; 80 where it is none.
pub(crate) fn width() -> usize {
    let size = Term::stdout().size_checked();
    size.map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns))
}

/// A text cut to so many columns, with `…` at the cut, and padded to them. Characters that can be
/// taken for commands to the terminal are left out.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let plain = plain(text);
    let cut = console::truncate_str(&plain, columns, "…");
    console::pad_str(&cut, columns, Alignment::Left, None).into_owned()
}

/// A text on one line, without characters that can be taken for commands to the terminal.
pub(crate) fn plain(text: &str) -> String {
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|c| !c.is_control()).collect()
}

/// Columns that a text takes: wide characters take two.
pub(crate) fn columns_of(text: &str) -> usize {
    console::measure_text_width(text)
}

/// How words on stdout stand out, where there is colour.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// What was chosen.
    pub(crate) chosen: Style,
    /// What stands behind the rest.
    pub(crate) faint: Style,
    /// What failed.
    pub(crate) bad: Style,
    /// Headings.
    pub(crate) heading: Style,
}

impl Palette {
    /// For stdout.
    pub(crate) fn of_stdout() -> Self {
        Self {
            chosen: Style::new().green().bold(),
            faint: Style::new().dim(),
            bad: Style::new().red().bold(),
            heading: Style::new().bold(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice_and_commands_to_the_terminal_not_at_all() {
        assert_eq!(columns_of("漢字 a"), 6);
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(fit("a\u{1b}[31mb\r\n\tc", 12), "a[31mb   c  ");
    }
}
