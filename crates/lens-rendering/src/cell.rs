//! Cells of csv and tsv: quoting, line ends and the guard against formulas (spec 4.0).

use std::cmp::Reverse;
use std::io::{self, Write};

use refract_domain::decimal::Decimal;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Value;
use refract_domain::probability::Probability;
use refract_domain::question::Question;

/// What tells csv and tsv apart.
#[derive(Clone, Copy)]
pub(crate) enum Dialect {
    Csv,
    Tsv,
}

/// Writes the cells of one line, one after the other.
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

    /// A cell with nothing to quote or guard: a number, an id, a name in `snake_case`.
    pub(crate) fn plain(&mut self, cell: &[u8]) -> io::Result<()> {
        self.next_cell()?.write_all(cell)
    }

    /// A cell of text, whatever is in it.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        let dialect = self.dialect;
        let out = self.next_cell()?;
        match dialect {
            Dialect::Csv => write_csv_text(out, text),
            Dialect::Tsv => write_tsv_text(out, text),
        }
    }

    /// What a lens column shows (spec 2.5).
    pub(crate) fn value(&mut self, value: Value<'_>) -> io::Result<()> {
        match value {
            Value::Null => self.next_cell().map(|_| ()),
            Value::Outcome { key: _, label } => self.text(label),
            Value::YesNo(label) => self.plain(label.label().as_bytes()),
            Value::Probability(probability) => self.plain(probability.decimal().as_bytes()),
            Value::Position(position) => self.plain(Decimal::from(position).as_bytes()),
            Value::Average(average) => self.plain(average.decimal().as_bytes()),
            Value::All {
                question,
                probabilities,
            } => self.text(&text_list(question, probabilities)),
        }
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(match self.dialect {
            Dialect::Csv => b"\r\n",
            Dialect::Tsv => b"\n",
        })
    }

    fn next_cell(&mut self) -> io::Result<&mut W> {
        if !self.is_empty {
            self.out.write_all(match self.dialect {
                Dialect::Csv => b",",
                Dialect::Tsv => b"\t",
            })?;
        }
        self.is_empty = false;
        Ok(self.out)
    }
}

/// Whether a spreadsheet could take the text for a formula.
fn looks_like_a_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

fn write_csv_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    let guard: &[u8] = if looks_like_a_formula(text) {
        b"'"
    } else {
        b""
    };
    if !has_any_of(text, *b",\"\r\n") {
        out.write_all(guard)?;
        return out.write_all(text.as_bytes());
    }
    out.write_all(b"\"")?;
    out.write_all(guard)?;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('"') {
        out.write_all(before.as_bytes())?;
        out.write_all(b"\"\"")?;
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\"")
}

fn write_tsv_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    if looks_like_a_formula(text) {
        out.write_all(b"'")?;
    }
    if !has_any_of(text, *b"\t\r\n") {
        return out.write_all(text.as_bytes());
    }
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(['\t', '\r', '\n']) {
        out.write_all(before.as_bytes())?;
        out.write_all(b" ")?;
        let was_carriage_return = rest.as_bytes().get(before.len()) == Some(&b'\r');
        // CRLF is one line break
        let after_crlf = after.strip_prefix('\n').filter(|_| was_carriage_return);
        rest = after_crlf.unwrap_or(after);
    }
    out.write_all(rest.as_bytes())
}

/// Whether one of these ASCII characters is in the text.
fn has_any_of<const N: usize>(text: &str, characters: [u8; N]) -> bool {
    let is_one = |byte: &u8| characters.contains(byte);
    let (chunks, rest) = text.as_bytes().as_chunks::<16>();
    // looking at every byte of a chunk before deciding lets the compiler take them all at once
    let mut chunks = chunks.iter();
    chunks.any(|chunk| chunk.iter().fold(false, |found, byte| found | is_one(byte)))
        || rest.iter().any(is_one)
}

/// `Label: 0.62; Other label: 0.3`, highest first, equal ones in the prism's order (spec 2.5).
fn text_list(question: &Question, probabilities: &[(OutcomeKey, Probability)]) -> String {
    let mut outcomes = question.outcomes();
    let mut entries: Vec<(&str, Probability)> = probabilities
        .iter()
        .map(|(key, probability)| {
            // both are in the prism's order
            let next = outcomes
                .next()
                .filter(|outcome| outcome.key == key.as_str());
            let label = next
                .map(|outcome| outcome.label)
                .or_else(|| question.label_of(key));
            (label.unwrap_or(key.as_str()), *probability)
        })
        .collect();
    entries.sort_by_key(|(_, probability)| Reverse(*probability));
    let mut list = String::new();
    for (label, probability) in entries {
        if !list.is_empty() {
            list.push_str("; ");
        }
        list.push_str(label);
        list.push_str(": ");
        list.push_str(probability.decimal().as_str());
    }
    list
}
