//! Reads a call: path, `format` and body together, listing every problem in that order (spec 4.1).
//!
//! Body keys are read in the order of the specification's table, fields in the order sent, and
//! faults are worded as in zod 3 (readings, "Requests"). Headers are read elsewhere.

mod body;
mod invalid_value;
mod parameters;

use refract_domain::ids::ResultId;
use refract_domain::json::Json;
use refract_domain::problem::Problems;
use refract_lens_rendering::Format;
use refract_service::results::CreateCall;

/// Reads a create call from the raw `{prism}`, the raw query and the body's JSON value.
///
/// # Errors
/// Every problem of the path, then of the query, then of the body.
pub(crate) fn create(
    prism: &str,
    query: &str,
    body: Json<'_>,
) -> Result<(CreateCall, Format), Problems> {
    let mut problems = Problems::default();
    let prism = parameters::prism(prism, &mut problems);
    let format = parameters::format(query, &mut problems);
    let call = body::read(body, prism, &mut problems);
    let (Ok(call), Ok(format)) = (call, format) else {
        return Err(problems);
    };
    Ok((call, format))
}

/// Reads a call about one result from the raw `{result_id}` and the raw query.
///
/// # Errors
/// Every problem of the path, then of the query.
pub(crate) fn of_result(result_id: &str, query: &str) -> Result<(ResultId, Format), Problems> {
    let mut problems = Problems::default();
    let id = parameters::result_id(result_id, &mut problems);
    let format = parameters::format(query, &mut problems);
    let (Ok(id), Ok(format)) = (id, format) else {
        return Err(problems);
    };
    Ok((id, format))
}

#[cfg(test)]
mod tests;
