//! Prints one result to stdout: as a table, in a format of the API, or with everything that is
//! stored about it as one JSON object: the envelope of the API's raw format, then the facts for
//! operators only.

mod facts;
mod table;

use anyhow::Context as _;
use chrono::{DateTime, SecondsFormat, Utc};
use refract_domain::answer::probability::Probability;
use refract_domain::result::actor::ResultActor;
use refract_domain::result::mark::{Mark, Marker};
use refract_domain::submission::reference::IdempotencyKey;
use refract_lens_rendering::{Format, render};
use refract_service::results::{Provenance, ReadableResult, ResultDetails};
use serde::Serialize;
use serde_json::value::RawValue;

pub(crate) use self::facts::Facts;
use crate::{output, streams, terminal};

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

/// The members after the envelope.
#[derive(Serialize)]
struct DetailsJson<'a> {
    #[serde(serialize_with = "output::in_order")]
    fields: Vec<(&'a str, Option<&'a str>)>,
    context: Option<&'a str>,
    idempotency_key: Option<&'a str>,
    made_by: ActorJson,
    /// The failed result that this one retried.
    retry_of: Option<String>,
    /// The result that retried this one.
    retried_as: Option<String>,
    /// The marks that count.
    marks: Vec<MarkJson<'a>>,
    /// Those of other people beside them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_marks: Vec<MarkJson<'a>>,
    provenance: ProvenanceJson<'a>,
}

#[derive(Serialize)]
struct ActorJson {
    kind: &'static str,
    id: Option<String>,
}

#[derive(Serialize)]
struct MarkJson<'a> {
    question: &'a str,
    outcome: &'a str,
    by: Option<&'a str>,
    at: String,
}

/// The origin of the answers. Null means that the model server did not report it.
#[derive(Serialize)]
struct ProvenanceJson<'a> {
    model: Option<&'a str>,
    protocol: Option<&'a str>,
    prompt_version: Option<i32>,
    input_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost: Option<Box<RawValue>>,
    host_request_id: Option<&'a str>,
    requests: Option<u32>,
    attempts: Option<u32>,
    truncated_to: Option<u64>,
    on_codes: Option<Box<RawValue>>,
    unread: Option<Box<RawValue>>,
}

/// Writes a result as one JSON object, with or without the sent texts.
fn write(details: &ResultDetails, has_texts: bool) -> anyhow::Result<Vec<u8>> {
    let result = &details.result;
    let mut json = Vec::new();
    render(Format::Raw, &result.columns(), &result.view(), &mut json)?;
    let more = serde_json::to_vec(&DetailsJson::of(details, has_texts))?;
    let more = more.strip_prefix(b"{").context("no object")?;
    // removes the brace that closes the envelope
    json.pop();
    json.push(b',');
    json.extend_from_slice(more);
    json.push(b'\n');
    Ok(json)
}

impl<'a> DetailsJson<'a> {
    fn of(details: &'a ResultDetails, has_texts: bool) -> Self {
        let result: &ReadableResult = &details.result;
        let submission = result.submission();
        let text = |text| Some(text).filter(|_| has_texts);
        let fields = submission.fields().iter();
        Self {
            fields: fields
                .map(|(key, value)| (key.as_str(), text(value.as_str())))
                .collect(),
            context: submission.context().and_then(text),
            idempotency_key: result.idempotency_key().map(IdempotencyKey::as_str),
            made_by: ActorJson::of(details.actor),
            retry_of: details.retry_of.map(|id| id.to_string()),
            retried_as: details.retried_as.map(|id| id.to_string()),
            marks: details.marks.iter().map(MarkJson::of).collect(),
            other_marks: details.other_marks.iter().map(MarkJson::of).collect(),
            provenance: ProvenanceJson::of(&details.provenance),
        }
    }
}

impl ActorJson {
    fn of(actor: ResultActor) -> Self {
        let (kind, id) = match actor {
            ResultActor::Key(key) => ("key", Some(key.to_string())),
            ResultActor::Person(person) => ("person", Some(person.to_string())),
            ResultActor::Operator => ("operator", None),
        };
        Self { kind, id }
    }
}

impl<'a> MarkJson<'a> {
    fn of(mark: &'a Mark) -> Self {
        Self {
            question: mark.question.as_str(),
            outcome: mark.outcome.as_str(),
            by: mark.marked_by.name.as_ref().map(Marker::as_str),
            at: moment(mark.marked_at),
        }
    }
}

impl<'a> ProvenanceJson<'a> {
    fn of(provenance: &'a Provenance) -> Self {
        Self {
            model: provenance.model.as_deref(),
            protocol: provenance.protocol.as_deref(),
            prompt_version: provenance.prompt_version,
            input_tokens: provenance.input_tokens,
            cached_tokens: provenance.cached_tokens,
            output_tokens: provenance.output_tokens,
            cost: provenance.cost.and_then(output::exact_cost),
            host_request_id: provenance.host_request_id.as_deref(),
            requests: provenance.requests,
            attempts: provenance.attempts,
            truncated_to: provenance.truncated_to,
            on_codes: provenance.on_codes.and_then(decimal),
            unread: provenance.unread.and_then(decimal),
        }
    }
}

/// A probability without an exponent.
fn decimal(probability: Probability) -> Option<Box<RawValue>> {
    let decimal = String::from_utf8(probability.decimal().as_bytes().to_vec());
    RawValue::from_string(decimal.ok()?).ok()
}

fn moment(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
