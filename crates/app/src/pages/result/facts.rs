//! What is known about a result other than its answers and texts: facts, the actor that created it,
//! what happened to it, and the order check, which shows how much its choices depend on the order of
//! their options.

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::answer::Probability;
use refract_domain::result::ResultActor;
use refract_domain::result::mark::{self, Mark};
use refract_service::Refract;
use refract_service::measures::OrderCheck;
use refract_service::results::{ReadableResult, ResultDetails};

use crate::components::{NoticeKind, count, counted, moment, notice, percent, table};
use crate::pages::keys::address_of_key;
use crate::replies::PageError;
use crate::requests::Visit;

/// The facts as a list of terms, with the actor that created the result.
pub(super) fn facts(details: &ResultDetails, actor: &Markup) -> Markup {
    let view = details.result.view();
    let provenance = &details.provenance;
    let counts = [
        ("Tokens read", provenance.input_tokens),
        ("Tokens from the cache", provenance.cached_tokens),
        ("Tokens written", provenance.output_tokens),
        ("Model requests", provenance.requests.map(u64::from)),
        ("Attempts", provenance.attempts.map(u64::from)),
    ];
    html! {
        dl.facts {
            dt { "Id" } dd { code { (view.id) } }
            @if let Some(reference) = view.reference { dt { "Ref" } dd { bdi { (reference) } } }
            dt { "Status" } dd { (view.status.name()) }
            dt { "Version" } dd { (view.version) }
            dt { "Saved" } dd { (moment(view.created_at)) }
            dt { "Took" } dd { (count(view.took_ms)) " ms" }
            dt { "Made by" } dd { (actor) }
            @if let Some(protocol) = &provenance.protocol { dt { "Protocol" } dd { (protocol) } }
            @if let Some(model) = &provenance.model { dt { "Model" } dd { bdi { (model) } } }
            @if let Some(prompts) = provenance.prompt_version { dt { "Prompts" } dd { "version " (prompts) } }
            @for (name, number) in counts {
                @if let Some(number) = number { dt { (name) } dd { (count(number)) } }
            }
            @if let Some(cost) = provenance.cost { dt { "Cost" } dd { (cost) } }
            @if let Some(request) = &provenance.host_request_id { dt { "Request id of the host" } dd { bdi { (request) } } }
            @if let Some(on_codes) = provenance.on_codes { dt { "Read from codes" } dd { (share(on_codes)) " of the probability" } }
            @if let Some(unread) = provenance.unread { dt { "Split evenly" } dd { (share(unread)) " of that" } }
        }
    }
}

fn share(probability: Probability) -> String {
    format!("{} %", percent(probability))
}

/// The name of the actor that created a result. For owners, the name of a key is a link to the key.
pub(super) async fn actor(visit: &Visit, actor: ResultActor) -> Result<Markup, PageError> {
    let account = visit.account();
    Ok(match actor {
        ResultActor::Person(person) => {
            let names = visit.refract.people().names(account, &[person]).await?;
            html! {
                @if let Some(name) = names.get(&person) { bdi { (name) } }
                @else { "a person who is gone" }
            }
        }
        ResultActor::Key(key) => {
            let keys = visit.refract.keys().labels(account).await?;
            let label = keys.into_iter().find(|(id, _)| *id == key);
            match label {
                Some((_, name)) if visit.visitor.role.may(Role::Owner) => {
                    html! { "API key " a href=(address_of_key(key)) { bdi { (name) } } }
                }
                Some((_, name)) => html! { "API key " bdi { (name) } },
                None => html! { "an API key that is gone" },
            }
        }
        ResultActor::Operator => html! { "the terminal" },
    })
}

/// The table of what happened, the oldest first.
pub(super) fn history(details: &ResultDetails, actor: &Markup) -> Markup {
    let view = details.result.view();
    let mut marks: Vec<&Mark> = details.marks.iter().chain(&details.other_marks).collect();
    marks.sort_by_key(|mark| mark.marked_at);
    let rows = html! {
        tr {
            td { (moment(view.created_at)) }
            td {
                @if let Some(first) = details.retry_of { "Retry of " a href={ "/results/" (first) } { "a failed result" } ": " }
                "Version " (view.version) " "
                @match view.status.error() {
                    None => { "answered" },
                    Some(_) => { "failed" },
                }
                " after " (count(view.took_ms)) " ms"
            }
            td { (actor) }
        }
        @if let Some(retry) = details.retried_as {
            tr { td {} td { "Retried as " a href={ "/results/" (retry) } { "another result" } } td {} }
        }
        @for mark in marks { (marked(details, mark)) }
    };
    table(
        "What happened to this result, the oldest first",
        &["When", "What", "Who"],
        &rows,
    )
}

fn marked(details: &ResultDetails, mark: &Mark) -> Markup {
    let question = details.result.version().question(&mark.question);
    let outcomes = question.map(mark::outcomes);
    let label =
        outcomes.and_then(|mut outcomes| outcomes.find(|it| it.key == mark.outcome.as_str()));
    html! {
        tr {
            td { (moment(mark.marked_at)) }
            td {
                @if mark.is_adjudicated { "Settled " } @else { "Marked " } code { (mark.question) } " as "
                span { bdi { (label.map_or(mark.outcome.as_str(), |outcome| outcome.label)) } }
                @if let Some(note) = &mark.note { div.soft.details { bdi { (note.as_str()) } } }
            }
            td {
                @match &mark.marked_by.name {
                    Some(name) => bdi { (name.as_str()) },
                    None => span.soft { "terminal" },
                }
            }
        }
    }
}

/// The most other orders in which each choice is asked.
pub(super) const MOST_ORDERS: usize = 4;

/// The button for the order check, with its cost; empty if there is nothing to check.
pub(crate) fn order_check_form(refract: &Refract, result: &ReadableResult) -> Markup {
    let cost = refract.measures().order_check_cost(result, MOST_ORDERS);
    html! {
        @if cost.orders > 0 {
            div #orders {
                form #order-check method="post" action={ "/results/" (result.id()) "/orders" } {
                    button type="submit" { "Check the order of options" }
                    p.hint {
                        "Asks about this text " (counted(cost.orders, "more time")) ", with the options of each choice in other orders: "
                        @if cost.requests == 0 { "the built-in scorer answers, no model request is sent. " }
                        @else { "about " (counted(cost.requests, "model request")) ". " }
                        "Nothing of it is saved."
                    }
                }
            }
        }
    }
}

/// The differences under the other orders.
pub(super) fn orders(result: &ReadableResult, check: &OrderCheck) -> Markup {
    let rows = html! {
        @for choice in &check.choices {
            @let measures = choice.measures();
            @let question = result.version().question(&choice.question);
            tr {
                th scope="row" {
                    @if let Some(question) = question { bdi { (question.text) } }
                    " " code.soft { (choice.question) }
                }
                td.number { (choice.orders.len()) }
                td { @if choice.flips() { strong { "yes" } } @else { "no" } }
                td.number {
                    @match measures.largest_total_variation {
                        Some(largest) => { (format!("{:.1}", largest * 100.0)) " points" }
                        None => "–"
                    }
                }
            }
        }
    };
    html! {
        div #orders {
            h3 { "Options in other orders" }
            @for failure in &check.failures {
                (notice(NoticeKind::Warning, &html! { "One order was not answered: " bdi { (failure) } }))
            }
            (table("How far the choices move with the order of their options",
                &["Question", "Orders", "Another answer", "Largest move"], &rows))
        }
    }
}
