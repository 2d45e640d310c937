//! The table of the account's people, with the actions on each, and the form by which owners require
//! one-time codes.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::ids::PersonId;
use refract_identity::events::ListedEvent;
use refract_identity::people::Person;
use refract_service::marks::LastMark;

use crate::components::{moment, stacked_table};
use crate::pages::events::events_of;
use crate::pages::results::marks_of;

/// The roles with their labels, least powerful first.
pub(super) const ROLES: [(&str, &str); 3] = [
    ("reviewer", "Reviewer"),
    ("editor", "Editor"),
    ("owner", "Owner"),
];

/// What each person did last.
pub(super) struct LastDone {
    pub(super) events: HashMap<PersonId, ListedEvent>,
    /// When they marked last, which is no event.
    pub(super) marked: HashMap<PersonId, LastMark>,
}

/// What one person did last.
#[derive(Clone, Copy)]
enum LastAct<'a> {
    Changed(&'a ListedEvent),
    Marked(PersonId, LastMark),
}

impl LastDone {
    fn of(&self, person: PersonId) -> Option<LastAct<'_>> {
        let changed = self.events.get(&person).map(LastAct::Changed);
        let marked = self.marked.get(&person);
        let marked = marked.map(|last| LastAct::Marked(person, *last));
        changed.into_iter().chain(marked).max_by_key(LastAct::at)
    }
}

impl LastAct<'_> {
    fn at(&self) -> DateTime<Utc> {
        match self {
            Self::Changed(listed) => listed.event.stamp.at,
            Self::Marked(_, last) => last.at,
        }
    }
}

/// A row for each person, with what they did last; the visitor's row is marked.
pub(super) fn person_table(people: &[Person], last: &LastDone, visitor: PersonId) -> Markup {
    let rows = html! {
        @for person in people { (row(person, last.of(person.id), person.id == visitor)) }
    };
    let headings = ["Person", "Role", "Last here", "Did last", ""];
    stacked_table("People of the account", &headings, &rows)
}

fn row(person: &Person, last: Option<LastAct<'_>>, is_visitor: bool) -> Markup {
    let called = person.name.as_deref().unwrap_or(person.email.as_str());
    html! {
        tr {
            th scope="row" {
                @if let Some(name) = &person.name {
                    bdi { (name) }
                    @if is_visitor { " " span.tag { "you" } }
                    br;
                }
                bdi.soft { (person.email) }
                @if person.has_codes { br; span.tag { "one-time codes" } }
            }
            td {
                form.row.together method="post" action=(action(person, "role")) {
                    select.short name="role" aria-label={ "Role of " (called) } {
                        @for (value, words) in ROLES {
                            option value=(value) selected[value == person.role.name()] { (words) }
                        }
                    }
                    button type="submit" aria-label={ "Set the role of " (called) } { "Set" }
                }
            }
            td data-label="Last here" { (last_here(person, last)) }
            td data-label=[last.map(|_| "Did last")] { @if let Some(last) = last { (did_last(last)) } }
            td {
                div.row {
                    form method="post" action=(action(person, "link")) {
                        button type="submit" aria-label={ "New link for " (called) } { "New link" }
                    }
                    @if person.has_codes {
                        details {
                            summary aria-label={ "Codes off for " (called) } { "Codes off" }
                            form method="post" action=(action(person, "codes-off")) {
                                p.hint { "For those who lost their phone and recovery codes. They then sign in by password alone." }
                                button.danger type="submit" { "Switch off the codes of " bdi { (called) } }
                            }
                        }
                    }
                    details {
                        summary aria-label={ "Remove " (called) } { "Remove" }
                        form method="post" action=(action(person, "remove")) {
                            p.hint { "They are signed out at once. What they made stays, with their name." }
                            button.danger type="submit" { "Remove " bdi { (called) } }
                        }
                    }
                }
            }
        }
    }
}

fn did_last(last: LastAct<'_>) -> Markup {
    let what = match last {
        LastAct::Marked(person, last) => html! {
            a href=(marks_of(person, last)) { "marked results" }
        },
        LastAct::Changed(ListedEvent { event, target, .. }) => {
            let is_about_themselves = event.stamp.actor.id() == Some(event.target.id());
            html! {
                a href=(events_of(event.stamp.actor)) { (event.action.label()) }
                @if !is_about_themselves { ": " bdi { (target.name) } }
            }
        }
    };
    html! {
        div { (what) }
        span.soft { (moment(last.at())) }
    }
}

/// When a person was last here. A session notes its use only every few minutes, so that what they did
/// last may be newer.
fn last_here(person: &Person, last: Option<LastAct<'_>>) -> Markup {
    let did_at = last.map(|last| last.at());
    let last_used_at = person.last_used_at.max(did_at);
    let last_used_at = person.last_used_at.and(last_used_at);
    html! {
        @match (&person.name, last_used_at) {
            (Some(_), Some(at)) => { (moment(at)) }
            (Some(_), None) => { "signed out" }
            (None, _) => { "has not joined yet" }
        }
        @if let Some(until) = person.link_expires_at {
            br;
            span.soft { "link until " (moment(until)) }
        }
    }
}

fn action(person: &Person, what: &str) -> String {
    format!("/people/{}/{what}", person.id)
}

/// Whether codes are required, with the button that changes it.
pub(super) fn codes_form(are_required: bool) -> Markup {
    html! {
        h2 { "One-time codes" }
        @if are_required {
            p { "Required: people who sign in by password and have no codes can only set them up." }
        } @else {
            p {
                "Optional: each person decides. Once required, people without codes can open nothing \
                 else until they have set them up. That includes you."
            }
        }
        form method="post" action="/people/codes" {
            @if are_required {
                button type="submit" name="require" value="off" { "Make them optional" }
            } @else {
                button type="submit" name="require" value="on" { "Require one-time codes" }
            }
        }
    }
}
