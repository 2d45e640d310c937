//! The page that asks for a one-time code after the right password. Its form carries the token of
//! the pending sign-in: it stands in no address and no cookie, and opens nothing else.

use actix_web::http::StatusCode;
use maud::html;
use refract_service::people::token::Token;

use crate::components::field::FormField;
use crate::replies::page_reply::PageReply;
use crate::requests::carried_form::CarriedForm;
use crate::requests::visit::OpenVisit;

/// The input with the token of the pending sign-in.
pub(crate) const PENDING: &str = "pending";

/// What the page goes on with.
pub(crate) struct CodeForm<'a> {
    pub(crate) token: &'a Token,
    /// The address to redirect to afterwards.
    pub(crate) then: &'a str,
    /// The error of the last code; empty before the first one.
    pub(crate) error: &'a str,
}

/// The page, with the hidden inputs of another form that was submitted after its session had ended.
pub(crate) fn code_page(
    visit: &OpenVisit,
    form: &CodeForm<'_>,
    kept: Option<&CarriedForm<'_>>,
    status: StatusCode,
) -> PageReply {
    let code = FormField::new("code", "Code of your app, or a recovery code")
        .error(form.error)
        .required()
        .focus(true);
    let main = html! {
        h1 { "One more step" }
        p { "Your password is right. Type the code that your authenticator app shows." }
        form.narrow method="post" action="/sign-in/code" {
            (code.line("text", "one-time-code"))
            input type="hidden" name=(PENDING) value=(form.token.reveal());
            input type="hidden" name="then" value=(form.then);
            @if let Some(kept) = kept { (kept.carried()) }
            div.row {
                button.main type="submit" { "Sign in" }
                a href="/sign-in" { "Sign in as somebody else" }
            }
        }
        p.hint {
            "No phone and no recovery code? An owner of your account can make a new link for you."
        }
    };
    visit.page("One more step", main).status(status).reply()
}
