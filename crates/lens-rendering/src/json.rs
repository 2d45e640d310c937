//! Writes compact JSON. Object keys keep the order of the calls; numbers are plain decimals.

use std::io::{self, Write};

use chrono::{DateTime, Datelike as _, Timelike as _, Utc};
use refract_domain::answer::{Decimal, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Value;

use crate::row::further::FurtherValue;

/// Writes one JSON object, entry by entry.
pub(crate) struct ObjectWriter<'w, W> {
    out: &'w mut W,
    is_empty: bool,
}

impl<'w, W: Write> ObjectWriter<'w, W> {
    pub(crate) fn begin(out: &'w mut W) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Self {
            out,
            is_empty: true,
        })
    }

    /// Writes a key, which is `snake_case` and needs no escapes. The caller writes the value next.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<&mut W> {
        self.out
            .write_all(if self.is_empty { b"\"" } else { b",\"" })?;
        self.is_empty = false;
        self.out.write_all(key.as_bytes())?;
        self.out.write_all(b"\":")?;
        Ok(self.out)
    }

    pub(crate) fn string(&mut self, key: &str, text: &str) -> io::Result<()> {
        write_string(self.key(key)?, text)
    }

    /// Writes an entry whose key may be any text.
    pub(crate) fn string_under(&mut self, key: &str, text: &str) -> io::Result<()> {
        if !self.is_empty {
            self.out.write_all(b",")?;
        }
        self.is_empty = false;
        write_string(self.out, key)?;
        self.out.write_all(b":")?;
        write_string(self.out, text)
    }

    pub(crate) fn string_or_null(&mut self, key: &str, text: Option<&str>) -> io::Result<()> {
        match text {
            Some(text) => self.string(key, text),
            None => write_null(self.key(key)?),
        }
    }

    /// Writes an entry with a text that needs no escapes: an id, a key or a moment.
    pub(crate) fn plain_string(&mut self, key: &str, text: &[u8]) -> io::Result<()> {
        write_plain_string(self.key(key)?, text)
    }

    pub(crate) fn number(&mut self, key: &str, number: Decimal) -> io::Result<()> {
        self.key(key)?.write_all(number.as_bytes())
    }

    pub(crate) fn end(self) -> io::Result<()> {
        self.out.write_all(b"}")
    }
}

pub(crate) fn write_null(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"null")
}

fn write_plain_string(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    out.write_all(text)?;
    out.write_all(b"\"")
}

fn write_string(out: &mut impl Write, text: &str) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}

/// Writes the value of a lens column for json and jsonl (spec 2.5).
pub(crate) fn write_value(out: &mut impl Write, value: Value<'_>) -> io::Result<()> {
    match value {
        Value::Null => write_null(out),
        Value::Outcome { key, label: _ } => write_plain_string(out, key.as_bytes()),
        Value::YesNo(label) => write_plain_string(out, label.key().as_bytes()),
        Value::Probability(probability) => out.write_all(probability.decimal().as_bytes()),
        Value::Position(position) => out.write_all(Decimal::from(position).as_bytes()),
        Value::Average(average) => out.write_all(average.decimal().as_bytes()),
        Value::All {
            question: _,
            probabilities,
        } => write_distribution(out, probabilities),
    }
}

/// Writes the value of a column after those of the lens for jsonl.
pub(crate) fn write_further(out: &mut impl Write, value: FurtherValue<'_>) -> io::Result<()> {
    match value {
        FurtherValue::OfQuestion(value) => write_value(out, value),
        FurtherValue::Text(Some(text)) => write_string(out, text),
        FurtherValue::Integer(number) => out.write_all(Decimal::from(number).as_bytes()),
        FurtherValue::Cost(Some(cost)) => write!(out, "{cost}"),
        FurtherValue::Text(None) | FurtherValue::Cost(None) => write_null(out),
    }
}

pub(crate) fn write_distribution(
    out: &mut impl Write,
    probabilities: &[(OutcomeKey, Probability)],
) -> io::Result<()> {
    let mut object = ObjectWriter::begin(out)?;
    for (outcome, probability) in probabilities {
        object.number(outcome.as_str(), probability.decimal())?;
    }
    object.end()
}

/// A result's id as 8-4-4-4-12 hexadecimal digits in lower case.
pub(crate) fn id_text(id: ResultId) -> [u8; 36] {
    let mut text = [0; 36];
    id.uuid().hyphenated().encode_lower(&mut text);
    text
}

/// A moment in ISO 8601, UTC, with milliseconds (spec 2.6), up to the year 9999.
pub(crate) fn iso_8601(moment: DateTime<Utc>) -> [u8; 24] {
    let moment = moment.naive_utc();
    let [y1, y2, y3, y4] = digits(moment.year().unsigned_abs());
    let [mo1, mo2] = digits(moment.month());
    let [d1, d2] = digits(moment.day());
    let [h1, h2] = digits(moment.hour());
    let [mi1, mi2] = digits(moment.minute());
    let [s1, s2] = digits(moment.second());
    let [ms1, ms2, ms3] = digits(moment.nanosecond() / 1_000_000);
    [
        y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2,
        b'.', ms1, ms2, ms3, b'Z',
    ]
}

/// The last digits of a number, in ASCII.
fn digits<const N: usize>(number: u32) -> [u8; N] {
    let mut rest = number;
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    digits
}
