//! The states of a person's one-time codes, with the forms that change them.

use maud::{Markup, html};
use refract_service::people::{CodesDue, CodesSetup, OneTimeCodes, RecoveryCode};

use super::qr_code::qr_code;
use crate::components::copyable::copyable;
use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::requests::visitor::Visitor;

/// The content of the page. It never repeats a typed password or code.
pub(super) fn codes_view(visitor: &Visitor, codes: &OneTimeCodes, errors: &FormErrors) -> Markup {
    match codes {
        _ if visitor.is_by_link => html! {
            p { "You sign in by links and have no password, so there is nothing to add a code to." }
        },
        _ if visitor.codes_due == Some(CodesDue::Code) => confirm_form(errors),
        OneTimeCodes::Off => off(),
        OneTimeCodes::SettingUp(setup) => setting_up(visitor, setup, errors),
        OneTimeCodes::On {
            since,
            recovery_codes,
        } => html! {
            p {
                "They have been on since " (moment(*since)) ". Signing in asks for your password and for a \
                 code of your app. You have " (counted(*recovery_codes, "unused recovery code")) "."
            }
            (change_form(visitor, errors))
        },
    }
}

fn off() -> Markup {
    html! {
        p {
            "With one-time codes, signing in asks for your password and for six digits that an app on \
             your phone shows. A stolen password alone does not sign in."
        }
        p { "You need an authenticator app, such as Aegis, FreeOTP, Google Authenticator or 1Password." }
        form method="post" action="/me/codes/begin" {
            button.main type="submit" { "Set up" }
        }
    }
}

fn setting_up(visitor: &Visitor, setup: &CodesSetup, errors: &FormErrors) -> Markup {
    let code = FormField::new("code", "The code that the app shows now").required();
    html! {
        ol {
            li { "Scan the picture with your authenticator app, or type the secret into it." }
            @if visitor.has_password {
                li { "Type your password and the code that the app shows, and switch on." }
            } @else {
                li { "Type the code that the app shows, and switch on." }
            }
        }
        (qr_code(&setup.link, "The secret as a QR code"))
        (copyable("secret", "The secret", &setup.secret))
        p { a href=(setup.link) { "Open it in an app on this device" } }
        form.narrow method="post" action="/me/codes/on" {
            (password_input(visitor, errors))
            (code_input(code, errors))
            button.main type="submit" { "Switch on" }
        }
        form method="post" action="/me/codes/begin" {
            button.quiet type="submit" { "Start again with another secret" }
        }
    }
}

/// The form for the code that the account requires after a sign-on without a second factor.
fn confirm_form(errors: &FormErrors) -> Markup {
    let code = FormField::new("code", "A code of your app, or a recovery code").required();
    html! {
        p {
            "Your account requires one-time codes, and the sign-in provider did not say that it asked \
             you for a second factor."
        }
        form.narrow method="post" action="/me/codes/confirm" {
            (code_input(code, errors))
            button.main type="submit" { "Go on" }
        }
    }
}

/// The form for switching off and for new recovery codes.
fn change_form(visitor: &Visitor, errors: &FormErrors) -> Markup {
    let code = FormField::new("code", "A code, or a recovery code").required();
    html! {
        h2 { "Change them" }
        p {
            "New recovery codes make the earlier ones void. For another phone, switch off and set up \
             again."
        }
        form.narrow method="post" action="/me/codes/recovery" {
            (password_input(visitor, errors))
            (code_input(code, errors))
            div.row {
                button type="submit" { "Make new recovery codes" }
                button.danger type="submit" formaction="/me/codes/off" { "Switch off" }
            }
        }
    }
}

/// The input of the password of a visitor who has one.
fn password_input(visitor: &Visitor, errors: &FormErrors) -> Markup {
    if !visitor.has_password {
        return html! {};
    }
    let password = FormField::new("present_password", "Your password").required();
    password.errors(errors).line("password", "current-password")
}

fn code_input(code: FormField<'_>, errors: &FormErrors) -> Markup {
    code.errors(errors).line("text", "one-time-code")
}

/// New recovery codes, which are not shown again.
pub(super) fn recovery_codes_view(codes: &[RecoveryCode]) -> Markup {
    let lines: Vec<_> = codes.iter().map(RecoveryCode::reveal).collect();
    html! {
        p {
            "Each signs in once in place of a code, for the day on which you have no phone. Keep them \
             apart from your password, on paper or in a password manager."
        }
        (notice(NoticeKind::Warning, &html! { "This is the only time that they are shown. Copy them now." }))
        (copyable("recovery-codes", "The recovery codes", &lines.join("\n")))
        p { a.button href="/" { "I have copied them" } }
    }
}
