//! One-time codes as the visitor's own page shows them.

use maud::{Markup, html};

use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// Whether the visitor has codes, with a link to their page; nothing for people who sign in by link,
/// and for those without a password who have none.
pub(crate) async fn summary(visit: &Visit) -> Result<Markup, PageError> {
    let visitor = &visit.visitor;
    if visitor.is_by_link {
        return Ok(html! {});
    }
    let are_on = visit.refract.people().has_codes(visitor.person).await?;
    let asks_password = visitor.has_password && !visitor.is_by_provider;
    if !are_on && !asks_password {
        return Ok(html! {});
    }
    Ok(html! {
        h2 { "One-time codes" }
        @if are_on {
            @if asks_password {
                p { "They are on: signing in asks for your password and for a code." }
            } @else {
                p { "They are on: a sign-on without a second factor asks for a code if your account requires them." }
            }
            p { a.button href="/me/codes" { "Recovery codes, or switch off" } }
        } @else {
            p { "With them, a stolen password alone does not sign in." }
            p { a.button href="/me/codes" { "Set up one-time codes" } }
        }
    })
}
