//! The page with a new key. It answers the form itself, so that no address contains the key.

use chrono::{DateTime, Utc};
use maud::html;
use refract_service::keys::api_key::ApiKey;
use refract_service::prisms::sample_texts;

use crate::components::copyable::{COPY_SCRIPT, copyable};
use crate::components::curl;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::replies::page::Section;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

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
