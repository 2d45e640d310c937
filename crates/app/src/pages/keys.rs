//! `/keys`: API keys. Owners create them, see each one once, and revoke them.

use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::ids::ApiKeyId;
use refract_domain::prism::DisplayName;
use refract_service::keys::api_key::ApiKey;
use refract_service::keys::{KeyError, ListedKey};
use refract_service::prisms::sample_texts;

use crate::components::copyable::{COPY_SCRIPT, copyable};
use crate::components::curl;
use crate::components::empty_state::empty_state;
use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::count;
use crate::components::table::stacked_table;
use crate::replies::page::Section;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::days::{NO_DAY, beginning, day};
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    page(&visit, &FormErrors::default(), StatusCode::OK).await
}

/// Creates a key and shows it once.
pub(crate) async fn create(visit: Visit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let mut errors = FormErrors::default();
    // a label follows the rules of every name
    let name = errors.read(
        "name",
        form.get("name"),
        DisplayName::parse(form.get("name")),
    );
    let typed = form.get("expires").trim();
    let expires = day(typed).map(beginning);
    if !typed.is_empty() && expires.is_none() {
        errors.note("expires", NO_DAY);
    }
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    let (Some(name), true) = (name, errors.is_empty()) else {
        return page(&visit, &errors, status).await;
    };
    let name = name.as_str().to_owned();
    let (keys, actor) = (visit.refract.keys(), visit.actor());
    let creating = keys.create(&actor, name.clone(), expires);
    match creating.await {
        Ok((_, key)) => made(&visit, &name, expires, &key).await,
        Err(refusal @ KeyError::EndsInThePast { .. }) => {
            errors.note("expires", &refusal);
            page(&visit, &errors, status).await
        }
        Err(KeyError::Secret(error)) => Err(error.into()),
        Err(KeyError::Persistence(error)) => Err(error.into()),
    }
}

/// Revokes a key.
pub(crate) async fn revoke(visit: Visit) -> Result<PageReply, PageError> {
    let id = ApiKeyId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let is_known = visit.refract.keys().revoke(&visit.actor(), id).await?;
    if is_known {
        Ok(PageReply::see_other("/keys?done=revoked"))
    } else {
        Err(PageError::NotFound)
    }
}

fn done(what: &str) -> Option<&'static str> {
    let words = "The key is revoked: the next call with it is refused. Its results stay.";
    (what == "revoked").then_some(words)
}

async fn page(
    visit: &Visit,
    errors: &FormErrors,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let keys = visit.refract.keys().list(visit.account()).await?;
    let main = html! {
        h1 { "Keys" }
        @if let Some(notice) = visit.done(done) { (notice) }
        p { "Programs call the API with a key. A key opens the whole account; keep it on servers only." }
        (form(visit, errors))
        @if keys.is_empty() {
            (empty_state("There is no key yet. Name the program that will use it, and make one above.", &html! {}))
        } @else {
            (rows(&keys, Utc::now()))
        }
    };
    let page = visit.page("Keys", main).section(Section::Keys);
    Ok(page.status(status).reply())
}

/// The page with a new key. It answers the form itself, so that no address contains the key.
async fn made(
    visit: &Visit,
    name: &str,
    expires: Option<DateTime<Utc>>,
    key: &ApiKey,
) -> Result<PageReply, PageError> {
    let account = visit.account();
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
        @if let Some(end) = expires { p { "It opens the account until " (moment(end)) "." } }
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

fn form(visit: &Visit, errors: &FormErrors) -> Markup {
    let typed = &visit.sent.form;
    let name = FormField::new("name", "Name of the new key").required();
    let name = name.value(typed.get("name")).errors(errors);
    let name = name.hint("The program that uses it, such as ticket importer.");
    let expires = FormField::new("expires", "Ends on (UTC)").value(typed.get("expires"));
    let expires = expires.hint("From the beginning of this day on the key is refused. Leave it empty for a key without an end.");
    html! {
        form.narrow method="post" action="/keys" {
            (name.line("text", "off"))
            (expires.errors(errors).line("date", "off"))
            button.main type="submit" { "Make a key" }
        }
    }
}

fn rows(keys: &[ListedKey], now: DateTime<Utc>) -> Markup {
    let rows = html! { @for key in keys { (row(key, now)) } };
    let headings = [
        "Name",
        "Begins with",
        "Made by",
        "Made",
        "Last used",
        "Results",
        "Ends",
        "Revoked",
    ];
    stacked_table("API keys", &headings, &rows)
}

/// The address of a key on the page.
pub(crate) fn address_of_key(key: ApiKeyId) -> String {
    format!("/keys#key-{key}")
}

fn row(key: &ListedKey, now: DateTime<Utc>) -> Markup {
    let has_ended = key.has_ended(now);
    let revoked_by = key.revoked_by.as_ref();
    let row = &key.row;
    html! {
        tr id={ "key-" (row.id) } {
            th scope="row" { bdi { (row.name) } }
            td data-label="Begins with" { code { (row.first_characters) "…" } }
            td data-label="Made by" { @match &key.actor { Some(name) => bdi { (name) }, None => span.soft { "terminal" } } }
            td data-label="Made" { (moment(row.created_at)) }
            td data-label="Last used" { @match row.last_used_at { Some(at) => (moment(at)), None => span.soft { "never" } } }
            td.number data-label="Results" { (count(key.results)) }
            td data-label="Ends" {
                @match row.expires_at {
                    Some(end) => { (moment(end)) @if has_ended { br; span.tag { "ended" } } },
                    None => span.soft { "never" },
                }
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
