//! The form by which owners require one-time codes.

use maud::{Markup, html};

/// Whether codes are required, with the button that changes it.
pub(super) fn codes_form(are_required: bool) -> Markup {
    html! {
        h2 { "One-time codes" }
        @if are_required {
            p { "Required: people who sign in by password and have no codes can only set them up." }
        } @else {
            p {
                "Optional: each person decides. Once required, people without codes can open nothing \
                 else until they have set them up. That includes you."
            }
        }
        form method="post" action="/people/codes" {
            @if are_required {
                button type="submit" name="require" value="off" { "Make them optional" }
            } @else {
                button type="submit" name="require" value="on" { "Require one-time codes" }
            }
        }
    }
}
