//! `/keys`: API keys. Owners create, limit, replace and revoke them, and see each one once.

mod key_table;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::html;
use refract_domain::account::KeyNetworks;
use refract_domain::ids::ApiKeyId;
use refract_domain::prism::DisplayName;
use refract_identity::keys::{
    KeyError, KeyLimits, KeyReplacement, OverlapDays, ReplaceKeyError, SetNetworksOutcome,
    reminders_of,
};

use self::key_table::{NewKey, RefusedNetworks, key_form, key_table, new_key_page};
use crate::components::{FormErrors, NoticeKind, empty_state, key_reminders, notice};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::{Day, NO_DAY, Visit};

/// The status of a form that is refused.
const REFUSED: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;

/// A form of the page that was refused.
#[derive(Default)]
struct RefusedForm {
    /// The errors of the form for a new key.
    errors: FormErrors,
    /// The networks that were typed for a key.
    networks: Option<RefusedNetworks>,
    /// Why a key was not changed; empty if it was not tried.
    reason: String,
}

impl RefusedForm {
    fn because(reason: &(impl ToString + ?Sized)) -> Self {
        Self {
            reason: reason.to_string(),
            ..Self::default()
        }
    }
}

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    page(&visit, &RefusedForm::default(), StatusCode::OK).await
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
    let expires_at = Day::parse(typed).map(Day::begin);
    if !typed.is_empty() && expires_at.is_none() {
        errors.note("expires", NO_DAY);
    }
    let networks = KeyNetworks::parse(form.get("networks"));
    if let Err(error) = &networks {
        errors.note("networks", error);
    }
    let (Some(name), Ok(networks), true) = (name, networks, errors.is_empty()) else {
        return refuse_creation(&visit, errors).await;
    };
    let name = name.as_str().to_owned();
    let limits = KeyLimits {
        expires_at,
        networks,
    };
    let (keys, actor) = (visit.refract.keys(), visit.actor());
    let id = ApiKeyId::new(form.id_of_made());
    let creating = keys.create_once(&actor, id, name.clone(), limits.clone());
    match creating.await {
        Ok(Some(key)) => {
            let ends_at = limits.expires_at;
            let made = NewKey::Created { key, ends_at };
            new_key_page(&visit, &name, &made).await
        }
        Err(refusal @ KeyError::EndsInThePast { .. }) => {
            errors.note("expires", &refusal);
            refuse_creation(&visit, errors).await
        }
        Ok(None) => {
            let reason = "The key was made already, and shown that one time. If it was lost, revoke \
                 it below, and make another";
            page(&visit, &RefusedForm::because(reason), StatusCode::CONFLICT).await
        }
        Err(KeyError::Secret(error)) => Err(error.into()),
        Err(KeyError::Persistence(error)) => Err(error.into()),
    }
}

async fn refuse_creation(visit: &Visit, errors: FormErrors) -> Result<PageReply, PageError> {
    let refused = RefusedForm {
        errors,
        ..RefusedForm::default()
    };
    page(visit, &refused, REFUSED).await
}

/// Limits a key to networks.
pub(crate) async fn set_networks(visit: Visit) -> Result<PageReply, PageError> {
    let id = ApiKeyId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    find_name(&visit, id).await?;
    let typed = visit.sent.form.get_sent("networks")?;
    let networks = match KeyNetworks::parse(typed) {
        Ok(networks) => networks,
        Err(error) => {
            let networks = RefusedNetworks {
                key: id,
                typed: typed.to_owned(),
            };
            let refused = RefusedForm {
                networks: Some(networks),
                ..RefusedForm::because(&error)
            };
            return page(&visit, &refused, REFUSED).await;
        }
    };
    let (keys, actor) = (visit.refract.keys(), visit.actor());
    let setting = keys.set_networks(&actor, id, networks.as_ref());
    match setting.await? {
        SetNetworksOutcome::NotFound => Err(PageError::NotFound),
        SetNetworksOutcome::Changed | SetNetworksOutcome::Unchanged => {
            Ok(PageReply::see_other("/keys?done=networks"))
        }
    }
}

/// Replaces a key, and shows its successor once.
pub(crate) async fn replace(visit: Visit) -> Result<PageReply, PageError> {
    let id = ApiKeyId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let name = find_name(&visit, id).await?;
    let overlap = match OverlapDays::parse(visit.sent.form.get("days")) {
        Ok(overlap) => overlap,
        Err(error) => {
            let refused = RefusedForm::because(&format!("The days of both keys {error}"));
            return page(&visit, &refused, REFUSED).await;
        }
    };
    let keys = visit.refract.keys();
    let replacing = keys.replace(&visit.actor(), id, overlap, None).await;
    match replacing {
        Ok(KeyReplacement::New {
            key,
            replaced_ends_at,
            ..
        }) => {
            let made = NewKey::Successor {
                key,
                replaced_ends_at,
            };
            new_key_page(&visit, &name, &made).await
        }
        Ok(KeyReplacement::Earlier { .. }) => {
            let reason = "The key was replaced before. If its successor was lost, revoke that, \
                 and replace the key again";
            page(&visit, &RefusedForm::because(reason), StatusCode::CONFLICT).await
        }
        Err(
            error @ (ReplaceKeyError::Ended | ReplaceKeyError::Key(KeyError::EndsInThePast { .. })),
        ) => {
            let refused = RefusedForm::because(&error);
            page(&visit, &refused, StatusCode::CONFLICT).await
        }
        Err(ReplaceKeyError::NotFound) => Err(PageError::NotFound),
        Err(ReplaceKeyError::Key(KeyError::Secret(error))) => Err(error.into()),
        Err(ReplaceKeyError::Key(KeyError::Persistence(error))) => Err(error.into()),
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

/// The label of a key of the account.
async fn find_name(visit: &Visit, id: ApiKeyId) -> Result<String, PageError> {
    let keys = visit.refract.keys().list(visit.account()).await?;
    let found = keys.into_iter().find(|key| key.row.id == id);
    found.map(|key| key.row.name).ok_or(PageError::NotFound)
}

fn done(what: &str) -> Option<&'static str> {
    match what {
        "revoked" => {
            Some("The key is revoked: the next call with it is refused. Its results stay.")
        }
        "networks" => Some("The networks are saved, and hold from the next call on."),
        _ => None,
    }
}

/// The address of a key on the page.
pub(crate) fn address_of_key(key: ApiKeyId) -> String {
    format!("/keys#key-{key}")
}

async fn page(
    visit: &Visit,
    refused: &RefusedForm,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let keys = visit.refract.keys().list(visit.account()).await?;
    let now = Utc::now();
    let counts = visit.refract.results().counts(visit.account(), now).await?;
    let reason = &refused.reason;
    let main = html! {
        h1 { "Keys" }
        @if let Some(notice) = visit.done(done) { (notice) }
        @if !reason.is_empty() { (notice(NoticeKind::Refused, &html! { (reason) "." })) }
        (key_reminders(&reminders_of(&keys, now), now))
        p { "Programs call the API with a key. A key opens the whole account; keep it on servers only." }
        (key_form(visit, &refused.errors))
        @if keys.is_empty() {
            (empty_state("There is no key yet. Name the program that will use it, and make one above.", &html! {}))
        } @else {
            (key_table(&keys, &counts, refused.networks.as_ref(), now))
        }
    };
    let page = visit.page("Keys", main).section(Section::Keys);
    Ok(page.status(status).reply())
}
