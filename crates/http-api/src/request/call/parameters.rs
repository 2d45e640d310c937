//! The parameters in a request's path and query.

use percent_encoding::percent_decode_str;
use refract_domain::ids::ResultId;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::problem::{Problems, ValidationError};
use refract_lens_rendering::Format;

use super::invalid_value::{InvalidValue, refuse_lost_characters};

/// Reads `{prism}`: decodes the percent-encoding, then checks the length. Bytes that are not UTF-8
/// are refused as NUL is (readings).
pub(super) fn prism(raw: &str, problems: &mut Problems) -> Result<PrismSelector, InvalidValue> {
    let decoded = percent_decode_str(raw);
    let are_lost = decoded.clone().decode_utf8().is_err();
    let read = PrismSelector::parse(&decoded.decode_utf8_lossy());
    refuse_lost_characters(read, are_lost)
        .map_err(|errors| InvalidValue::list(problems, "prism", errors))
}

/// Reads `{result_id}` after decoding the percent-encoding.
pub(super) fn result_id(raw: &str, problems: &mut Problems) -> Result<ResultId, InvalidValue> {
    let decoded = percent_decode_str(raw).decode_utf8_lossy();
    ResultId::parse(&decoded)
        .ok_or_else(|| InvalidValue::list(problems, "result_id", [ValidationError::InvalidUuid]))
}

/// Reads `format` from the query. An empty value counts as absent; two different values are an
/// unknown format (readings).
pub(super) fn format(query: &str, problems: &mut Problems) -> Result<Format, InvalidValue> {
    let parameters = form_urlencoded::parse(query.as_bytes());
    let mut values = parameters.filter_map(|(name, value)| (name == "format").then_some(value));
    let first = values.next().unwrap_or_default();
    let format = if first.is_empty() {
        Some(Format::default())
    } else {
        Format::parse(&first)
    };
    format
        .filter(|_| values.all(|other| other == first))
        .ok_or_else(|| {
            InvalidValue::list(
                problems,
                "format",
                [ValidationError::NotOneOf(&Format::NAMES)],
            )
        })
}
