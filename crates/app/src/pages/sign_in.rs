//! `/sign-in`: email and password.

use maud::{Markup, html};

use crate::components::field::Field;
use crate::kept::Kept;

/// What was typed into the form, and what is wrong with it.
#[derive(Default)]
pub(crate) struct Typed<'a> {
    pub(crate) email: &'a str,
    /// Why nobody is signed in; empty at first.
    pub(crate) fault: &'a str,
    /// The address to go to afterwards.
    pub(crate) then: &'a str,
}

/// The form, which carries along what was typed into another one when the session ended.
pub(crate) fn form(typed: &Typed<'_>, kept: Option<&Kept>) -> Markup {
    let email = Field {
        name: "email",
        label: "Email",
        value: typed.email,
        fault: typed.fault,
        is_required: true,
        ..Field::default()
    };
    let password = Field {
        name: "password",
        label: "Password",
        is_required: true,
        ..Field::default()
    };
    html! {
        form.narrow method="post" action="/sign-in" {
            (email.line("email", "username"))
            (password.line("password", "current-password"))
            input type="hidden" name="then" value=(typed.then);
            @if let Some(kept) = kept { (kept.carried()) }
            button.main type="submit" { "Sign in" }
        }
    }
}
