//! `/prisms/{slug}`: what callers need, the versions, and the changes.

mod actions;
mod changes;
mod file;

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_service::prisms::{Prism, PrismOverview};

pub(crate) use self::actions::{archive, rename, restore};
use self::changes::{changes, versions};
pub(crate) use self::file::{download, download_version};
use crate::components::copyable::{COPY_SCRIPT, copyable};
use crate::components::curl;
use crate::components::definition;
use crate::components::field::FormField;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::{count, counted};
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prisms = visit.refract.prisms();
    let found = prisms.overview(visit.account(), &visit.prism()?).await?;
    Ok(page(&visit, &found, ""))
}

/// The page; `name_error` is the validation error of a new name.
fn page(visit: &Visit, found: &PrismOverview, name_error: &str) -> PageReply {
    let prism = &found.prism_lens.prism;
    let role = visit.visitor.role;
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! {
                "This prism is archived: it answers no calls. Its results stay readable."
            }))
        }
        div.split {
            section { (for_callers(visit, found)) }
            section {
                h2 { "Versions" }
                (versions(found))
                h2 { "Changes" }
                (changes(found))
                @if role.may(Role::Editor) { (settings(visit, prism, name_error)) }
            }
        }
    };
    let page = visit.prism_page(prism, PrismTab::Overview, &prism.name, &main);
    page.script(COPY_SCRIPT).reply()
}

fn done(what: &str) -> Option<&'static str> {
    match what {
        "created" => Some("The prism is made. Try a text, or call it."),
        "saved" => Some("The version is saved. Calls that name no version get it from now on."),
        "renamed" => Some("The name is changed; the slug stays."),
        "archived" => Some("The prism is archived."),
        "restored" => Some("The prism answers again."),
        _ => None,
    }
}

fn for_callers(visit: &Visit, found: &PrismOverview) -> Markup {
    let lens = &found.prism_lens;
    let prism = &lens.prism;
    let curl = curl::create_result(&visit.site.api_url, prism, lens.latest.fields());
    html! {
        h2 { "What callers need" }
        dl.facts {
            dt { "Slug" } dd { code { (prism.slug) } }
            dt { "Id" } dd { code { (prism.id) } }
            dt { "Latest version" } dd { (prism.latest_version) }
            dt { "Results" }
            dd {
                a href={ (prism_address(prism)) "/results" } { (counted(found.counts.in_all, "result")) }
                ", " (count(found.counts.in_last_days())) " in the last seven days"
            }
        }
        (copyable("curl", "A call to the API", &curl))
        p.hint {
            "The key comes from "
            @if visit.visitor.role.may(Role::Owner) { a href="/keys" { "Keys" } } @else { "an owner of the account" }
            ". " a href={ (prism_address(prism)) "/file" } { "Download the prism file" }
        }
        (definition::definition(&lens.latest))
    }
}

fn settings(visit: &Visit, prism: &Prism, name_error: &str) -> Markup {
    let address = prism_address(prism);
    let typed = visit.sent.form.get("name");
    let value = if name_error.is_empty() {
        &prism.name
    } else {
        typed
    };
    let name = FormField::new("name", "Name").value(value).required();
    let name = name.hint("The slug stays, so callers do not notice.");
    html! {
        h2 { "Settings" }
        form.narrow method="post" action={ (address) "/rename" } {
            (name.error(name_error).line("text", "off"))
            button type="submit" { "Rename" }
        }
        @if prism.archived_at.is_some() {
            form method="post" action={ (address) "/restore" } {
                button type="submit" { "Restore: let it answer again" }
            }
        } @else {
            details {
                summary { "Archive this prism" }
                p { "Calls to it are then answered “Prism not found”. Nothing is deleted, and you can restore it." }
                form method="post" action={ (address) "/archive" } {
                    button.danger type="submit" { "Archive" }
                }
            }
        }
    }
}
