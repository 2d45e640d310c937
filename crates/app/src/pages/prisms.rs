//! `/`: the prisms of the account, below notices: of changes that others made to the visitor's
//! access, of keys that end soon, and of a budget that is nearly used.

mod first_steps;
mod notices;

use chrono::Utc;
use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_service::prisms::ListedPrism;

use self::first_steps::first_steps;
pub(crate) use self::notices::seen;
use crate::components::day_chart::day_chart;
use crate::components::empty_state::empty_state;
use crate::components::key_reminders::key_reminders;
use crate::components::number::{count, counted, share};
use crate::components::prism_tabs::prism_address;
use crate::components::table::stacked_table;
use crate::pages::usage::budget_notice;
use crate::replies::page::Section;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let prisms = visit.refract.prisms().list(visit.account()).await?;
    let steps = visit.refract.prisms();
    let steps = steps.first_steps(visit.visitor.person, &prisms).await?;
    let (archived, active): (Vec<_>, Vec<_>) = prisms
        .into_iter()
        .partition(|counted| counted.prism.archived_at.is_some());
    let may_make = visit.visitor.role.may(Role::Editor);
    let make = html! {
        @if may_make { a.button.main href="/prisms/new" { "New prism" } }
    };
    let notice = if let Some(from) = visit.visitor.first_unseen_event {
        notices::notice_of(&visit, from).await?
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
        (first_steps(steps, &active, visit.visitor.role))
        @if active.is_empty() {
            (empty_state("A prism is a saved set of questions that texts are asked. Each answer comes with probabilities and is kept.", &make))
        } @else {
            (rows("Prisms and their results", &active))
        }
        @if !archived.is_empty() {
            details {
                summary { "Archived: " (counted(archived.len(), "prism")) " that no call reaches" }
                (rows("Archived prisms and their results", &archived))
            }
        }
    };
    Ok(visit.page("Prisms", main).section(Section::Prisms).reply())
}

fn rows(caption: &str, prisms: &[ListedPrism]) -> Markup {
    let rows = html! { @for counted in prisms { (row(counted)) } };
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

fn row(counted: &ListedPrism) -> Markup {
    let ListedPrism { prism, counts } = counted;
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
                @for (place, ending) in [("Try", "/try"), ("Lens", "/lens"), ("Results", "/results")] {
                    a href={ (address) (ending) } { (place) span.unseen { ": " (prism.name) } } " "
                }
            }
        }
    }
}
