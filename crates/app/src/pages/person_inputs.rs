//! The inputs for a person's name and password, used at `/join` and `/me`.

use maud::{Markup, html};
use refract_identity::people::password::TypedPassword;

use crate::components::{FormErrors, FormField};
use crate::requests::Form;

/// The input of the name.
pub(super) fn name_input(value: &str, errors: &FormErrors) -> Markup {
    let name = FormField::new("name", "Name").value(value).required();
    let name = name.hint("Others see it beside what you change.");
    name.errors(errors).line("text", "name")
}

/// The email address that the person signs in with, read-only. Password managers read it from here.
pub(super) fn fixed_email(email: &str, hint: &str) -> Markup {
    FormField::new("email", "Email").hint(hint).around(&html! {
        input #email type="email" value=(email) readonly autocomplete="username"
            aria-describedby="email-hint";
    })
}

/// The inputs for a new password, typed twice.
pub(super) fn new_password(label: &str, label_again: &str, errors: &FormErrors) -> Markup {
    let password = FormField::new("password", label).required();
    let password = password.hint("At least 10 characters, and none of the common ones.");
    let again = FormField::new("password_again", label_again).required();
    html! {
        (password.errors(errors).line("password", "new-password"))
        (again.errors(errors).line("password", "new-password"))
    }
}

/// The new password in a form; `None`, with a validation error, if the two inputs differ.
pub(super) fn read_new_password(form: &Form, errors: &mut FormErrors) -> Option<TypedPassword> {
    let password = form.get("password");
    if password == form.get("password_again") {
        return Some(TypedPassword::new(password));
    }
    errors.note("password_again", "the two are not the same");
    None
}
