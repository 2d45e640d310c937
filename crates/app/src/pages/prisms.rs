//! `/`: the prisms of the account, below what a newcomer can do first and below notices: of changes
//! that others made to the visitor's access, of keys that end soon, and of a budget that is nearly used.

use chrono::Utc;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::event::{Actor, EventAction};
use refract_domain::ids::EventId;
use refract_identity::events::{ChangeNotice, ListedEvent};
use refract_service::prisms::{FirstSteps, ListedPrism};

use crate::components::{
    count, counted, day_chart, empty_state, key_reminders, moment, prism_address, share,
    stacked_table,
};
use crate::pages::usage::budget_notice;
use crate::replies::{PageError, PageReply, Section};
use crate::requests::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prisms = visit.refract.prisms().list(visit.account()).await?;
    let steps = visit.refract.prisms();
    let steps = steps.first_steps(visit.visitor.person, &prisms).await?;
    let (archived, active): (Vec<_>, Vec<_>) = prisms
        .into_iter()
        .partition(|counted| counted.prism.archived_at.is_some());
    let may_make = visit.visitor.role.may(Role::Editor);
    let role = visit.visitor.role;
    let make = html! {
        @if may_make { a.button.main href="/prisms/new" { "New prism" } }
        @else if let Some(listed) = active.iter().max_by_key(|listed| listed.counts.in_all) {
            a.button.main href={ (prism_address(&listed.prism)) "/review" } { "Review " bdi { (listed.prism.name) } }
        }
    };
    let notice = if let Some(from) = visit.visitor.first_unseen_event {
        notice_of(&visit, from).await?
    } else {
        html! {}
    };
    let now = Utc::now();
    let reminded = if visit.visitor.role.may(Role::Owner) {
        visit.refract.keys().reminders(visit.account(), now).await?
    } else {
        Vec::new()
    };
    let budget = if visit.visitor.role.may(Role::Owner) {
        visit.refract.budgets().find(visit.account()).await?
    } else {
        None
    };
    let main = html! {
        (notice)
        (key_reminders(&reminded, now))
        (budget_notice(budget.as_ref()))
        div.row.spread {
            h1 { "Prisms" }
            @if !active.is_empty() { (make) }
        }
        (first_steps(steps, &active, role))
        @if active.is_empty() {
            (empty_state("A prism is a saved set of questions that texts are asked. Each answer comes with probabilities and is kept.", &make))
        } @else {
            (rows("Prisms and their results", &active, role))
        }
        @if !archived.is_empty() {
            details {
                summary { "Archived: " (counted(archived.len(), "prism")) " that no call reaches" }
                (rows("Archived prisms and their results", &archived, role))
            }
        }
    };
    Ok(visit.page("Prisms", main).section(Section::Prisms).reply())
}

fn rows(caption: &str, prisms: &[ListedPrism], role: Role) -> Markup {
    let rows = html! { @for counted in prisms { (row(counted, role)) } };
    let headings = [
        "Name",
        "Slug",
        "Version",
        "Results",
        "Last seven days",
        "Failed",
        "",
    ];
    stacked_table(caption, &headings, &rows)
}

fn row(counted: &ListedPrism, role: Role) -> Markup {
    let ListedPrism { prism, counts } = counted;
    let takes_files = role.may(Role::Editor) && prism.archived_at.is_none();
    let upload = takes_files.then_some(("Upload a file", "/runs"));
    let places = [
        ("Try", "/try"),
        ("Lens", "/lens"),
        ("Results", "/results"),
        ("Review", "/review"),
    ];
    let address = prism_address(prism);
    html! {
        tr {
            th scope="row" { a href=(address) { bdi { (prism.name) } } }
            td data-label="Slug" { code { (prism.slug) } }
            td.number data-label="Version" { (prism.latest_version) }
            td.number data-label="Results" { (count(counts.in_all)) }
            td data-label="Last seven days" { (day_chart(&counts.days)) " " (count(counts.in_last_days())) }
            td.number data-label="Failed" {
                @match share(counts.failed_in_all, counts.in_all) {
                    Some(_) if counts.failed_in_all == 0 => "0.0 %",
                    Some(share) => a href={ (address) "/results?status=failed" } { (share) " %" },
                    None => "–",
                }
            }
            td.together {
                @for (place, ending) in places.into_iter().chain(upload) {
                    a href={ (address) (ending) } { (place) span.unseen { ": " (prism.name) } } " "
                }
            }
        }
    }
}

