//! The filter form of the events.

use maud::{Markup, html};
use refract_domain::event::{EventAction, TargetKind};
use refract_service::events::EventChoices;

use super::event_query::{ADDRESS, EventQuery, actor_text, target_text};
use crate::components::field::FormField;

/// The form with the values that were sent, valid or not.
pub(super) fn event_form(query: &EventQuery, choices: &EventChoices) -> Markup {
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (actors(&query.field("by", "Who"), choices))
            (actions(&query.field("action", "Did what")))
            (targets(&query.field("target", "To what"), choices))
            (query.field("from", "From (UTC)").line("date", "off"))
            (query.field("to", "To (UTC)").line("date", "off"))
            button.main type="submit" { "Filter" }
            @if query.is_narrowed() || query.has_errors() { a.button href=(ADDRESS) { "Clear" } }
        }
    }
}

fn actors(field: &FormField<'_>, choices: &EventChoices) -> Markup {
    let listed = choices.actors.iter();
    let listed: Vec<_> = listed
        .map(|(actor, name)| (actor_text(*actor), name.as_str()))
        .collect();
    let is_listed = listed.iter().any(|(sent, _)| sent == field.value);
    field.select(&html! {
        option value="" { "anybody" }
        @for (sent, name) in &listed { (field.option(sent, name)) }
        // a removed person, or a key
        @if !is_listed { (unlisted(field, "somebody else")) }
    })
}

fn actions(field: &FormField<'_>) -> Markup {
    field.select(&html! {
        option value="" { "anything" }
        @for action in EventAction::ALL { (field.option(action.name(), action.label())) }
    })
}

fn targets(field: &FormField<'_>, choices: &EventChoices) -> Markup {
    let groups = [
        (TargetKind::Prism, "Prisms"),
        (TargetKind::Key, "Keys"),
        (TargetKind::Person, "People"),
    ];
    let mut targets = choices.targets.iter();
    let is_listed = targets.any(|(target, _)| target_text(*target) == field.value);
    field.select(&html! {
        option value="" { "anything" }
        @for (kind, heading) in groups {
            optgroup label=(heading) {
                @for (target, name) in choices.targets.iter().filter(|(it, _)| it.kind() == kind) {
                    (field.option(&target_text(*target), name))
                }
            }
        }
        @if !is_listed { (unlisted(field, "something else")) }
    })
}

/// The option for a sent value that is not in the list.
fn unlisted(field: &FormField<'_>, words: &str) -> Markup {
    html! { @if !field.value.is_empty() { (field.option(field.value, words)) } }
}
