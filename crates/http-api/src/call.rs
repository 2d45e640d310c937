//! Reads a call: path, `format` and body together, every problem of them in that order (spec 4.1).
//!
//! Body keys come in the order of the specification's table, fields in the order sent, each fault
//! in zod 3's words (readings, "Requests"). It knows nothing of headers and keeps nothing it read.

mod body;
mod parameters;

use refract_answering::CreateCall;
use refract_domain::ids::ResultId;
use refract_domain::json::Json;
use refract_domain::problem::{Fault, Problems};
use refract_lens_rendering::Format;

/// A value that breaks rules; its faults are in the list of problems already.
#[derive(Debug)]
struct Listed;

/// Reads a create call from the raw `{prism}`, the raw query and the body's JSON value.
///
/// # Errors
/// Everything that is wrong with them.
pub(crate) fn create(
    prism: &str,
    query: &str,
    body: Json<'_>,
) -> Result<(CreateCall, Format), Problems> {
    let mut problems = Problems::default();
    let prism = parameters::prism(prism, &mut problems);
    let format = parameters::format(query, &mut problems);
    let body = body::read(body, &mut problems);
    let (Ok(prism), Ok(format), Ok(body)) = (prism, format, body) else {
        return Err(problems);
    };
    let call = CreateCall {
        prism,
        fields: body.fields,
        context: body.context,
        reference: body.reference,
        version: body.version,
        idempotency_key: body.idempotency_key,
    };
    Ok((call, format))
}

/// Reads a call about one result from the raw `{result_id}` and the raw query.
///
/// # Errors
/// Everything that is wrong with them.
pub(crate) fn of_result(result_id: &str, query: &str) -> Result<(ResultId, Format), Problems> {
    let mut problems = Problems::default();
    let id = parameters::result_id(result_id, &mut problems);
    let format = parameters::format(query, &mut problems);
    let (Ok(id), Ok(format)) = (id, format) else {
        return Err(problems);
    };
    Ok((id, format))
}

impl Listed {
    /// Puts the faults of a value in the list.
    fn list(problems: &mut Problems, path: &str, faults: impl IntoIterator<Item = Fault>) -> Self {
        problems.add_all(path, faults);
        Self
    }
}

/// The outcome of reading a string, when characters of it may have been lost on the way here.
///
/// A lost one is a fault of the string like NUL, and the last of its faults.
fn whole<T>(read: Result<T, Vec<Fault>>, is_whole: bool) -> Result<T, Vec<Fault>> {
    let mut faults = match read {
        Ok(value) if is_whole => return Ok(value),
        Ok(_) => Vec::new(),
        Err(faults) => faults,
    };
    if !is_whole && !faults.contains(&Fault::ForbiddenCharacters) {
        faults.push(Fault::ForbiddenCharacters);
    }
    Err(faults)
}

#[cfg(test)]
mod tests;
