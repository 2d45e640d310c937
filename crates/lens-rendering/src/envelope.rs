//! Writes one result as an envelope: the formats `json` and `raw` (spec 2.6).

use std::io::{self, Write};

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Column;
use refract_domain::prism::Field;
use refract_domain::result::ResultView;

use crate::json::{
    ObjectWriter, id_text, iso_8601, write_distribution, write_further, write_null, write_value,
};
use crate::row::further::FurtherValue;

/// The name of the time that the model took.
const TOOK_MS: &str = "took_ms";

/// Writes the envelope with the values of the lens columns.
pub(crate) fn write_json<W: Write>(
    lens: &[Column],
    result: &ResultView<'_>,
    out: &mut W,
) -> io::Result<()> {
    let mut envelope = begin_envelope(result, out)?;
    let out = envelope.key("answers")?;
    if result.status.answers().is_none() {
        write_null(out)?;
        return envelope.end();
    }
    let mut answers = ObjectWriter::begin(out)?;
    for (column, value) in lens.iter().zip(result.values(lens)) {
        write_value(answers.key(column.name.as_str())?, value)?;
    }
    answers.end()?;
    envelope.end()
}

/// Writes the envelope with the stored answers.
pub(crate) fn write_raw<W: Write>(result: &ResultView<'_>, out: &mut W) -> io::Result<()> {
    begin_raw(result, out)?.end()
}

/// Writes a result with its stored answers as a line of jsonl: the envelope of the format `raw`, then
/// its fields and further columns. `took_ms` is in the envelope, so a column of that name is left out.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_raw_line<'v>(
    fields: &[Field],
    result: &ResultView<'_>,
    further: impl IntoIterator<Item = (&'v str, FurtherValue<'v>)>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut envelope = begin_raw(result, out)?;
    let mut sent = ObjectWriter::begin(envelope.key("fields")?)?;
    for field in fields {
        sent.string_or_null(field.key.as_str(), result.field(&field.key))?;
    }
    sent.end()?;
    for (name, value) in further.into_iter().filter(|(name, _)| *name != TOOK_MS) {
        write_further(envelope.key(name)?, value)?;
    }
    envelope.end()?;
    out.write_all(b"\n")
}

/// Writes the envelope up to the stored answers.
fn begin_raw<'w, W: Write>(
    result: &ResultView<'_>,
    out: &'w mut W,
) -> io::Result<ObjectWriter<'w, W>> {
    let mut envelope = begin_envelope(result, out)?;
    let out = envelope.key("answers")?;
    match result.status.answers() {
        Some(answers) => write_stored_answers(answers, out)?,
        None => write_null(out)?,
    }
    Ok(envelope)
}

/// Writes everything in the envelope before `answers`.
fn begin_envelope<'w, W: Write>(
    result: &ResultView<'_>,
    out: &'w mut W,
) -> io::Result<ObjectWriter<'w, W>> {
    let mut envelope = ObjectWriter::begin(out)?;
    envelope.plain_string("id", &id_text(result.id))?;
    envelope.string_or_null("ref", result.reference)?;
    envelope.string("prism", result.prism)?;
    envelope.number("version", result.version.into())?;
    envelope.plain_string("status", result.status.name().as_bytes())?;
    envelope.string_or_null("error", result.status.error())?;
    envelope.number(TOOK_MS, result.took_ms.into())?;
    envelope.plain_string("created_at", &iso_8601(result.created_at))?;
    Ok(envelope)
}

/// Writes the stored answers in the order of the version's questions (spec 2.4).
fn write_stored_answers<W: Write>(answers: &Answers, out: &mut W) -> io::Result<()> {
    let mut object = ObjectWriter::begin(out)?;
    for (question, answer) in answers.as_slice() {
        write_stored_answer(answer, object.key(question.as_str())?)?;
    }
    object.end()
}

fn write_stored_answer<W: Write>(answer: &Answer, out: &mut W) -> io::Result<()> {
    let mut object = ObjectWriter::begin(out)?;
    object.plain_string("type", answer.question_type().name().as_bytes())?;
    match answer {
        Answer::Choice {
            value,
            probabilities,
            confidence,
        } => {
            object.string_or_null("value", value.as_ref().map(OutcomeKey::as_str))?;
            write_distribution(object.key("probabilities")?, probabilities)?;
            object.number("confidence", confidence.decimal())?;
        }
        Answer::YesNo { probability } => object.number("probability", probability.decimal())?,
        Answer::Scale {
            level,
            probabilities,
        } => {
            object.plain_string("level", level.as_str().as_bytes())?;
            write_distribution(object.key("probabilities")?, probabilities)?;
        }
    }
    object.end()
}
