//! What a newcomer can do first, one click each. A step is gone when it is done.

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_service::prisms::{FirstSteps, ListedPrism};

use crate::components::prism_tabs::prism_address;

/// The steps that are left, over the first active prism; nothing when none is left.
pub(super) fn first_steps(steps: FirstSteps, active: &[ListedPrism], role: Role) -> Markup {
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
