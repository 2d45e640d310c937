//! The options and levels of a prism file, and their keys.

use std::collections::BTreeSet;

use refract_domain::json::Json;
use refract_domain::key::OutcomeKey;
use refract_domain::limits::{DESCRIPTION_CHARS, LABEL_CHARS};
use refract_domain::prism::question::Outcome;
use refract_domain::problem::ValidationError;

use crate::file_reader::{FileReader, join};
use crate::made_names::outcome_keys;

/// Reads options or levels. An outcome without a key gets one for its label: the key that the label
/// has in `previous`, or else a new one.
pub(super) fn read_outcomes(
    reader: &mut FileReader,
    path: &str,
    elements: Vec<Json<'_>>,
    previous: &[Outcome],
    is_reserved: fn(&OutcomeKey) -> bool,
) -> Option<Vec<Outcome>> {
    let mut taken = BTreeSet::new();
    let sent: Vec<_> = elements
        .into_iter()
        .enumerate()
        .map(|(index, json)| {
            let outcome = read_outcome(reader, &join(path, index), json)?;
            if let Some(key) = &outcome.key {
                let rule = if is_reserved(key) {
                    Some("is the key of a built-in outcome")
                } else if !taken.insert(key.clone()) {
                    Some("is used twice")
                } else {
                    None
                };
                reader.problems.add_all(
                    &join(&join(path, index), "key"),
                    rule.map(ValidationError::rule),
                );
            }
            Some(outcome)
        })
        .collect();
    let sent: Vec<SentOutcome> = sent.into_iter().collect::<Option<_>>()?;
    let keyed = sent.iter();
    let keyed: Vec<_> = keyed
        .map(|it| (it.key.clone(), it.label.as_str()))
        .collect();
    let keys = outcome_keys(&keyed, previous, is_reserved);
    let outcomes = sent.into_iter().zip(keys);
    let outcomes = outcomes.map(|(outcome, key)| Outcome {
        key,
        label: outcome.label,
        description: outcome.description,
    });
    Some(outcomes.collect())
}

/// An option or level as it was sent, with or without a key.
struct SentOutcome {
    key: Option<OutcomeKey>,
    label: String,
    description: Option<String>,
}

fn read_outcome(reader: &mut FileReader, path: &str, json: Json<'_>) -> Option<SentOutcome> {
    let object = reader.object(path, json)?;
    reader.refuse_keys_besides(path, &object, &["key", "label", "description"]);
    let has_key = object.has("key");
    let key = reader
        .optional_string(path, &object, "key")
        .and_then(|sent| reader.parsed(&join(path, "key"), OutcomeKey::parse(&sent.text)));
    let label = reader.label(path, &object, "label", &LABEL_CHARS);
    let description = reader.optional_text(path, &object, "description", DESCRIPTION_CHARS);
    if has_key && key.is_none() {
        return None;
    }
    Some(SentOutcome {
        key,
        label: label?,
        description,
    })
}
