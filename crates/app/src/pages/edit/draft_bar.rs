//! The age of a draft, how to discard it, and what happened to it elsewhere.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_service::prisms::find_example;

use super::editing::Editing;
use super::kept_state::{DraftStanding, REVISION, TAB};
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::requests::visit::Visit;

/// What happened before the redirect to the form.
pub(crate) fn done(what: &str) -> Option<&'static str> {
    match what {
        "discarded" => Some("Your draft is discarded."),
        "gone" => Some("That draft was saved or discarded before. This is what is saved now."),
        "other" => Some("Your draft was changed in another tab meanwhile. This is how it is now."),
        _ => None,
    }
}

/// The stored draft's age, with a button that discards it.
pub(crate) fn draft_bar(visit: &Visit, editing: &Editing) -> Markup {
    let from = visit.sent.query.get("from");
    let from = from.filter(|_| editing.prism.is_none());
    html! {
        @if let DraftStanding::Stored(saved_at) = editing.kept.standing {
            @if let Some(from) = from { (instead_of(from)) }
            div.draft-bar {
                p #draft-age { "Your draft of " (time(saved_at)) ", " (ago(saved_at)) "." }
                details open[from.is_some()] {
                    summary { "Discard" }
                    form method="post" action={ (editing.address()) "/draft" } {
                        (named(editing))
                        @if let Some(from) = from { input type="hidden" name="from" value=(from); }
                        span { "Everything in it is lost. " }
                        button.danger type="submit" name="act" value="discard" {
                            "Discard the draft"
                            @if from.is_some() { " and start anew" }
                        }
                    }
                }
            }
        }
    }
}

/// Why the draft of a new prism is shown, and not the example that was opened.
fn instead_of(from: &str) -> Markup {
    let example = find_example(from);
    notice(
        NoticeKind::Warning,
        &html! {
            "You have a draft of a new prism, so it is shown here and not "
            @match example { Some(example) => { "the example " bdi { (example.name) } } None => { "a blank one" } }
            ". Discard the draft to start anew."
        },
    )
}

/// The warning that this page's draft is not stored, because another one is.
pub(crate) fn conflict(editing: &Editing) -> Markup {
    let words = match editing.kept.standing {
        DraftStanding::Unsaved | DraftStanding::Stored(_) => return html! {},
        DraftStanding::Overtaken(at) => html! {
            "Your draft was changed in another tab at " (time(at))
            ". What you typed here is on this page only, and is not kept yet. "
        },
        DraftStanding::Gone => html! {
            "Your draft was saved or discarded since this page was opened. What you typed here is on \
             this page only, and is not kept yet. "
        },
    };
    notice(
        NoticeKind::Refused,
        &html! {
            (words)
            div.row {
                button type="submit" name="act" value="mine" { "Keep what is on this page" }
                a href=(editing.address()) { "Show what is kept instead" }
            }
        },
    )
}

/// Hidden inputs that name the draft of a page.
pub(crate) fn named(editing: &Editing) -> Markup {
    html! {
        input type="hidden" name=(REVISION) value=(editing.kept.revision.number());
        input type="hidden" name=(TAB) value=(editing.kept.tab);
    }
}

/// The time of day of a draft, with its day if it is not of today.
pub(crate) fn time(at: DateTime<Utc>) -> Markup {
    let is_today = at.date_naive() == Utc::now().date_naive();
    let short = if is_today { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    html! { time datetime=(at.to_rfc3339()) title={ (at.format("%Y-%m-%d %H:%M:%S")) " UTC" } { (at.format(short)) } }
}

fn ago(at: DateTime<Utc>) -> String {
    let minutes = (Utc::now() - at).num_minutes();
    let (number, noun) = match minutes {
        ..1 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!(
        "{} ago",
        counted(u64::try_from(number).unwrap_or_default(), noun)
    )
}
