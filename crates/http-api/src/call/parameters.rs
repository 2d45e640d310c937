//! The parameters in a request's path and query.

use percent_encoding::percent_decode_str;
use refract_domain::ids::ResultId;
use refract_domain::problem::{Fault, Problems};
use refract_domain::slug::PrismSelector;
use refract_lens_rendering::Format;

use super::{Listed, whole};

/// `{prism}`: decoded, then measured. Bytes that are not UTF-8 are refused like NUL (readings).
pub(super) fn prism(raw: &str, problems: &mut Problems) -> Result<PrismSelector, Listed> {
    let decoded = percent_decode_str(raw);
    let is_whole = decoded.clone().decode_utf8().is_ok();
    let read = PrismSelector::parse(&decoded.decode_utf8_lossy());
    whole(read, is_whole).map_err(|faults| Listed::list(problems, "prism", faults))
}

/// `{result_id}`.
pub(super) fn result_id(raw: &str, problems: &mut Problems) -> Result<ResultId, Listed> {
    let decoded = percent_decode_str(raw).decode_utf8_lossy();
    ResultId::parse(&decoded)
        .ok_or_else(|| Listed::list(problems, "result_id", [Fault::InvalidUuid]))
}

/// `format`: left out when empty; given twice it must say the same.
pub(super) fn format(query: &str, problems: &mut Problems) -> Result<Format, Listed> {
    let mut sent = query.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name) == "format").then(|| decode(value))
    });
    let first = sent.next().unwrap_or_default();
    let format = if first.is_empty() {
        Some(Format::default())
    } else {
        Format::parse(&first)
    };
    format
        .filter(|_| sent.all(|other| other == first))
        .ok_or_else(|| Listed::list(problems, "format", [Fault::NotOneOf(&Format::NAMES)]))
}

/// Decodes a part of a query, in which `+` is a space.
fn decode(raw: &str) -> String {
    percent_decode_str(&raw.replace('+', " "))
        .decode_utf8_lossy()
        .into_owned()
}
