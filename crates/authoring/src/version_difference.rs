//! Differences between two versions of a prism, as callers and readers of rows see them.
//!
//! A prism's page lists the changes of each version, and the editor lists those of a draft before
//! it is saved.

mod columns;
mod difference;
mod fields;
mod order;
mod outcomes;
mod questions;

pub use self::difference::{ChangedWording, Severity, VersionDifference};
use refract_domain::lens::Lens;
use refract_domain::prism::PrismVersion;

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
    let mut found = fields::differences(before.fields(), after.fields());
    found.extend(context_difference(before.context(), after.context()));
    found.extend(questions::differences(
        before.questions(),
        after.questions(),
    ));
    found.extend(columns::differences(before, after, lens));
    found
}

fn context_difference(before: Option<&str>, after: Option<&str>) -> Option<VersionDifference> {
    let wording = ChangedWording::of(before, after)?;
    let what = wording.what_happened("is new", "is gone", "is worded differently");
    let text = format!("The context {what}: the model reads it with every text.");
    let difference = VersionDifference::new(Severity::ForAnswers, "context", text);
    Some(difference.with_wording(wording))
}

#[cfg(test)]
mod tests;
