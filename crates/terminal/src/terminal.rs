//! The terminal: its width and its colours.
//!
//! Colour is left out when the stream is not a terminal, when `NO_COLOR` is set, and on dumb
//! terminals. This module knows nothing of prisms, results or commands.

mod progress;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::iter::Peekable;
use std::str::Chars;

use console::{Alignment, Style, Term};
use indicatif::HumanCount;
use refract_domain::problem::text::is_invisible;

use crate::streams;

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

/// Joiners, required by Persian, Indic scripts and emoji.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// Escapes every character that steers a terminal or is invisible: control characters except tabs
/// and line breaks, direction characters, and zero-width characters. A joiner between two non-ASCII
/// characters stays, since scripts and emoji need it.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) && !text.contains(JOINERS) && !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if stays(before, char, &mut rest) {
            shown.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                // writing to a String cannot fail
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
        before = Some(char);
    }
    Cow::Owned(shown)
}

/// Whether a character is shown unescaped, given the character before it and the rest.
fn stays(before: Option<char>, char: char, rest: &mut Peekable<Chars<'_>>) -> bool {
    let next = rest.peek().copied();
    if char == '\r' {
        return next == Some('\n');
    }
    if JOINERS.contains(&char) {
        let joins = |beside: Option<char>| {
            beside.is_some_and(|c| !c.is_ascii() && !is_hidden(c) && !JOINERS.contains(&c))
        };
        return joins(before) && joins(next);
    }
    !is_hidden(char)
}

/// Whether a character may steer a terminal or is invisible. Exceptions are tabs, line ends, joiners,
/// and the two variation selectors that choose between an emoji and its plain form.
fn is_hidden(char: char) -> bool {
    match char {
        '\t' | '\n' | '\r' | '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => false,
        _ => char.is_control() || is_invisible(char),
    }
}

/// The escaped text, except for the colours and weights set by this program.
pub(crate) fn escaped_but_styles(text: &str) -> String {
    let parts = console::AnsiCodeIterator::new(text);
    let parts = parts.map(|(part, is_code)| {
        if is_code && is_style(part) {
            Cow::Borrowed(part)
        } else {
            escaped(part)
        }
    });
    parts.collect()
}

/// Whether a terminal code only changes colours and weights.
fn is_style(code: &str) -> bool {
    let inner = code.strip_prefix("\u{1b}[");
    let inner = inner.and_then(|code| code.strip_suffix('m'));
    inner.is_some_and(|inner| {
        inner
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b';')
    })
}

/// A writer to a terminal that escapes line by line.
pub(crate) struct EscapingWriter<W> {
    inner: W,
    /// The beginning of an unfinished line.
    begun: Vec<u8>,
}

impl<W: Write> EscapingWriter<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            begun: Vec::new(),
        }
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let end = self.begun.iter().rposition(|byte| *byte == b'\n');
        if let Some(end) = end {
            let rest = self.begun.split_off(end + 1);
            let lines = std::mem::replace(&mut self.begun, rest);
            write_escaped(&mut self.inner, &lines)?;
        }
        Ok(bytes.len())
    }

    /// Flushes an unfinished line too.
    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        write_escaped(&mut self.inner, &begun)?;
        self.inner.flush()
    }
}

fn write_escaped(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(escaped(&String::from_utf8_lossy(bytes)).as_bytes())
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

    #[test]
    fn what_a_terminal_could_obey_is_escaped() {
        for (text, shown) in [
            ("plain \u{fc} \u{6f22}\t\n", "plain \u{fc} \u{6f22}\t\n"),
            ("a\u{1b}[31mb", "a\\u001b[31mb"),
            (
                "\u{0}\u{7}\u{7f}\u{9b}2J\u{85}",
                "\\u0000\\u0007\\u007f\\u009b2J\\u0085",
            ),
            (
                "\u{202e}a\u{2066}\u{2069}\u{200f}\u{61c}",
                "\\u202ea\\u2066\\u2069\\u200f\\u061c",
            ),
            (
                "\u{200b}\u{feff}\u{ad}\u{2060}\u{2028}\u{3164}",
                "\\u200b\\ufeff\\u00ad\\u2060\\u2028\\u3164",
            ),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("over\rwritten\r\n\r", "over\\u000dwritten\r\n\\u000d"),
        ] {
            assert_eq!(escaped(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_joiner_stays_where_scripts_and_emoji_need_it() {
        for kept in [
            "\u{645}\u{6cc}\u{200c}\u{62e}",
            "\u{1f469}\u{200d}\u{1f692}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
        ] {
            assert_eq!(escaped(kept), kept);
        }
        assert_eq!(escaped("ad\u{200d}min"), "ad\\u200dmin");
        assert_eq!(escaped("\u{200c}\u{645}"), "\\u200c\u{645}");
        assert_eq!(
            escaped("\u{645}\u{200c}\u{200c}\u{645}"),
            "\u{645}\\u200c\\u200c\u{645}"
        );
    }

    #[test]
    fn escaped_json_is_json_of_equal_value() {
        let hidden: String = (0..=0x0010_ffff)
            .filter_map(char::from_u32)
            .filter(|c| is_hidden(*c))
            .collect();
        let json = serde_json::to_string(&[hidden.clone(), "\u{200d}a".to_owned()]).unwrap();
        let shown = escaped(&json);
        assert!(
            !shown.chars().any(is_hidden) && !shown.contains(JOINERS),
            "{shown}"
        );
        let read: [String; 2] = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, [hidden, "\u{200d}a".to_owned()]);
    }

    #[test]
    fn colours_of_ours_stay_and_other_codes_do_not() {
        let styled = "\u{1b}[1m\u{1b}[32mgood\u{1b}[0m \u{202e}";
        assert_eq!(
            escaped_but_styles(styled),
            "\u{1b}[1m\u{1b}[32mgood\u{1b}[0m \\u202e"
        );
        for code in ["\u{1b}[2J", "\u{1b}]0;title\u{7}", "\u{9b}31m", "\u{1b}c"] {
            let shown = escaped_but_styles(code);
            assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{shown:?}");
        }
    }

    #[test]
    fn rows_are_escaped_wherever_their_bytes_are_parted() {
        let rows = "a,\u{1f469}\u{200d}\u{1f692}\r\nb\u{202e},\u{fc}\r\nc\r";
        let shown = "a,\u{1f469}\u{200d}\u{1f692}\r\nb\\u202e,\u{fc}\r\nc\\u000d";
        for part in 1..rows.len() {
            let mut written = Vec::new();
            let mut writer = EscapingWriter::new(&mut written);
            for bytes in rows.as_bytes().chunks(part) {
                writer.write_all(bytes).unwrap();
            }
            writer.flush().unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), shown, "{part}");
        }
    }
}
