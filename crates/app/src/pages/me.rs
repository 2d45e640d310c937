//! `/me`: one's own name, role, password and sessions.

mod own_forms;
mod session_table;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, RETRY_AFTER};
use chrono::Utc;
use maud::{Markup, html};
use refract_domain::person::PersonName;
use refract_domain::secret_hash::TokenHash;
use refract_service::InternalError;
use refract_service::people::password::TypedPassword;
use refract_service::people::{PasswordChangeError, SecretError, SignInError};

use self::own_forms::{PasswordFaults, name_form, password_form};
use self::session_table::session_table;
use crate::browser_cookie;
use crate::components::field::in_words;
use crate::components::notice::{NoticeKind, notice};
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::Visit;

/// What the page says besides what is saved.
#[derive(Default)]
struct OwnPage {
    /// What was typed as the name, where it was refused, with what is wrong with it.
    refused_name: Option<(String, String)>,
    password: PasswordFaults,
}

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageRefusal> {
    page(&visit, &OwnPage::default(), StatusCode::OK).await
}

/// Takes another name.
pub(crate) async fn rename(visit: Visit) -> Result<PageReply, PageRefusal> {
    let typed = visit.sent.form.get("name");
    let name = match PersonName::parse(typed) {
        Ok(name) => name,
        Err(faults) => {
            let shown = OwnPage {
                refused_name: Some((typed.to_owned(), in_words(&faults))),
                ..OwnPage::default()
            };
            return page(&visit, &shown, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
    };
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let renaming = people.rename(&visit.visitor, &name, request);
    renaming.await.map_err(InternalError::from)?;
    Ok(PageReply::see_other("/me?done=name"))
}

/// Changes the password, and signs out everywhere else.
pub(crate) async fn change_password(visit: Visit) -> Result<PageReply, PageRefusal> {
    let form = &visit.sent.form;
    let mut shown = OwnPage::default();
    if form.get("password") != form.get("password_again") {
        "the two are not the same".clone_into(&mut shown.password.again);
        return page(&visit, &shown, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    let present = TypedPassword::new(form.get("present_password"));
    let new = TypedPassword::new(form.get("password"));
    let client = &visit.sent.client;
    let (person, request) = (&visit.visitor, Some(visit.request.clone()));
    let people = visit.refract.people();
    let changing = people.change_password(client, person, present, new, request);
    let refusal = match changing.await {
        Ok(session) => {
            let cookies = browser_cookie::signed_in(&session, &visit.site.url);
            return Ok(PageReply::see_other("/me?done=password").with_cookies(&cookies));
        }
        Err(refusal) => refusal,
    };
    let mut retry_after = None;
    let status = match refusal {
        PasswordChangeError::Weak(faults) => {
            shown.password.new = in_words(&faults);
            StatusCode::UNPROCESSABLE_ENTITY
        }
        PasswordChangeError::Present(SignInError::Wrong) => {
            "this is not your present password".clone_into(&mut shown.password.present);
            StatusCode::UNPROCESSABLE_ENTITY
        }
        PasswordChangeError::Present(stopped) => {
            retry_after = stopped.retry_after(Utc::now());
            shown.password.present = stopped.to_string();
            StatusCode::TOO_MANY_REQUESTS
        }
        PasswordChangeError::Secret(SecretError::Busy) => {
            shown.password.present = SecretError::Busy.to_string();
            StatusCode::SERVICE_UNAVAILABLE
        }
        PasswordChangeError::Secret(error) => return Err(error.into()),
        PasswordChangeError::Persistence(error) => return Err(InternalError::from(error).into()),
    };
    let reply = page(&visit, &shown, status).await?;
    Ok(match retry_after {
        Some(seconds) => reply.with_header(RETRY_AFTER, HeaderValue::from(seconds)),
        None => reply,
    })
}

/// Ends one of the visitor's sessions.
pub(crate) async fn end_session(visit: Visit) -> Result<PageReply, PageRefusal> {
    let session = TokenHash::from_hex(visit.sent.values.get("id"));
    let session = session.ok_or(PageRefusal::NotFound)?;
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let ending = people.end_own_session(&visit.visitor, session, request);
    ending.await.map_err(InternalError::from)?;
    Ok(PageReply::see_other("/me?done=session"))
}

/// Ends all sessions of the visitor but this one.
pub(crate) async fn end_others(visit: Visit) -> Result<PageReply, PageRefusal> {
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let ending = people.end_other_sessions(&visit.visitor, request);
    ending.await.map_err(InternalError::from)?;
    Ok(PageReply::see_other("/me?done=sessions"))
}

/// What was done before the page was shown, in a sentence.
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
    shown: &OwnPage,
    status: StatusCode,
) -> Result<PageReply, PageRefusal> {
    let visitor = &visit.visitor;
    let sessions = visit.refract.people().own_sessions(visitor);
    let sessions = sessions.await.map_err(InternalError::from)?;
    let done = visit.sent.query.get("done").and_then(done);
    let main: Markup = html! {
        h1 { bdi { (visitor.name) } }
        p { "Your own page: what others see of you, your password, and where you are signed in." }
        @if let Some(words) = done { (notice(NoticeKind::Done, &html! { (words) })) }
        dl.facts {
            dt { "Role" }
            dd { (visitor.role.name()) span.soft { ", which an owner of the account can change" } }
        }
        (name_form(visitor, shown.refused_name.as_ref()))
        h2 { "Password" }
        p { "With another password you stay signed in here, and are signed out everywhere else." }
        (password_form(visitor, &shown.password))
        h2 { "Where you are signed in" }
        p {
            "A session ends by itself 30 days after its last use, and 90 days after it began. Is one \
             not yours? End it, and choose another password."
        }
        (session_table(&sessions, visitor.session))
    };
    let page = visit.page("Your own page", main).section(Section::Me);
    Ok(page.status(status).reply())
}
