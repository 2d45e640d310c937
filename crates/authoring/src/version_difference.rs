//! Differences between two versions of a prism, as callers and readers of rows see them.
//!
//! A prism's page lists the changes of each version, and the editor lists those of a draft before
//! it is saved.

mod difference;
mod questions;

use refract_domain::key::FieldKey;
use refract_domain::prism::{Field, PrismVersion};

use self::difference::is_other_order;
pub use self::difference::{ChangedWording, Severity, VersionDifference};
use refract_domain::lens::Lens;

/// The key of the field that a call may send as `text` in place of `fields`, when it is the only
/// field (spec 4.1).
const SHORTHAND: &str = "text";

/// The changes from `before` to `after`, two versions of one prism: fields, context, questions with
/// their options and levels, then the columns of rows.
///
/// `lens` is the prism's lens before `after` is saved. The lens of a past version is no longer
/// known: pass the current one, and columns whose question `before` lacks are ignored.
pub fn differences(
    before: &PrismVersion,
    after: &PrismVersion,
    lens: &Lens,
) -> Vec<VersionDifference> {
    let mut found = field_differences(before.fields(), after.fields());
    found.extend(context_difference(before.context(), after.context()));
    found.extend(questions::differences(
        before.questions(),
        after.questions(),
    ));
    found.extend(difference::differences(before, after, lens));
    found
}

fn context_difference(before: Option<&str>, after: Option<&str>) -> Option<VersionDifference> {
    let wording = ChangedWording::of(before, after)?;
    let what = wording.what_happened("is new", "is gone", "is worded differently");
    let text = format!("The context {what}: the model reads it with every text.");
    let difference = VersionDifference::new(Severity::ForAnswers, "context", text);
    Some(difference.with_wording(wording))
}

fn field_differences(before: &[Field], after: &[Field]) -> Vec<VersionDifference> {
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

#[cfg(test)]
mod tests;
