//! Messages about a completed action, an error, an empty list, or keys that need attention.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::account::KeyReminder;
use refract_identity::keys::RemindedKey;

use super::readable::{counted, moment};

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
        NoticeKind::Warning => ("warning", "Warning", "status"),
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

/// The notice; empty without a reminder.
pub(crate) fn key_reminders(reminded: &[RemindedKey], now: DateTime<Utc>) -> Markup {
    html! {
        @if !reminded.is_empty() {
            div.notice.warning role="status" {
                p { strong { "Keys need your attention." } }
                ul { @for reminded in reminded { li { (sentence(reminded, now)) } } }
            }
        }
    }
}

fn sentence(reminded: &RemindedKey, now: DateTime<Utc>) -> Markup {
    let key = &reminded.key;
    let link = html! {
        a href={ "/keys#key-" (key.id) } { bdi { (key.name) } " (" (key.first_characters) "…)" }
    };
    match reminded.reminder {
        KeyReminder::EndsSoon { ends_at } => html! {
            (link) " is in use and ends in " (days(ends_at, now)) ", on " (moment(ends_at))
            ". Replace it, or give its successor to the programs that still use it."
        },
        KeyReminder::SuccessorUnused => html! {
            (link) " was replaced, but programs still use it, and nobody uses its successor."
            @if let Some(end) = key.expires_at { " It ends in " (days(end, now)) "." }
        },
    }
}

/// The days until a moment, a started one included.
fn days(ends_at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let whole = (ends_at - now).num_days().saturating_add(1);
    counted(usize::try_from(whole).unwrap_or_default(), "day")
}
