//! `/prisms/{slug}`: what was answered lately, the history, and what programs need that call it. The
//! prism is renamed, archived and restored here, and a version is downloaded as a prism file, in the
//! format of `refract prism show`.
//!
//! `/prisms/{slug}/versions/{n}`: a complete version and its changes.

mod changes;

use actix_web::http::StatusCode;
use chrono::{TimeDelta, Utc};
use maud::{Markup, html};
use refract_authoring::prism_file::ShownPrism;
use refract_domain::account::Role;
use refract_domain::event::EventTarget;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::{DisplayName, Question, QuestionType, VersionNumber};
use refract_evaluation::counting::ValueCount;
use refract_service::measures::WatchScope;
use refract_service::prisms::{Prism, PrismOverview, sample_texts};
use refract_service::results::{AnswerShares, QuestionShares};

use self::changes::{LENSES, changes, drift, versions};
use crate::components::{
    COPY_SCRIPT, FormField, NoticeKind, PrismTab, copyable, count, counted, curl, day_chart,
    definition, describe, differences, fields_and_context, moment, notice, prism_address, share,
    share_bar, type_name,
};
use crate::pages::events::events_about;
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
                (changes(found, &lenses.states, role))
                @if role.may(Role::Owner) { p { a href=(events_about(EventTarget::Prism(prism.id))) { "All its events" } } }
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

/// Days that are counted.
const DAYS: i64 = 14;
/// The most outcomes of a question that get a bar.
const DRAWN: usize = 6;

/// The questions, each with the shares of its answers, its cutoffs and its marks.
fn questions(prism: &Prism, asked: &[Question], shares: &AnswerShares, role: Role) -> Markup {
    let address = prism_address(prism);
    html! {
        h2 { "What it asks" }
        p.soft {
            @if shares.results == 0 { "No answers in the last " (DAYS) " days." }
            @else if shares.has_older { "Shares among the newest " (counted(shares.results, "answer")) "." }
            @else { "Shares among the " (counted(shares.results, "answer")) " of the last " (DAYS) " days." }
        }
        @for question in asked {
            @let counted_question = shares.questions.iter().find(|it| it.tally.column.question == question.key);
            section.asked {
                h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                @if let Some(counted_question) = counted_question { (answers(&address, question, counted_question)) }
            }
        }
        @if role.may(Role::Editor) { p { a href={ (address) "/edit" } { "Edit the questions" } } }
    }
}

fn answers(address: &str, question: &Question, shares: &QuestionShares) -> Markup {
    let tally = &shares.tally;
    let all = tally.values.iter().map(ValueCount::cells).sum::<u64>() + tally.empty;
    let mut most: Vec<_> = tally.values.iter().map(ValueCount::cells).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    let least = most.get(DRAWN - 1).copied().unwrap_or_default();
    let (drawn, rest): (Vec<_>, Vec<_>) = tally
        .values
        .iter()
        .partition(|value| tally.values.len() <= DRAWN || value.cells() >= least.max(1));
    let is_yes_no = question.question_type() == QuestionType::YesNo;
    let cutoffs = tally.column.output.cutoffs();
    html! {
        @if all > 0 {
            table.bars {
                caption.unseen { "Shares of the answers to " (question.key) }
                tbody {
                    @for value in drawn {
                        tr.(value.key)[is_yes_no] {
                            th scope="row" {
                                a href={ (address) "/results?answer=" (question.key) "%3A" (value.key) } { bdi { (value.label) } }
                            }
                            td { (share_bar(value.cells(), all)) }
                        }
                    }
                }
            }
            @if !rest.is_empty() { p.hint { "and " (counted(rest.len(), "other outcome")) } }
        }
        p.hint {
            (type_name(question.question_type()))
            @if let Some(cutoffs) = cutoffs { " · " (in_force(cutoffs)) " " a href={ (address) "/lens?question=" (question.key) } { "Move a cutoff" } }
            " · " (counted(shares.marked, "mark"))
            @if tally.empty > 0 {
                @if let Some(none) = share(tally.empty, all) { " · no valid answer: " (none) " % (" (count(tally.empty)) ")" }
            }
        }
    }
}

/// The cutoffs of a label in one sentence.
fn in_force(cutoffs: Cutoffs) -> String {
    let percent = |share: f64| {
        let text = format!("{:.2}", share * 100.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let no_below = percent(cutoffs.no_ends_at().value());
    match cutoffs.yes_from() {
        Some(yes_from) => format!(
            "No below {no_below} %, Yes from {} %.",
            percent(yes_from.value())
        ),
        None => format!("Yes from {no_below} %."),
    }
}

/// Shows the page.
pub(crate) async fn show_version(visit: Visit) -> Result<PageReply, PageError> {
    let number = visit.version_number()?;
    let prisms = visit.refract.prisms();
    let found = prisms
        .version_overview(visit.account(), &visit.prism()?, number)
        .await?;
    let prism = &found.prism_lens.prism;
    let address = prism_address(prism);
    let neighbour = |step| VersionNumber::new(number.get().checked_add(step)?);
    let before = neighbour(-1);
    let after = neighbour(1).filter(|after| *after <= prism.latest_version);
    let main = html! {
        h2 { "Version " (number) }
        p {
            "Saved " (moment(found.made_at)) " by "
            @match &found.actor { Some(name) => bdi { (name) }, None => "the terminal" }
            "."
        }
        p.row {
            @if let Some(before) = before { a href={ (address) "/versions/" (before) } { "Version " (before) } }
            @if let Some(after) = after { a href={ (address) "/versions/" (after) } { "Version " (after) } }
            a href={ (address) "/versions/" (number) "/file" } { "Download its file" }
        }
        @if before.is_some() {
            h2 { "What it changed" }
            @if found.differences.is_empty() { p.soft { "Nothing." } } @else { (differences(&found.differences)) }
        }
        (definition(&found.version))
    };
    let title = format!("{}, version {number}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Overview, title, &main);
    Ok(page.reply())
}
