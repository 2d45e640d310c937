//! One difference between two versions of a prism.

/// Whom a difference concerns. The most serious comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A call must be made otherwise, or a reader of results meets columns or values that were not
    /// there, or no longer meets some that were.
    ForCallers,
    /// The model is asked otherwise, so its answers may change.
    ForAnswers,
    /// Nothing changes but what people see in the app.
    Cosmetic,
}

/// One thing that a version changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDifference {
    /// Whom it concerns.
    pub severity: Severity,
    /// Where it is, as keys joined with dots: `context`, `fields.KEY`, `fields.KEY.label`,
    /// `questions.KEY.text`, `questions.KEY.options.KEY.description`, `lens.COLUMN`. A change of a
    /// list's order has the list's path, such as `fields` or `questions.KEY.levels`.
    pub path: String,
    /// One sentence for people.
    pub text: String,
    /// The words before and after, where words changed.
    pub words: Option<ChangedWords>,
}

/// Words of a prism before and after a change; at least one of the two is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedWords {
    /// The words before the change; `None` where there were none.
    pub before: Option<String>,
    /// The words after the change; `None` where there are none any more.
    pub after: Option<String>,
}

impl VersionDifference {
    /// A difference without words to compare.
    pub(super) fn new(
        severity: Severity,
        path: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            path: path.into(),
            text: text.into(),
            words: None,
        }
    }

    /// The difference with the words that changed.
    pub(super) fn with_words(self, words: ChangedWords) -> Self {
        Self {
            words: Some(words),
            ..self
        }
    }
}

impl ChangedWords {
    /// The words before and after; `None` when they are alike.
    pub(super) fn of(before: Option<&str>, after: Option<&str>) -> Option<Self> {
        (before != after).then(|| Self {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        })
    }

    /// One of three phrases: for words that were added, removed or changed.
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