/// The steps that are left, over the first active prism; nothing when none is left.
fn first_steps(steps: FirstSteps, active: &[ListedPrism], role: Role) -> Markup {
    let address = active.first().map(|listed| prism_address(&listed.prism));
    let is_left = |step: bool| step && address.is_some();
    let makes = steps.make_prism && role.may(Role::Editor);
    let address = address.as_deref().unwrap_or_default();
    if !is_left(steps.try_text) && !is_left(steps.move_cutoff) && !makes {
        return html! {};
    }
    html! {
        section.first-steps aria-label="First steps" {
            p {
                "A " strong { "prism" } " is a saved set of questions that texts are asked; every answer comes with probabilities and is kept. "
                "Its " strong { "lens" } " decides what these probabilities are shown as, also for answers that are stored already."
            }
            ol {
                @if is_left(steps.try_text) {
                    li { a.button href={ (address) "/try" } { "Try a text" } span { "See what the model answers, with its probabilities." } }
                }
                @if is_left(steps.move_cutoff) {
                    li { a.button href={ (address) "/lens" } { "Move a cutoff" } span { "See at once which stored answers change." } }
                }
                @if makes {
                    li { a.button href="/prisms/new" { "Make your own" } span { "From an example, a file, or blank." } }
                }
            }
        }
    }
}

/// The notice of changes to the visitor from event `from` on. Its button posts to `/seen`.
async fn notice_of(visit: &Visit, from: EventId) -> Result<Markup, PageError> {
    let account = visit.account();
    let events = visit.refract.events();
    let telling = events.change_notices(account, visit.visitor.person, from);
    let changes = telling.await?;
    let Some(newest) = changes.first() else {
        // the visitor's own changes need no notice
        mark_seen(visit, from).await?;
        return Ok(html! {});
    };
    let newest = newest.change.event.stamp.id;
    Ok(html! {
        div.notice.warning role="status" {
            p { strong { "Somebody changed your role or sign-in." } }
            ul {
                @for notice in &changes { li { (message(notice)) } }
            }
            p { "If you do not know why, ask an owner of your account." }
            form method="post" action="/seen" {
                input type="hidden" name="up_to" value=(newest);
                button type="submit" { "I have seen it" }
            }
        }
    })
}

/// Records that the visitor has seen the notice.
pub(crate) async fn seen(visit: Visit) -> Result<PageReply, PageError> {
    let up_to = EventId::parse(visit.sent.form.get("up_to")).ok_or(PageError::NoForm)?;
    mark_seen(&visit, up_to).await?;
    Ok(PageReply::see_other("/"))
}

async fn mark_seen(visit: &Visit, up_to: EventId) -> Result<(), PageError> {
    let events = visit.refract.events();
    let saying = events.mark_seen(visit.account(), visit.visitor.person, up_to);
    Ok(saying.await?)
}

fn message(notice: &ChangeNotice) -> Markup {
    let change = &notice.change;
    let event = &change.event;
    let at = moment(event.stamp.at);
    if event.action == EventAction::PasswordSet {
        return html! {
            "Your password was replaced on " (at) ", by a link"
            @if let Some(link) = &notice.link {
                " that " (who(link)) " made on " (moment(link.event.stamp.at))
            }
            "."
        };
    }
    if event.action == EventAction::ProviderLinked {
        return html! {
            "You were signed in by the sign-in provider for the first time on " (at)
            ", by your email address. From then on it can sign you in."
        };
    }
    if event.action == EventAction::CodesRemoved {
        return html! { (who(change)) " switched off your one-time codes on " (at) "." };
    }
    html! {
        (who(change)) " changed your role"
        @if let Some(from) = &event.from { " from " bdi { (from) } }
        @if let Some(to) = &event.to { " to " bdi { (to) } }
        " on " (at) "."
    }
}

/// The actor of an event, as the subject of a sentence.
fn who(listed: &ListedEvent) -> Markup {
    match listed.event.stamp.actor {
        Actor::Person(_) => html! { bdi { (listed.by.name) } },
        Actor::Key(_) => html! { "the key " bdi { (listed.by.name) } },
        Actor::Operator => html! { "an operator at the terminal" },
        Actor::Node => html! { "a node" },
    }
}
