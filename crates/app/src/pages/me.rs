//! `/me`: the visitor's name, role, password, one-time codes and sessions. `/join` has the same inputs
//! for a name and a password.

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::account::{PersonName, TokenHash};
use refract_identity::people::{
    OwnSession, PasswordChangeError, SecretError, SignInError, TypedPassword,
};

use crate::components::{FormErrors, FormField, moment, stacked_table};
use crate::cookies;
use crate::pages::codes;
use crate::replies::{PageError, PageReply, Section};
use crate::requests::{Form, Visit, Visitor};

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    page(&visit, &FormErrors::default(), StatusCode::OK).await
}

/// Changes the visitor's name.
pub(crate) async fn rename(visit: Visit) -> Result<PageReply, PageError> {
    let mut errors = FormErrors::default();
    let name = PersonName::parse(visit.sent.form.get("name"));
    let Some(name) = errors.read("name", visit.sent.form.get("name"), name) else {
        return page(&visit, &errors, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    people.rename(&visit.visitor, &name, request).await?;
    Ok(PageReply::see_other("/me?done=name"))
}

/// Changes the password, and ends all other sessions.
pub(crate) async fn change_password(visit: Visit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let mut errors = FormErrors::default();
    let Some(new) = read_new_password(form, &mut errors) else {
        return page(&visit, &errors, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    let present = TypedPassword::new(form.get("present_password"));
    let client = &visit.sent.client;
    let (person, request) = (&visit.visitor, Some(visit.request.clone()));
    let people = visit.refract.people();
    let changing = people.change_password(client, person, present, new, request);
    let refusal = match changing.await {
        Ok(session) => {
            let cookies = cookies::signed_in(&session, &visit.site.url);
            return Ok(PageReply::see_other("/me?done=password").with_cookies(&cookies));
        }
        Err(refusal) => refusal,
    };
    let mut retry_after = None;
    let status = match refusal {
        PasswordChangeError::Weak(weak) => {
            errors.note_all("password", form.get("password"), &weak);
            StatusCode::UNPROCESSABLE_ENTITY
        }
        PasswordChangeError::Present(SignInError::Wrong) => {
            errors.note("present_password", "This is not your present password.");
            StatusCode::UNPROCESSABLE_ENTITY
        }
        PasswordChangeError::Present(stopped) => {
            retry_after = stopped.retry_after(Utc::now());
            errors.note("present_password", &stopped);
            StatusCode::TOO_MANY_REQUESTS
        }
        PasswordChangeError::Secret(busy @ SecretError::Busy) => {
            errors.note("present_password", &busy);
            StatusCode::SERVICE_UNAVAILABLE
        }
        PasswordChangeError::Secret(error) => return Err(error.into()),
        PasswordChangeError::Persistence(error) => return Err(error.into()),
    };
    let reply = page(&visit, &errors, status).await?;
    Ok(reply.with_retry_after(retry_after))
}

/// Ends one of the visitor's sessions.
pub(crate) async fn end_session(visit: Visit) -> Result<PageReply, PageError> {
    let session = TokenHash::from_hex(visit.sent.values.get("id"));
    let session = session.ok_or(PageError::NotFound)?;
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let ending = people.end_own_session(&visit.visitor, session, request);
    ending.await?;
    Ok(PageReply::see_other("/me?done=session"))
}

/// Ends all other sessions of the visitor.
pub(crate) async fn end_others(visit: Visit) -> Result<PageReply, PageError> {
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    people.end_other_sessions(&visit.visitor, request).await?;
    Ok(PageReply::see_other("/me?done=sessions"))
}

/// The message about the action before the redirect.
fn done(what: &str) -> Option<&'static str> {
    match what {
        "name" => Some("Your name is changed, also beside what you made before."),
        "password" => Some("Your password is changed. You are signed in here and nowhere else."),
        "session" => Some("The session is ended."),
        "sessions" => Some("All your other sessions are ended."),
        _ => None,
    }
}

async fn page(
    visit: &Visit,
    errors: &FormErrors,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let visitor = &visit.visitor;
    let sessions = visit.refract.people().own_sessions(visitor).await?;
    let codes = codes::summary(visit).await?;
    let main: Markup = html! {
        h1 { bdi { (visitor.name) } }
        p { "Your own page: what others see of you, your password, and where you are signed in." }
        @if let Some(notice) = visit.done(done) { (notice) }
        dl.facts {
            dt { "Role" }
            dd { (visitor.role.name()) span.soft { ", which an owner of the account can change" } }
        }
        (name_form(visit, errors))
        @if !visitor.is_by_provider && visit.refract.people().has_passwords() {
            h2 { "Password" }
            p { "With another password you stay signed in here, and are signed out everywhere else." }
            (password_form(visitor, errors))
        }
        (codes)
        section #keys hidden {
            h2 { "Keys" }
            p {
                "In Review, a single letter or digit judges a text. If you speak to the computer, \
                 switch this off, in each browser."
            }
            label { input type="checkbox"; " Single keys act" }
        }
        h2 { "Where you are signed in" }
        p {
            "A session ends by itself 30 days after its last use, and 90 days after it began. Is one \
             not yours? End it, and choose another password."
        }
        (session_table(&sessions, visitor.session))
    };
    let page = visit.page("Your own page", main).section(Section::Me);
    Ok(page.script("keys.js").status(status).reply())
}

/// The name form, with the saved name, or with the typed one and its error.
fn name_form(visit: &Visit, errors: &FormErrors) -> Markup {
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
fn password_form(visitor: &Visitor, errors: &FormErrors) -> Markup {
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

/// A row for each session, with the current one marked, and a button that ends all others.
fn session_table(sessions: &[OwnSession], present: TokenHash) -> Markup {
    let rows = html! { @for session in sessions { (row(session, present)) } };
    html! {
        (stacked_table("Your sessions", &["Began", "Last used, to the hour", ""], &rows))
        @if sessions.len() > 1 {
            form method="post" action="/me/sessions/end-others" {
                button.danger type="submit" { "End all others" }
            }
        }
    }
}

fn row(session: &OwnSession, present: TokenHash) -> Markup {
    let address = format!("/me/sessions/{}/end", session.hash.to_hex());
    html! {
        tr {
            th scope="row" { (moment(session.began_at)) }
            td data-label="Last used" { (moment(session.last_used_at)) }
            td {
                @if session.hash == present {
                    span.tag { "this one" }
                } @else {
                    form method="post" action=(address) {
                        button type="submit" aria-label={ "End the session that began " (session.began_at.format("%Y-%m-%d %H:%M")) } {
                            "End"
                        }
                    }
                }
            }
        }
    }
}

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
