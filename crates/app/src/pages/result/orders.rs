//! The order check of a result: how much its choices depend on the order of their options.

use maud::{Markup, html};
use refract_service::Refract;
use refract_service::measures::OrderCheck;
use refract_service::results::ReadableResult;

use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::components::table::table;

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
