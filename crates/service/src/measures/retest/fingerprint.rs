//! A fingerprint of what a retest asks, by which its kept answers are recognised.

use refract_domain::ids::PrismId;
use refract_domain::prism::PrismVersion;
use refract_model_gateway::ModelSettings;

use crate::prisms::text_hash::TextHash;

/// A fingerprint of the prism, the version that is asked (`None` for the version that answered each
/// text) and the model: its servers, protocol and name. Answers of another fingerprint answer
/// another question.
pub fn retest_fingerprint(
    prism: PrismId,
    version: Option<&PrismVersion>,
    model: &ModelSettings,
) -> String {
    let version = version.and_then(|version| serde_json::to_string(version).ok());
    let version = version.unwrap_or_default();
    let (prism, servers) = (prism.to_string(), model.endpoint.to_string());
    TextHash::of_parts([
        prism.as_str(),
        &version,
        &servers,
        model.protocol.name(),
        &model.name,
    ])
    .hex()
}
