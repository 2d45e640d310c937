//! One difference between two versions of a prism.
//!
//! The order of the elements that two versions have in common.

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
