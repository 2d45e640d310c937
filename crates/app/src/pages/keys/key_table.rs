//! The table of keys, with the forms that change one.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::account::key_networks::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_service::keys::{ListedKey, OverlapDays};

use crate::components::moment::moment;
use crate::components::number::count;
use crate::components::table::stacked_table;

/// Networks that were typed for a key and refused.
pub(super) struct RefusedNetworks {
    pub(super) key: ApiKeyId,
    pub(super) typed: String,
}

/// The keys of the account.
pub(super) fn key_table(
    keys: &[ListedKey],
    refused: Option<&RefusedNetworks>,
    now: DateTime<Utc>,
) -> Markup {
    let rows = html! { @for key in keys { (row(key, keys, refused, now)) } };
    let headings = [
        "Name",
        "Begins with",
        "Made by",
        "Made",
        "Last used",
        "Results",
        "Networks",
        "Ends",
        "Revoked",
    ];
    stacked_table("API keys", &headings, &rows)
}

fn row(
    key: &ListedKey,
    keys: &[ListedKey],
    refused: Option<&RefusedNetworks>,
    now: DateTime<Utc>,
) -> Markup {
    let has_ended = key.has_ended(now);
    let revoked_by = key.revoked_by.as_ref();
    let row = &key.row;
    let replaced = keys.iter().find(|other| Some(other.row.id) == row.replaces);
    html! {
        tr id={ "key-" (row.id) } {
            th scope="row" {
                bdi { (row.name) }
                @if let Some(replaced) = replaced {
                    br; span.soft { "replaces " code { (replaced.row.first_characters) "…" } }
                }
            }
            td data-label="Begins with" { code { (row.first_characters) "…" } }
            td data-label="Made by" { @match &key.actor { Some(name) => bdi { (name) }, None => span.soft { "terminal" } } }
            td data-label="Made" { (moment(row.created_at)) }
            td data-label="Last used" {
                @match row.last_used_at { Some(at) => (moment(at)), None => span.soft { "never" } }
                @if let Some(address) = &row.last_used_from { br; span.soft { "from " bdi { (address) } } }
            }
            td.number data-label="Results" {
                a href={ "/usage?by=day&key=" (row.id) } aria-label={ (count(key.results)) " by " (row.name) ", " (row.first_characters) "…: usage" } {
                    (count(key.results))
                }
            }
            td data-label="Networks" {
                @match &row.networks {
                    Some(networks) => { @for network in networks.texts() { code { (network) } " " } },
                    None => span.soft { "any" },
                }
                @if row.revoked_at.is_none() && !has_ended { (networks_form(key, refused)) }
            }
            td data-label="Ends" {
                @match row.expires_at {
                    Some(end) => { (moment(end)) @if has_ended { br; span.tag { "ended" } } },
                    None => span.soft { "never" },
                }
                @if row.times().is_accepted(now) { (replace_form(key)) }
            }
            td data-label=[row.revoked_at.map(|_| "Revoked")] {
                @match row.revoked_at {
                    Some(at) => {
                        (moment(at))
                        @if let Some(by) = revoked_by { br; span.soft { "by " bdi { (by.name) } } }
                    },
                    None => details {
                        summary aria-label={ "Revoke " (row.name) } { "Revoke" }
                        form method="post" action={ "/keys/" (row.id) "/revoke" } {
                            p { "Programs that use it are refused at once." }
                            button.danger type="submit" { "Revoke for good" }
                        }
                    },
                }
            }
        }
    }
}

fn networks_form(key: &ListedKey, refused: Option<&RefusedNetworks>) -> Markup {
    let row = &key.row;
    let typed = refused.filter(|refused| refused.key == row.id);
    let saved = row.networks.as_ref().map(KeyNetworks::to_string);
    let value = typed
        .map(|refused| refused.typed.as_str())
        .or(saved.as_deref());
    html! {
        details open[typed.is_some()] {
            summary aria-label={ "Change the networks of " (row.name) } { "Change" }
            form method="post" action={ "/keys/" (row.id) "/networks" } {
                p { "Calls from elsewhere are refused at once. Empty for any." }
                input type="text" name="networks" value=[value] autocomplete="off"
                    aria-label={ "Networks of " (row.name) } aria-invalid=[typed.map(|_| "true")];
                button type="submit" { "Save" }
            }
        }
    }
}

fn replace_form(key: &ListedKey) -> Markup {
    let row = &key.row;
    html! {
        details {
            summary aria-label={ "Replace " (row.name) } { "Replace" }
            form method="post" action={ "/keys/" (row.id) "/replace" } {
                p { "Makes a new key. This one is accepted for some days more, so that programs can change over." }
                input type="number" name="days" value="7" min="1" max=(OverlapDays::MOST) required
                    aria-label={ "Days until " (row.name) " ends" };
                " days "
                button type="submit" { "Make the new key" }
            }
        }
    }
}
