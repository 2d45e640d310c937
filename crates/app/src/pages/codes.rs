//! `/me/codes`: the visitor's one-time codes. Where the account requires them, it is the only page
//! until they are set up.

mod codes_view;

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_identity::people::{
    CodeError, CodesDue, RecoveryCode, SecretError, SignInError, TypedPassword,
};

use self::codes_view::{codes_view, recovery_codes_view};
use crate::components::{COPY_SCRIPT, FormErrors, NoticeKind, notice};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::Visit;

/// The address of the page.
const ADDRESS: &str = "/me/codes";

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    page(&visit, &FormErrors::default(), StatusCode::OK).await
}

/// Begins to set up codes with a new secret.
pub(crate) async fn begin(visit: Visit) -> Result<PageReply, PageError> {
    match visit
        .refract
        .people()
        .begin_codes_setup(&visit.visitor)
        .await
    {
        Ok(()) => Ok(PageReply::see_other(ADDRESS)),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Switches the codes on, and shows the recovery codes once.
pub(crate) async fn switch_on(visit: Visit) -> Result<PageReply, PageError> {
    let (password, code) = typed(&visit);
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let switching = people.switch_codes_on(&visit.visitor, password, code, request);
    match switching.await {
        Ok(codes) => Ok(made(
            &visit,
            "Your one-time codes are on. From now on signing in asks for one.",
            &codes,
        )),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Confirms a session of the sign-in provider by a code.
pub(crate) async fn confirm(visit: Visit) -> Result<PageReply, PageError> {
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let confirming = people.confirm_session(&visit.visitor, visit.sent.form.get("code"), request);
    match confirming.await {
        Ok(()) => Ok(PageReply::see_other("/")),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Switches the codes off.
pub(crate) async fn switch_off(visit: Visit) -> Result<PageReply, PageError> {
    let (password, code) = typed(&visit);
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let switching = people.switch_codes_off(&visit.visitor, password, code, request);
    match switching.await {
        Ok(()) => Ok(PageReply::see_other("/me/codes?done=off")),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

/// Makes new recovery codes, and shows them once.
pub(crate) async fn renew_recovery_codes(visit: Visit) -> Result<PageReply, PageError> {
    let (password, code) = typed(&visit);
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let renewing = people.renew_recovery_codes(&visit.visitor, password, code, request);
    match renewing.await {
        Ok(codes) => Ok(made(&visit, "The earlier recovery codes are void.", &codes)),
        Err(refusal) => refused(&visit, refusal).await,
    }
}

fn typed(visit: &Visit) -> (TypedPassword, &str) {
    let form = &visit.sent.form;
    (
        TypedPassword::new(form.get("present_password")),
        form.get("code"),
    )
}

/// Shows the page again with the error beside its input.
async fn refused(visit: &Visit, refusal: CodeError) -> Result<PageReply, PageError> {
    let mut errors = FormErrors::default();
    let retry_after = refusal.retry_after(Utc::now());
    let status = match refusal {
        CodeError::NoCode | CodeError::Wrong | CodeError::Over => {
            errors.note("code", &refusal);
            StatusCode::UNPROCESSABLE_ENTITY
        }
        CodeError::Blocked(blocked) => {
            errors.note("code", &blocked);
            StatusCode::TOO_MANY_REQUESTS
        }
        CodeError::Password(SignInError::Wrong) => {
            errors.note("present_password", "This is not your password.");
            StatusCode::UNPROCESSABLE_ENTITY
        }
        CodeError::Password(blocked) => {
            errors.note("present_password", &blocked);
            StatusCode::TOO_MANY_REQUESTS
        }
        CodeError::Secret(busy @ SecretError::Busy) => {
            errors.note("present_password", &busy);
            StatusCode::SERVICE_UNAVAILABLE
        }
        CodeError::Meanwhile => {
            errors.note("", &refusal);
            StatusCode::CONFLICT
        }
        CodeError::Secret(error) => return Err(error.into()),
        CodeError::Persistence(error) => return Err(error.into()),
    };
    let reply = page(visit, &errors, status).await?;
    Ok(reply.with_retry_after(retry_after))
}

async fn page(
    visit: &Visit,
    errors: &FormErrors,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let visitor = &visit.visitor;
    let codes = visit.refract.people().one_time_codes(visitor).await?;
    let of_page = errors.of("");
    let done = visit.done(|what| {
        (what == "off").then_some("Your one-time codes are off. The recovery codes are void.")
    });
    let main = html! {
        h1 { "One-time codes" }
        @if let Some(notice) = done { (notice) }
        @if !of_page.is_empty() { (notice(NoticeKind::Refused, &html! { (of_page) })) }
        @if visitor.codes_due == Some(CodesDue::SetUp) {
            (notice(NoticeKind::Warning, &html! { "Your account requires one-time codes. Set them up to go on." }))
        }
        (codes_view(visitor, &codes, errors))
    };
    let page = visit.page("One-time codes", main).section(Section::Me);
    Ok(page.script(COPY_SCRIPT).status(status).reply())
}

/// The page with new recovery codes. It answers the form itself, so that no address contains them.
fn made(visit: &Visit, words: &str, codes: &[RecoveryCode]) -> PageReply {
    let main = html! {
        h1 { "Your recovery codes" }
        (notice(NoticeKind::Done, &html! { (words) }))
        (recovery_codes_view(codes))
    };
    let page = visit.page("Your recovery codes", main).section(Section::Me);
    page.script(COPY_SCRIPT).script("shown-once.js").reply()
}

/// Whether the visitor has codes, with a link to their page; nothing for people who sign in by link,
/// and for those without a password who have none.
pub(crate) async fn summary(visit: &Visit) -> Result<Markup, PageError> {
    let visitor = &visit.visitor;
    if visitor.is_by_link {
        return Ok(html! {});
    }
    let are_on = visit.refract.people().has_codes(visitor.person).await?;
    let asks_password = visitor.has_password && !visitor.is_by_provider;
    if !are_on && !asks_password {
        return Ok(html! {});
    }
    Ok(html! {
        h2 { "One-time codes" }
        @if are_on {
            @if asks_password {
                p { "They are on: signing in asks for your password and for a code." }
            } @else {
                p { "They are on: a sign-on without a second factor asks for a code if your account requires them." }
            }
            p { a.button href="/me/codes" { "Recovery codes, or switch off" } }
        } @else {
            p { "With them, a stolen password alone does not sign in." }
            p { a.button href="/me/codes" { "Set up one-time codes" } }
        }
    })
}
