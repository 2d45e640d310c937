//! Changes of the fields that callers send.

use refract_domain::key::FieldKey;
use refract_domain::prism::field::Field;

use super::difference::{ChangedWording, Severity, VersionDifference};
use super::order::is_other_order;

/// The key of the field that a call may send as `text` in place of `fields`, when it is the only
/// field (spec 4.1).
const SHORTHAND: &str = "text";

pub(super) fn differences(before: &[Field], after: &[Field]) -> Vec<VersionDifference> {
    let mut found = Vec::new();
    for field in after {
        match before.iter().find(|other| other.key == field.key) {
            Some(other) => found.extend(label_difference(other, field)),
            None => found.push(for_callers(
                &path(&field.key),
                format!(
                    "Callers must also send the field '{}', and rows get a column for it.",
                    field.key
                ),
            )),
        }
    }
    for field in before {
        if after.iter().all(|other| other.key != field.key) {
            found.push(for_callers(
                &path(&field.key),
                format!(
                    "Callers must no longer send the field '{}', and rows lose its column.",
                    field.key
                ),
            ));
        }
    }
    if is_shorthand(before) && !is_shorthand(after) {
        let text = "Callers can no longer send 'text' by itself: they must send 'fields'.";
        found.push(for_callers("fields", text));
    }
    if is_other_order(&keys(before), &keys(after)) {
        let text = "The fields stand in another order: so do their columns in rows, and the model \
                    reads them in that order.";
        found.push(for_callers("fields", text));
    }
    found
}

fn label_difference(before: &Field, after: &Field) -> Option<VersionDifference> {
    let wording = ChangedWording::of(Some(&before.label), Some(&after.label))?;
    let text = format!(
        "The field '{}' is labelled '{}' instead of '{}'.",
        after.key, after.label, before.label
    );
    let path = format!("{}.label", path(&after.key));
    Some(VersionDifference::new(Severity::Cosmetic, path, text).with_wording(wording))
}

fn for_callers(path: &str, text: impl Into<String>) -> VersionDifference {
    VersionDifference::new(Severity::ForCallers, path, text)
}

fn path(field: &FieldKey) -> String {
    format!("fields.{field}")
}

fn keys(fields: &[Field]) -> Vec<&FieldKey> {
    fields.iter().map(|field| &field.key).collect()
}

/// Whether a call may send `text` in place of `fields`.
fn is_shorthand(fields: &[Field]) -> bool {
    matches!(fields, [only] if only.key.as_str() == SHORTHAND)
}
