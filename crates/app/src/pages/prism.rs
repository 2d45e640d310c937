//! `/prisms/{slug}`: what was answered lately, the history, and what programs need that call it. The
//! prism is renamed, archived and restored here, and a version is downloaded as a prism file, in the
//! format of `refract prism show`.

mod changes;
mod questions;

use actix_web::http::StatusCode;
use chrono::{TimeDelta, Utc};
use maud::{Markup, html};
use refract_authoring::prism_file::ShownPrism;
use refract_domain::account::role::Role;
use refract_domain::prism::{DisplayName, VersionNumber};
use refract_service::measures::WatchScope;
use refract_service::prisms::{Prism, PrismOverview, sample_texts};

use self::changes::{LENSES, changes, drift, versions};
use self::questions::{DAYS, questions};
use crate::components::{
    COPY_SCRIPT, FormField, NoticeKind, PrismTab, copyable, count, counted, curl, day_chart,
    describe, fields_and_context, notice, prism_address,
};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prisms = visit.refract.prisms();
    let found = prisms.overview(visit.account(), &visit.prism()?).await?;
    page(&visit, &found, "").await
}

/// The page; `name_error` is the validation error of a new name.
async fn page(
    visit: &Visit,
    found: &PrismOverview,
    name_error: &str,
) -> Result<PageReply, PageError> {
    let prism = &found.prism_lens.prism;
    let since = Utc::now() - TimeDelta::days(DAYS);
    let results = visit.refract.results();
    let shares = results.answer_shares(&found.prism_lens, since).await?;
    let history = visit.refract.prisms().with_versions(prism.id).await?;
    let measures = visit.refract.measures();
    let looking = measures.watch_counted(&history, WatchScope::default(), Utc::now());
    let watch = looking.await?;
    let lenses = visit.refract.lenses();
    let lenses = lenses
        .history(visit.account(), &prism.selector(), LENSES)
        .await?;
    let role = visit.visitor.role;
    let main = html! {
        @if let Some(notice) = visit.done(done) { (notice) }
        @if prism.archived_at.is_some() {
            (notice(NoticeKind::Warning, &html! {
                "This prism is archived: it answers no calls. Its results stay readable."
            }))
        }
        @if prism.archived_at.is_none() { (next_step(found, role)) }
        (numbers(found))
        (drift(&watch))
        div.split {
            section { (questions(prism, found.prism_lens.latest.questions(), &shares, role)) }
            section {
                h2 { "History" }
                (changes(found, &lenses.states))
                h2 { "Versions" }
                (versions(found))
            }
        }
        div.split {
            section { (for_callers(visit, found)) }
            section {
                (fields_and_context(&found.prism_lens.latest))
                @if role.may(Role::Editor) { (settings(visit, prism, name_error)) }
            }
        }
    };
    let page = visit.prism_page(prism, PrismTab::Overview, &prism.name, &main);
    Ok(page.script(COPY_SCRIPT).reply())
}

/// What to do next: a try, marks for those who may change nothing, or a file.
fn next_step(found: &PrismOverview, role: Role) -> Markup {
    let address = prism_address(&found.prism_lens.prism);
    let is_new = found.counts.in_all == 0;
    html! {
        p.row {
            @if is_new { a.button.main href={ (address) "/try" } { "Try a text" } }
            @else if !role.may(Role::Editor) { a.button.main href={ (address) "/review" } { "Review" } }
            @if role.may(Role::Editor) { a.button href={ (address) "/runs" } { "Upload a file" } }
            span.soft {
                @if is_new { "See what it answers, before programs call it." }
                @else if role.may(Role::Editor) { "Each of its rows becomes a result." }
                @else { "Say which answers are right, with one key for each." }
            }
        }
    }
}

/// How many results there are, and how many of them failed.
fn numbers(found: &PrismOverview) -> Markup {
    let (prism, counts) = (&found.prism_lens.prism, &found.counts);
    let results = format!("{}/results", prism_address(prism));
    html! {
        p {
            a href=(results) { (counted(counts.in_all, "result")) }
            ", " (count(counts.in_last_days())) " in the last seven days " (day_chart(&counts.days))
            @if counts.failed_in_all > 0 {
                " · " a href={ (results) "?status=failed" } { (count(counts.failed_in_all)) " failed" }
            }
        }
    }
}

fn done(what: &str) -> Option<&'static str> {
    match what {
        "created" => Some("The prism is made."),
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
    let sample = sample_texts(&lens.latest).first();
    let fields = lens.latest.fields();
    let curl = curl::create_result(&visit.site.api_url, prism, fields, sample.copied());
    html! {
        h2 { "What callers need" }
        dl.facts {
            dt { "Slug" } dd { code { (prism.slug) } }
            dt { "Id" } dd { code { (prism.id) } }
            dt { "Latest version" } dd { (prism.latest_version) }
        }
        @if prism.archived_at.is_none() {
        (copyable("curl", "A call to the API", &curl))
        p.hint {
            "The key comes from "
            @if visit.visitor.role.may(Role::Owner) { a href="/keys" { "Keys" } } @else { "an owner of the account" }
            "."
        }
        }
        p { a href={ (prism_address(prism)) "/file" } { "Download the prism file" } }
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
        p {
            a href={ "/prisms/new/edit?copy=" (prism.id) } { "Make a copy of it" }
            span.soft { ": its fields, questions and lens." }
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

/// Renames the prism.
pub(crate) async fn rename(visit: Visit) -> Result<PageReply, PageError> {
    let selector = visit.prism()?;
    let typed = visit.sent.form.get("name");
    match DisplayName::parse(typed) {
        Ok(name) => {
            let prisms = visit.refract.prisms();
            prisms.rename(&visit.actor(), &selector, &name).await?;
            back(&visit, "renamed").await
        }
        Err(errors) => {
            let prisms = visit.refract.prisms();
            let found = prisms.overview(visit.account(), &selector).await?;
            let page = page(&visit, &found, &describe(typed, &errors)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

/// Archives the prism.
pub(crate) async fn archive(visit: Visit) -> Result<PageReply, PageError> {
    set_archived(&visit, true, "archived").await
}

/// Restores the prism.
pub(crate) async fn restore(visit: Visit) -> Result<PageReply, PageError> {
    set_archived(&visit, false, "restored").await
}

async fn set_archived(
    visit: &Visit,
    is_archived: bool,
    done: &str,
) -> Result<PageReply, PageError> {
    let (actor, selector) = (visit.actor(), visit.prism()?);
    let prisms = visit.refract.prisms();
    prisms.set_archived(&actor, &selector, is_archived).await?;
    back(visit, done).await
}

async fn back(visit: &Visit, done: &str) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let address = prism_address(&prism);
    Ok(PageReply::see_other(&format!("{address}?done={done}")))
}

/// The latest version's file.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    file(&visit, None).await
}

/// The file of the version in the address.
pub(crate) async fn download_version(visit: Visit) -> Result<PageReply, PageError> {
    let number = visit.version_number()?;
    file(&visit, Some(number)).await
}

async fn file(visit: &Visit, number: Option<VersionNumber>) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let number = number.unwrap_or(prism.latest_version);
    let version = visit.refract.prisms().find_version(&prism, number).await?;
    let shown = ShownPrism::new(&prism.name, &version);
    let mut bytes = serde_json::to_vec_pretty(&shown).unwrap_or_default();
    bytes.push(b'\n');
    let name = format!("{}-{number}.json", prism.slug);
    Ok(PageReply::file(
        &name,
        "application/json; charset=utf-8",
        bytes,
    ))
}
