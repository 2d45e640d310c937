//! What JavaScript is handed has the bytes and counts of the crates behind it, and what does not fit
//! together is refused.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a broken fixture fails the test"
)]

#[path = "../../../lens-rendering/tests/rendering/properties/any_sample.rs"]
mod any_sample;
mod counts;
mod files;
mod refusals;
mod same_bytes;
#[expect(dead_code, reason = "the tests of lens-rendering use all of it")]
#[path = "../../../lens-rendering/tests/rendering/sample.rs"]
mod sample;

use refract_lens_rendering::Format;
use refract_lens_wasm::{StoredInputError, StoredResults};

use crate::sample::Sample;

/// The versions of a sample that JavaScript passes: the one that answered, and that with the number 4
/// as the latest one.
fn versions_of(sample: &Sample) -> String {
    let version = serde_json::to_value(&sample.version).unwrap();
    let latest = serde_json::to_value(&sample.latest).unwrap();
    let named = |mut version: serde_json::Value| {
        version["name"] = "Support triage".into();
        version
    };
    serde_json::json!({ (sample.number.to_string()): named(version), "4": named(latest) })
        .to_string()
}

/// A result in the format raw with the field values beside it.
fn result_of(sample: &Sample) -> String {
    let fields = serde_json::to_string(&sample.fields).unwrap();
    let raw = sample.render(Format::Raw);
    format!(r#"{{"fields":{fields},{}"#, raw.strip_prefix('{').unwrap())
}

fn read(sample: &Sample) -> Result<StoredResults, StoredInputError> {
    StoredResults::read(&result_of(sample), &versions_of(sample))
}
