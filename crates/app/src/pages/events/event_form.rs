//! The filters of the events as a form.

use maud::{Markup, html};
use refract_domain::event::{EventAction, TargetKind};
use refract_service::events::EventChoices;

use super::event_query::{ADDRESS, EventQuery, actor_text, target_text};
use crate::components::field::FormField;
use crate::sent::Query;

/// The form, which shows what was sent, also where that could not be read.
pub(super) fn event_form(sent: &Query, query: &EventQuery, choices: &EventChoices) -> Markup {
    let field = |name, label| FormField {
        name,
        label,
        value: sent.get(name).unwrap_or_default(),
        hint: "",
        fault: query.fault(name),
        is_required: false,
    };
    html! {
        form.filters method="get" action=(ADDRESS) aria-label="Filters" {
            (actors(field("by", "Who"), choices))
            (actions(field("action", "Did what")))
            (targets(field("target", "To what"), choices))
            (field("from", "From (UTC)").line("date", "off"))
            (field("to", "To (UTC)").line("date", "off"))
            button.main type="submit" { "Filter" }
            @if query.is_narrowed() || query.has_faults() { a.button href=(ADDRESS) { "Clear" } }
        }
    }
}

fn actors(field: FormField<'_>, choices: &EventChoices) -> Markup {
    let listed = choices.actors.iter();
    let listed: Vec<_> = listed
        .map(|(actor, name)| (actor_text(*actor), name.as_str()))
        .collect();
    let is_listed = listed.iter().any(|(sent, _)| sent == field.value);
    let options = html! {
        option value="" { "anybody" }
        @for (sent, name) in &listed {
            option value=(sent) selected[sent == field.value] { (name) }
        }
        // somebody who was removed, or a key
        @if !field.value.is_empty() && !is_listed { option value=(field.value) selected { "somebody else" } }
    };
    field.select(&options)
}

fn actions(field: FormField<'_>) -> Markup {
    let options = html! {
        option value="" { "anything" }
        @for action in EventAction::ALL {
            option value=(action.name()) selected[action.name() == field.value] { (action.words()) }
        }
    };
    field.select(&options)
}

fn targets(field: FormField<'_>, choices: &EventChoices) -> Markup {
    let groups = [
        (TargetKind::Prism, "Prisms"),
        (TargetKind::Key, "Keys"),
        (TargetKind::Person, "People"),
    ];
    let is_listed = choices
        .targets
        .iter()
        .any(|(target, _)| target_text(*target) == field.value);
    let options = html! {
        option value="" { "anything" }
        @for (kind, heading) in groups {
            optgroup label=(heading) {
                @for (target, name) in choices.targets.iter().filter(|(it, _)| it.kind() == kind) {
                    @let sent = target_text(*target);
                    @let is_chosen = sent == field.value;
                    option value=(sent) selected[is_chosen] { (name) }
                }
            }
        }
        @if !field.value.is_empty() && !is_listed { option value=(field.value) selected { "something else" } }
    };
    field.select(&options)
}
