//! The table of keys with the forms that change one, the form for a new key, and the page with a new
//! key. That page answers the form itself, so that no address contains the key.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::account::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_identity::keys::{ApiKey, ListedKey, OverlapDays};
use refract_service::prisms::sample_texts;
use refract_service::results::ResultCounts;

use crate::components::{
    COPY_SCRIPT, FormErrors, FormField, NoticeKind, copyable, count, curl, moment, notice,
    stacked_table,
};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::{Visit, form_id};

/// Networks that were typed for a key and refused.
pub(super) struct RefusedNetworks {
    pub(super) key: ApiKeyId,
    pub(super) typed: String,
}

/// The keys of the account.
pub(super) fn key_table(
    keys: &[ListedKey],
    counts: &ResultCounts,
    refused: Option<&RefusedNetworks>,
    now: DateTime<Utc>,
) -> Markup {
    let rows = html! {
        @for key in keys { (row(key, keys, counts.of_key(key.row.id), refused, now)) }
    };
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
    results: u64,
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
                @match row.last_used_at {
                    Some(at) => (moment(at)),
                    // uses are noted a little later than results
                    None if results > 0 => span.soft { "not noted yet" },
                    None => span.soft { "never" },
                }
                @if let Some(address) = &row.last_used_from { br; span.soft { "from " (address) } }
            }
            td.number data-label="Results" {
                a href={ "/usage?by=day&key=" (row.id) } aria-label={ (count(results)) " by " (row.name) ", " (row.first_characters) "…: usage" } {
                    (count(results))
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
                    None if row.revoked_at.is_some() => {},
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
                            button.danger { "Revoke for good" }
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
                input name="networks" value=[value] autocomplete="off"
                    aria-label="Networks" aria-invalid=[typed.map(|_| "true")];
                button { "Save" }
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
                p { "Makes a new key. This one is accepted for some days more." }
                input type="number" name="days" value="7" min="1" max=(OverlapDays::MOST) required
                    aria-label="Days until the old key ends";
                " days "
                button { "Make the new key" }
            }
        }
    }
}

/// The form with what was typed, and its errors. A form of a row has inputs of the same names, but
/// is sent elsewhere.
pub(super) fn key_form(visit: &Visit, errors: &FormErrors) -> Markup {
    let typed = |name| {
        if errors.is_empty() {
            ""
        } else {
            visit.sent.form.get(name)
        }
    };
    let name = FormField::new("name", "Name of the new key").required();
    let name = name.value(typed("name")).errors(errors);
    let name = name.hint("The program that uses it, such as ticket importer.");
    let expires = FormField::new("expires", "Ends on (UTC)").value(typed("expires"));
    let expires = expires.hint("From the beginning of this day on the key is refused. Leave it empty for a key without an end.");
    let networks = FormField::new("networks", "Only from these networks").value(typed("networks"));
    let networks = networks.hint("Such as 10.0.0.0/8, separated by commas. Calls from elsewhere are refused. Leave it empty for any.");
    html! {
        form.narrow method="post" action="/keys" {
            (form_id())
            (name.line("text", "off"))
            (expires.errors(errors).line("date", "off"))
            (networks.errors(errors).line("text", "off"))
            button.main type="submit" { "Make a key" }
        }
    }
}

/// A key that is shown this one time.
pub(super) enum NewKey {
    /// A key of its own.
    Created {
        key: ApiKey,
        ends_at: Option<DateTime<Utc>>,
    },
    /// The successor of a key that is still accepted.
    Successor {
        key: ApiKey,
        replaced_ends_at: DateTime<Utc>,
    },
}

impl NewKey {
    fn key(&self) -> &ApiKey {
        match self {
            Self::Created { key, .. } | Self::Successor { key, .. } => key,
        }
    }
}

/// Shows a new key with a call to the API.
pub(super) async fn new_key_page(
    visit: &Visit,
    name: &str,
    new: &NewKey,
) -> Result<PageReply, PageError> {
    let account = visit.account();
    let key = new.key();
    let listed = visit.refract.prisms().list(account).await?;
    let active = listed
        .iter()
        .find(|counted| counted.prism.archived_at.is_none());
    let call = match active {
        None => None,
        Some(counted) => {
            let prism = &counted.prism;
            let prisms = visit.refract.prisms();
            let version = prisms.find_version(prism, prism.latest_version).await?;
            let sample = sample_texts(&version).first().copied();
            let url = &visit.site.api_url;
            let call = curl::create_result(url, prism, version.fields(), sample);
            let set_key = curl::set_key(key.reveal());
            Some((prism.name.clone(), format!("{set_key}\n{call}")))
        }
    };
    let main = html! {
        h1 { "The key " bdi { (name) } }
        (notice(NoticeKind::Warning, &html! { "This is the only time that it is shown. Copy it now." }))
        @match new {
            NewKey::Created { ends_at: Some(end), .. } => p { "It opens the account until " (moment(*end)) "." },
            NewKey::Created { ends_at: None, .. } => {},
            NewKey::Successor { replaced_ends_at, .. } => p {
                "The old key is accepted until " (moment(*replaced_ends_at))
                ": give the new one to every program that uses it before then."
            },
        }
        (copyable("key", "The key", key.reveal()))
        @if let Some((prism, call)) = &call {
            h2 { "A call with it to " bdi { (prism) } ", ready for a terminal" }
            (copyable("curl", "The key and a call to the API", call))
        }
        p { a.button href="/keys" { "I have copied it" } }
    };
    let page = visit.page("A new key", main).section(Section::Keys);
    Ok(page.script(COPY_SCRIPT).script("shown-once.js").reply())
}
