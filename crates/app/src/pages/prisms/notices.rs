//! Notifies the visitor of changes that others made to their role, password or one-time codes, until
//! the visitor dismisses the notice.

use maud::{Markup, html};
use refract_domain::event::{Actor, EventAction};
use refract_domain::ids::EventId;
use refract_service::events::{ChangeNotice, ListedEvent};

use crate::components::moment::moment;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The notice of changes to the visitor from event `from` on. Its button posts to `/seen`.
pub(super) async fn notice_of(visit: &Visit, from: EventId) -> Result<Markup, PageError> {
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
