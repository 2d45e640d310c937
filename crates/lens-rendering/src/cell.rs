//! Writes cells, and lines of csv and tsv with separators, quotes and the guard against formula
//! injection (spec 4.0).

use std::cmp::Reverse;
use std::io::{self, Write};

use refract_domain::answer::{Decimal, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Value;
use refract_domain::prism::Question;

use crate::row::further::FurtherValue;

/// What stands between two outcomes of a list.
const BETWEEN: &str = "; ";

/// The text of a value for people, as in a cell of csv or tsv but without quotes and the formula
/// guard, which only files need. Empty for no value.
pub fn cell_text(value: Value<'_>) -> String {
    let mut text = Vec::new();
    // writing into memory cannot fail
    let _ = Line::begin(Dialect::Shown, &mut text).value(value);
    String::from_utf8(text).unwrap_or_default()
}

/// Writes texts as one line of csv, quoted and guarded against formula injection like every text
/// cell.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_csv_line<'a>(
    cells: impl IntoIterator<Item = &'a str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = Line::begin(Dialect::Csv, out);
    for cell in cells {
        line.text(cell)?;
    }
    line.end()
}

/// Where cells are written: csv, tsv, or a single cell shown to people. It determines separator,
/// line end, quotes and formula guard.
#[derive(Clone, Copy)]
pub(crate) enum Dialect {
    Csv,
    /// Csv with semicolons between cells and commas in decimals.
    CsvWithCommas,
    Tsv,
    Shown,
}

impl Dialect {
    fn separator(self) -> &'static [u8] {
        match self {
            Self::Csv => b",",
            Self::CsvWithCommas => b";",
            Self::Tsv => b"\t",
            Self::Shown => b"",
        }
    }

    fn line_end(self) -> &'static [u8] {
        match self {
            Self::Csv | Self::CsvWithCommas => b"\r\n",
            Self::Tsv => b"\n",
            Self::Shown => b"",
        }
    }

    /// Whether a text must be quoted or changed to fit in a cell.
    fn is_special(self, text: &str) -> bool {
        match self {
            Self::Csv => has_any_of(text, *b",\"\r\n"),
            Self::CsvWithCommas => has_any_of(text, *b";\"\r\n"),
            Self::Tsv => has_any_of(text, *b"\t\r\n"),
            Self::Shown => false,
        }
    }

    /// Whether a spreadsheet would read a text with this beginning as a formula, so that it needs
    /// the guard.
    fn is_guarded(self, beginning: &str) -> bool {
        match self {
            Self::Csv | Self::CsvWithCommas | Self::Tsv => matches!(
                beginning.as_bytes().first(),
                Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')
            ),
            Self::Shown => false,
        }
    }
}

/// Writes one line, cell by cell.
pub(crate) struct Line<'w, W> {
    dialect: Dialect,
    out: &'w mut W,
    is_empty: bool,
}

impl<'w, W: Write> Line<'w, W> {
    pub(crate) fn begin(dialect: Dialect, out: &'w mut W) -> Self {
        Self {
            dialect,
            out,
            is_empty: true,
        }
    }

    /// Writes a cell that needs no quotes and no guard: a number, an id or a name in `snake_case`.
    pub(crate) fn plain(&mut self, cell: &[u8]) -> io::Result<()> {
        self.begin_cell()?;
        self.out.write_all(cell)
    }

    /// Writes a cell with any text.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        let mut cell = self.begin_text(text, self.dialect.is_special(text))?;
        cell.write(text)?;
        cell.end()
    }

    /// Writes a cell of another table. A negative number is no formula there.
    pub(crate) fn cell(&mut self, text: &str) -> io::Result<()> {
        let guarded = if is_negative_number(text) { "" } else { text };
        let mut cell = self.begin_text(guarded, self.dialect.is_special(text))?;
        cell.write(text)?;
        cell.end()
    }

    /// Writes a cell with a number that may have decimals.
    fn decimal(&mut self, number: &[u8]) -> io::Result<()> {
        self.begin_cell()?;
        write_decimal(self.dialect, self.out, number)
    }

    /// Writes the value of a lens column (spec 2.5).
    pub(crate) fn value(&mut self, value: Value<'_>) -> io::Result<()> {
        match value {
            Value::Null => self.begin_cell(),
            Value::Outcome { key: _, label } => self.text(label),
            Value::YesNo(label) => self.plain(label.label().as_bytes()),
            Value::Probability(probability) => self.decimal(probability.decimal().as_bytes()),
            Value::Position(position) => self.plain(Decimal::from(position).as_bytes()),
            Value::Average(average) => self.decimal(average.decimal().as_bytes()),
            Value::All {
                question,
                probabilities,
            } => self.list(question, probabilities),
        }
    }

    /// Writes the value of a column after those of the lens.
    pub(crate) fn further(&mut self, value: FurtherValue<'_>) -> io::Result<()> {
        match value {
            FurtherValue::OfQuestion(value) => self.value(value),
            FurtherValue::Text(text) => self.text(text.unwrap_or_default()),
            FurtherValue::Integer(number) => self.plain(Decimal::from(number).as_bytes()),
            FurtherValue::Cost(Some(cost)) => self.decimal(cost.to_string().as_bytes()),
            FurtherValue::Cost(None) => self.begin_cell(),
        }
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(self.dialect.line_end())
    }

    /// Writes all outcomes as `Label: 0.62; Other label: 0.3`, highest probability first, ties in
    /// the prism's order (readings).
    fn list(
        &mut self,
        question: &Question,
        probabilities: &[(OutcomeKey, Probability)],
    ) -> io::Result<()> {
        let mut entries = labelled(question, probabilities);
        entries.sort_by_key(|(_, probability)| Reverse(*probability));
        let beginning = entries.first().map_or("", |(label, _)| label);
        let labels = entries.iter().map(|(label, _)| *label);
        let mut parts = labels.chain((entries.len() > 1).then_some(BETWEEN));
        let is_special = parts.any(|part| self.dialect.is_special(part));
        let mut cell = self.begin_text(beginning, is_special)?;
        for (index, (label, probability)) in entries.into_iter().enumerate() {
            if index > 0 {
                cell.out.write_all(BETWEEN.as_bytes())?;
            }
            cell.write(label)?;
            cell.out.write_all(b": ")?;
            write_decimal(cell.dialect, cell.out, probability.decimal().as_bytes())?;
        }
        cell.end()
    }

    /// Begins a cell whose text starts with `beginning`; `is_special` is true if any part of the
    /// text is special.
    fn begin_text(&mut self, beginning: &str, is_special: bool) -> io::Result<TextCell<'_, W>> {
        self.begin_cell()?;
        let cell = TextCell {
            dialect: self.dialect,
            is_special,
            out: self.out,
        };
        if cell.is_quoted() {
            cell.out.write_all(b"\"")?;
        }
        if cell.dialect.is_guarded(beginning) {
            cell.out.write_all(b"'")?;
        }
        Ok(cell)
    }

    fn begin_cell(&mut self) -> io::Result<()> {
        if self.is_empty {
            self.is_empty = false;
            return Ok(());
        }
        self.out.write_all(self.dialect.separator())
    }
}

