//! One-time codes as the visitor's own page shows them.

use maud::{Markup, html};

use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// Whether the visitor has codes, with a link to their page; nothing for people who sign in by
/// link.
pub(crate) async fn summary(visit: &Visit) -> Result<Markup, PageError> {
    let visitor = &visit.visitor;
    if visitor.signs_in_by_link() {
        return Ok(html! {});
    }
    let are_on = visit.refract.people().has_codes(visitor.person).await?;
    Ok(html! {
        h2 { "One-time codes" }
        @if are_on {
            p { "They are on: signing in asks for your password and for a code." }
            p { a.button href="/me/codes" { "Recovery codes, or switch off" } }
        } @else {
            p { "With them, a stolen password alone does not sign in." }
            p { a.button href="/me/codes" { "Set up one-time codes" } }
        }
    })
}
