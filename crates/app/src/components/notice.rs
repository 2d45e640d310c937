//! A message about what was done, or about what is wrong.

use maud::{Markup, html};

/// What a notice is about. Each kind is also said in words, so that colour is not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    /// Something was done.
    Done,
    /// Something should be known before going on.
    Warning,
    /// Something was refused or failed.
    Refused,
}

/// A notice. Screen readers say it at once.
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
