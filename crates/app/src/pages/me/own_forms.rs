//! The forms of one's own name and password.

use maud::{Markup, html};

use crate::components::field::FormField;
use crate::visitor::Visitor;

/// What is wrong with what was typed into the form of the password; empty where nothing is. Passwords
/// themselves are never shown again.
#[derive(Default)]
pub(super) struct PasswordFaults {
    pub(super) present: String,
    pub(super) new: String,
    pub(super) again: String,
}

/// The form of the name: with the saved one, or with what was typed and what is wrong with it.
pub(super) fn name_form(visitor: &Visitor, refused: Option<&(String, String)>) -> Markup {
    let (value, fault) = match refused {
        Some((typed, fault)) => (typed.as_str(), fault.as_str()),
        None => (visitor.name.as_str(), ""),
    };
    let name = FormField {
        name: "name",
        label: "Name",
        value,
        hint: "Others see it beside what you change.",
        fault,
        is_required: true,
    };
    html! {
        form.narrow method="post" action="/me/name" {
            (name.line("text", "name"))
            button type="submit" { "Save the name" }
        }
    }
}

/// The form of the password.
pub(super) fn password_form(visitor: &Visitor, faults: &PasswordFaults) -> Markup {
    let email = FormField {
        name: "email",
        label: "Email",
        hint: "You sign in with it. It cannot be changed.",
        ..FormField::default()
    };
    let present = FormField {
        name: "present_password",
        label: "Present password",
        fault: &faults.present,
        is_required: true,
        ..FormField::default()
    };
    let new = FormField {
        name: "password",
        label: "New password",
        hint: "At least 10 characters, and none of the common ones.",
        fault: &faults.new,
        is_required: true,
        ..FormField::default()
    };
    let again = FormField {
        name: "password_again",
        label: "The new password again",
        fault: &faults.again,
        is_required: true,
        ..FormField::default()
    };
    html! {
        form.narrow method="post" action="/me/password" {
            // password managers read the address from here
            (email.around(&html! {
                input #email type="email" value=(visitor.email) readonly autocomplete="username"
                    aria-describedby="email-hint";
            }))
            (present.line("password", "current-password"))
            (new.line("password", "new-password"))
            (again.line("password", "new-password"))
            button type="submit" { "Change the password" }
        }
    }
}
