//! Prints one result to stdout: as a table, in a format of the API, or with everything that is
//! stored about it as one JSON object: the envelope of the API's raw format, then the facts for
//! operators only.

mod facts;
mod table;

use anyhow::Context as _;
use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::answer::Probability;
use refract_domain::result::ResultActor;
use refract_domain::result::mark::{Mark, Marker};
use refract_domain::submission::IdempotencyKey;
use refract_lens_rendering::{Format, render};
use refract_service::results::{Provenance, ReadableResult, ResultDetails};
use serde_json::value::RawValue;

pub(crate) use self::facts::Facts;
use crate::output::{self, NamedMembers, value};
use crate::{streams, terminal};

/// The display of a result.
#[derive(Clone, Copy)]
pub(crate) enum ResultDisplay {
    /// A table with bars, for a person.
    Table,
    /// The bytes that the API would send.
    Format(Format),
}

impl ResultDisplay {
    /// Parses the name of a format, or `table`.
    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        if name == "table" {
            return Ok(Self::Table);
        }
        let format = Format::parse(name).map(Self::Format);
        format.context("expected json, raw, csv, tsv, jsonl or table")
    }

    /// Whether the display is a format of rows, which contain the sent texts.
    pub(crate) fn has_texts(self) -> bool {
        match self {
            Self::Format(Format::Csv | Format::Tsv | Format::Jsonl) => true,
            Self::Table | Self::Format(Format::Json | Format::Raw) => false,
        }
    }

    /// The display by default: a table on a terminal, otherwise json.
    pub(crate) fn default_for_stdout() -> Self {
        if streams::stdout_is_terminal() {
            Self::Table
        } else {
            Self::Format(Format::Json)
        }
    }
}

/// Prints everything that is stored about a result as one JSON object, with or without the texts
/// that were sent.
pub(crate) fn print_details(details: &ResultDetails, has_texts: bool) -> anyhow::Result<()> {
    output::data(&write(details, has_texts)?)
}

/// Prints a result, with the facts below a table.
pub(crate) fn print(
    result: &ReadableResult,
    display: ResultDisplay,
    facts: &Facts,
) -> anyhow::Result<()> {
    match display {
        ResultDisplay::Table => {
            let mut table = table::of(result, terminal::width());
            table.push_str(&facts.lines());
            output::text(&table)
        }
        ResultDisplay::Format(format) => {
            let mut bytes = Vec::new();
            render(format, &result.columns(), &result.view(), &mut bytes)?;
            if matches!(format, Format::Json | Format::Raw) {
                bytes.push(b'\n');
            }
            output::data(&bytes)
        }
    }
}

/// Writes a result as one JSON object, with or without the sent texts.
fn write(details: &ResultDetails, has_texts: bool) -> anyhow::Result<Vec<u8>> {
    let result = &details.result;
    let mut json = Vec::new();
    render(Format::Raw, &result.columns(), &result.view(), &mut json)?;
    let more = serde_json::to_vec(&NamedMembers(&members(details, has_texts)))?;
    let more = more.strip_prefix(b"{").context("no object")?;
    // removes the brace that closes the envelope
    json.pop();
    json.push(b',');
    json.extend_from_slice(more);
    json.push(b'\n');
    Ok(json)
}

/// The members after the envelope.
fn members(details: &ResultDetails, has_texts: bool) -> Vec<(&'static str, Box<RawValue>)> {
    let result: &ReadableResult = &details.result;
    let submission = result.submission();
    let text = |text| Some(text).filter(|_| has_texts);
    let fields = submission.fields().iter();
    let fields: Vec<_> = fields
        .map(|(key, value)| (key.as_str(), text(value.as_str())))
        .collect();
    let key = result.idempotency_key().map(IdempotencyKey::as_str);
    let listed = |marks: &[Mark]| value(&marks.iter().map(mark).collect::<Vec<_>>());
    let mut members = vec![
        ("fields", value(&NamedMembers(&fields))),
        ("context", value(&submission.context().and_then(text))),
        ("idempotency_key", value(&key)),
        ("made_by", actor(details.actor)),
        // the failed result that this one retried
        (
            "retry_of",
            value(&details.retry_of.map(|id| id.to_string())),
        ),
        // the result that retried this one
        (
            "retried_as",
            value(&details.retried_as.map(|id| id.to_string())),
        ),
        // the marks that count
        ("marks", listed(&details.marks)),
    ];
    if !details.other_marks.is_empty() {
        members.push(("other_marks", listed(&details.other_marks)));
    }
    members.push(("provenance", provenance(&details.provenance)));
    members
}

fn actor(actor: ResultActor) -> Box<RawValue> {
    let (kind, id) = match actor {
        ResultActor::Key(key) => ("key", Some(key.to_string())),
        ResultActor::Person(person) => ("person", Some(person.to_string())),
        ResultActor::Operator => ("operator", None),
    };
    value(&NamedMembers(&[("kind", value(&kind)), ("id", value(&id))]))
}

fn mark(mark: &Mark) -> Box<RawValue> {
    let by = mark.marked_by.name.as_ref().map(Marker::as_str);
    value(&NamedMembers(&[
        ("question", value(&mark.question)),
        ("outcome", value(&mark.outcome)),
        ("by", value(&by)),
        ("at", value(&moment(mark.marked_at))),
    ]))
}

/// The origin of the answers. Null means that the model server did not report it.
fn provenance(provenance: &Provenance) -> Box<RawValue> {
    value(&NamedMembers(&[
        ("model", value(&provenance.model)),
        ("protocol", value(&provenance.protocol)),
        ("prompt_version", value(&provenance.prompt_version)),
        ("input_tokens", value(&provenance.input_tokens)),
        ("cached_tokens", value(&provenance.cached_tokens)),
        ("output_tokens", value(&provenance.output_tokens)),
        ("cost", value(&provenance.cost.and_then(output::exact_cost))),
        ("host_request_id", value(&provenance.host_request_id)),
        ("requests", value(&provenance.requests)),
        ("attempts", value(&provenance.attempts)),
        ("truncated_to", value(&provenance.truncated_to)),
        ("on_codes", value(&provenance.on_codes.and_then(decimal))),
        ("unread", value(&provenance.unread.and_then(decimal))),
    ]))
}

/// A probability without an exponent.
fn decimal(probability: Probability) -> Option<Box<RawValue>> {
    let decimal = String::from_utf8(probability.decimal().as_bytes().to_vec());
    RawValue::from_string(decimal.ok()?).ok()
}

fn moment(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
