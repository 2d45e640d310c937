//! The form for a new key.

use maud::{Markup, html};

use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::requests::visit::Visit;

/// The form with what was typed, and its errors. A form of a row has inputs of the same names, but
/// is sent elsewhere.
pub(super) fn key_form(visit: &Visit, errors: &FormErrors) -> Markup {
    let typed = |name| {
        if errors.is_empty() {
            ""
        } else {
            visit.sent.form.get(name)
        }
    };
    let name = FormField::new("name", "Name of the new key").required();
    let name = name.value(typed("name")).errors(errors);
    let name = name.hint("The program that uses it, such as ticket importer.");
    let expires = FormField::new("expires", "Ends on (UTC)").value(typed("expires"));
    let expires = expires.hint("From the beginning of this day on the key is refused. Leave it empty for a key without an end.");
    let networks = FormField::new("networks", "Only from these networks").value(typed("networks"));
    let networks = networks.hint("Such as 10.0.0.0/8, separated by commas. Calls from elsewhere are refused. Leave it empty for any.");
    html! {
        form.narrow method="post" action="/keys" {
            (name.line("text", "off"))
            (expires.errors(errors).line("date", "off"))
            (networks.errors(errors).line("text", "off"))
            button.main type="submit" { "Make a key" }
        }
    }
}
