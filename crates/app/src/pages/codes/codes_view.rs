//! The states of a person's one-time codes, with the forms that change them. The QR code is SVG inside
//! the page: the content security policy allows no picture from elsewhere.

use std::fmt::Write as _;

use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};
use refract_identity::people::{CodesDue, CodesSetup, OneTimeCodes, RecoveryCode};

use crate::components::{FormErrors, FormField, NoticeKind, copyable, counted, moment, notice};
use crate::requests::Visitor;

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

/// Light modules around the code, as its standard asks for.
const QUIET: usize = 4;

/// The QR code of a text, with an accessible name; nothing for a text that is too long for one.
fn qr_code(text: &str, name: &str) -> Markup {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        return html! {};
    };
    let width = code.width();
    let whole = width + 2 * QUIET;
    html! {
        svg.qr viewBox={ "0 0 " (whole) " " (whole) } role="img" aria-label=(name) {
            path d=(dark_modules(&code.to_colors(), width));
        }
    }
}

/// The dark modules as a path, a rectangle for each run of them in a line.
fn dark_modules(colors: &[Color], width: usize) -> String {
    let mut path = String::new();
    for (y, line) in colors.chunks(width).enumerate() {
        let mut x = QUIET;
        for run in line.chunk_by(|one, other| one == other) {
            let length = run.len();
            if run.first() == Some(&Color::Dark) {
                let y = y + QUIET;
                // writing to a text does not fail
                let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
            }
            x += length;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dark_runs_become_rectangles() {
        use Color::{Dark, Light};
        let colors = [Dark, Dark, Light, Light, Dark, Dark, Dark, Light, Dark];
        assert_eq!(
            dark_modules(&colors, 3),
            "M4 4h2v1h-2zM5 5h2v1h-2zM4 6h1v1h-1zM6 6h1v1h-1z"
        );
    }

    #[test]
    fn the_longest_address_has_a_code() {
        let link = format!("otpauth://totp/Refract:{}", "%40".repeat(254));
        assert!(qr_code(&link, "a name").into_string().contains("<path"));
        assert!(qr_code(&"a".repeat(4_000), "").into_string().is_empty());
    }
}