/// A cell whose text is written in parts.
struct TextCell<'w, W> {
    dialect: Dialect,
    is_special: bool,
    out: &'w mut W,
}

impl<W: Write> TextCell<'_, W> {
    fn write(&mut self, text: &str) -> io::Result<()> {
        if !self.is_special {
            return self.out.write_all(text.as_bytes());
        }
        match self.dialect {
            Dialect::Csv | Dialect::CsvWithCommas => write_doubling_quotes(self.out, text),
            Dialect::Tsv => write_with_spaces(self.out, text),
            Dialect::Shown => self.out.write_all(text.as_bytes()),
        }
    }

    fn end(self) -> io::Result<()> {
        if self.is_quoted() {
            self.out.write_all(b"\"")
        } else {
            Ok(())
        }
    }

    fn is_quoted(&self) -> bool {
        match self.dialect {
            Dialect::Csv | Dialect::CsvWithCommas => self.is_special,
            Dialect::Tsv | Dialect::Shown => false,
        }
    }
}

/// Whether a text is a negative number with at most one point or comma.
fn is_negative_number(text: &str) -> bool {
    let Some(number) = text.strip_prefix('-') else {
        return false;
    };
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(whole) && is_digits(fraction)
}

/// Writes a decimal with the sign of its dialect.
fn write_decimal(dialect: Dialect, out: &mut impl Write, number: &[u8]) -> io::Result<()> {
    let point = number.iter().position(|byte| *byte == b'.');
    match (
        dialect,
        point.and_then(|point| number.split_at_checked(point)),
    ) {
        (Dialect::CsvWithCommas, Some((whole, fraction))) => {
            out.write_all(whole)?;
            out.write_all(b",")?;
            out.write_all(fraction.get(1..).unwrap_or_default())
        }
        (Dialect::Csv | Dialect::CsvWithCommas | Dialect::Tsv | Dialect::Shown, _) => {
            out.write_all(number)
        }
    }
}

fn write_doubling_quotes(out: &mut impl Write, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        out.write_all(before.as_bytes())?;
        out.write_all(b"\"\"")?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Writes a text with each tab and line break replaced by a space; CRLF is one line break
/// (readings).
fn write_with_spaces(out: &mut impl Write, text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while let Some(place) = rest
        .iter()
        .position(|byte| matches!(byte, b'\t' | b'\r' | b'\n'))
    {
        let (before, from) = rest.split_at(place);
        out.write_all(before)?;
        out.write_all(b" ")?;
        rest = from
            .strip_prefix(b"\r\n")
            .or(from.get(1..))
            .unwrap_or_default();
    }
    out.write_all(rest)
}

/// Whether the text contains any of these ASCII characters.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without early exits the compiler compares all bytes of a chunk at once"
)]
fn has_any_of<const N: usize>(text: &str, characters: [u8; N]) -> bool {
    let is_one = |byte: &u8| {
        characters
            .iter()
            .fold(false, |found, one| found | (one == byte))
    };
    let (chunks, rest) = text.as_bytes().as_chunks::<16>();
    let mut chunks = chunks.iter();
    chunks.any(|chunk| chunk.iter().fold(false, |found, byte| found | is_one(byte)))
        || rest.iter().any(is_one)
}

/// The label of each outcome in the version that answered, with the outcome's probability.
fn labelled<'a>(
    question: &'a Question,
    probabilities: &'a [(OutcomeKey, Probability)],
) -> Vec<(&'a str, Probability)> {
    let mut outcomes = question.outcomes();
    let entry = |(key, probability): &'a (OutcomeKey, Probability)| {
        // outcomes and probabilities are both in the prism's order
        let next = outcomes
            .next()
            .filter(|outcome| outcome.key == key.as_str());
        let label = next
            .map(|outcome| outcome.label)
            .or_else(|| question.label_of(key));
        (label.unwrap_or(key.as_str()), *probability)
    };
    probabilities.iter().map(entry).collect()
}
