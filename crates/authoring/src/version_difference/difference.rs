//! One difference between two versions of a prism, and whether what they have in common is in
//! another order. Changes of the columns of rows and of json answers.

use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::PrismVersion;

/// Who is affected by a difference. The most serious comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Calls must change, or columns or values appear in results or disappear from them.
    ForCallers,
    /// The model's input changes, so its answers may change.
    ForAnswers,
    /// Only the text that people see in the app changes.
    Cosmetic,
}

/// One thing that a version changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDifference {
    /// Who is affected.
    pub severity: Severity,
    /// The path of keys joined with dots: `context`, `fields.KEY`, `fields.KEY.label`,
    /// `questions.KEY.text`, `questions.KEY.options.KEY.description`, `lens.COLUMN`. A change of a
    /// list's order has the list's path, such as `fields` or `questions.KEY.levels`.
    pub path: String,
    /// One sentence for people.
    pub text: String,
    /// The wording before and after, if wording changed.
    pub wording: Option<ChangedWording>,
}

/// The wording before and after a change; at least one of the two is present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedWording {
    /// The wording before the change; `None` if there was none.
    pub before: Option<String>,
    /// The wording after the change; `None` if it was removed.
    pub after: Option<String>,
}

impl VersionDifference {
    /// A difference without changed wording.
    pub(super) fn new(
        severity: Severity,
        path: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            path: path.into(),
            text: text.into(),
            wording: None,
        }
    }

    /// The difference with the changed wording.
    pub(super) fn with_wording(self, wording: ChangedWording) -> Self {
        Self {
            wording: Some(wording),
            ..self
        }
    }
}

impl ChangedWording {
    /// The wording before and after; `None` when they are equal.
    pub(super) fn of(before: Option<&str>, after: Option<&str>) -> Option<Self> {
        (before != after).then(|| Self {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
    }

    /// Returns the first phrase if wording was added, the second if it was removed, the third if it
    /// was changed.
    pub(super) fn what_happened<'a>(
        &self,
        added: &'a str,
        removed: &'a str,
        changed: &'a str,
    ) -> &'a str {
        match (&self.before, &self.after) {
            (None, _) => added,
            (Some(_), None) => removed,
            (Some(_), Some(_)) => changed,
        }
    }
}

/// Whether the elements that both lists contain differ in order. Neither list contains an element
/// twice.
pub(super) fn is_other_order<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    let kept_before = before.iter().filter(|element| after.contains(element));
    let kept_after = after.iter().filter(|element| before.contains(element));
    kept_before.ne(kept_after)
}

pub(super) fn differences(
    before: &PrismVersion,
    after: &PrismVersion,
    lens: &Lens,
) -> Vec<VersionDifference> {
    let lens = readable(lens, before);
    let Some(lens) = lens else {
        return Vec::new();
    };
    let lens_after = lens.clone().after_save(after.questions());
    let (old, new) = (before.columns(&lens), after.columns(&lens_after));
    let mut found = Vec::new();
    if let (Lens::Custom(_), Lens::Automatic) = (&lens, &lens_after) {
        let text = "No column of the custom lens is left, so the lens becomes automatic.";
        found.push(for_callers("lens".to_owned(), text.to_owned()));
    }
    for column in new {
        let name = &column.name;
        match old.iter().find(|other| other.name == *name) {
            None => found.push(for_callers(
                path(name),
                format!("Rows and json answers get the column '{name}'."),
            )),
            Some(other) if other != column => found.push(for_callers(
                path(name),
                format!("The column '{name}' shows something else."),
            )),
            Some(_) => {}
        }
    }
    for column in old {
        let name = &column.name;
        if new.iter().all(|other| other.name != *name) {
            let text = format!("Rows and json answers lose the column '{name}'.");
            found.push(for_callers(path(name), text));
        }
    }
    if is_other_order(&names(old), &names(new)) {
        let text = "The columns stand in another order, in rows and in json answers.";
        found.push(for_callers("lens".to_owned(), text.to_owned()));
    }
    if let Lens::Custom(columns) = &lens_after {
        found.extend(not_shown(before, after, columns));
    }
    found
}

/// The lens reduced to columns that read a question of this version; `None` for a custom lens
/// without such a column.
fn readable(lens: &Lens, version: &PrismVersion) -> Option<Lens> {
    match lens {
        Lens::Automatic => Some(Lens::Automatic),
        Lens::Custom(columns) => {
            let columns = columns.iter();
            let columns = columns.filter(|column| version.question(&column.question).is_some());
            let columns: Vec<_> = columns.cloned().collect();
            (!columns.is_empty()).then_some(Lens::Custom(columns))
        }
    }
}

/// A difference for each new question that no column shows: a custom lens gets no column by itself.
fn not_shown(
    before: &PrismVersion,
    after: &PrismVersion,
    columns: &[Column],
) -> Vec<VersionDifference> {
    let is_new = |key: &QuestionKey| before.question(key).is_none();
    let is_shown = |key: &QuestionKey| columns.iter().any(|column| column.question == *key);
    let questions = after.questions().iter().map(|question| &question.key);
    let hidden = questions.filter(|key| is_new(key) && !is_shown(key));
    let difference = |key: &QuestionKey| {
        let text = format!(
            "The custom lens has no column for the new question '{key}': rows and json answers do \
             not show it until one is added."
        );
        VersionDifference::new(Severity::Cosmetic, format!("questions.{key}.lens"), text)
    };
    hidden.map(difference).collect()
}

fn for_callers(path: String, text: String) -> VersionDifference {
    VersionDifference::new(Severity::ForCallers, path, text)
}

fn path(column: &ColumnName) -> String {
    format!("lens.{column}")
}

fn names(columns: &[Column]) -> Vec<&ColumnName> {
    columns.iter().map(|column| &column.name).collect()
}
