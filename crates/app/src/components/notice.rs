//! A message about a completed action or an error, and the state of an empty list.

use maud::{Markup, html};

/// The kind of a notice. Each kind is also named in words, so that the page does not rely on
/// colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// An action was completed.
    Done,
    /// A warning before the next step.
    Warning,
    /// An action was refused or failed.
    Refused,
}

/// A notice. Screen readers announce it at once.
pub(crate) fn notice(kind: NoticeKind, words: &Markup) -> Markup {
    let (class, word, role) = match kind {
        NoticeKind::Done => ("done", "Done", "status"),
        NoticeKind::Warning => ("warning", "Mind", "status"),
        NoticeKind::Refused => ("refused", "Not done", "alert"),
    };
    html! {
        div.notice.(class) role=(role) {
            strong { (word) ". " }
            (words)
        }
    }
}

/// One sentence about the purpose of the page, and the next action.
pub(crate) fn empty_state(sentence: &str, action: &Markup) -> Markup {
    html! {
        div.empty {
            p { (sentence) }
            (action)
        }
    }
}
