//! The forms for the visitor's name and password.

use maud::{Markup, html};

use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::pages::person_inputs::{fixed_email, name_input, new_password};
use crate::requests::visit::Visit;
use crate::requests::visitor::Visitor;

/// The name form, with the saved name, or with the typed one and its error.
pub(super) fn name_form(visit: &Visit, errors: &FormErrors) -> Markup {
    let name = if errors.of("name").is_empty() {
        &visit.visitor.name
    } else {
        visit.sent.form.get("name")
    };
    html! {
        form.narrow method="post" action="/me/name" {
            (name_input(name, errors))
            button type="submit" { "Save the name" }
        }
    }
}

/// The password form. It never repeats a typed password.
pub(super) fn password_form(visitor: &Visitor, errors: &FormErrors) -> Markup {
    let hint = "You sign in with it. It cannot be changed.";
    let present = FormField::new("present_password", "Present password").required();
    html! {
        form.narrow method="post" action="/me/password" {
            (fixed_email(visitor.email.as_str(), hint))
            (present.errors(errors).line("password", "current-password"))
            (new_password("New password", "The new password again", errors))
            button type="submit" { "Change the password" }
        }
    }
}
