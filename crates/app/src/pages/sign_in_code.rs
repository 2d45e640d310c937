//! `/sign-in/code`: finishes a sign-in by a one-time code or a recovery code.

use actix_web::http::StatusCode;
use chrono::Utc;
use refract_service::people::token::Token;
use refract_service::people::{CodeError, SecretError};

use crate::pages::sign_in::code_page::{CodeForm, PENDING, code_page};
use crate::pages::sign_in::{SignInForm, page, welcome};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::carried_form::CarriedForm;
use crate::requests::visit::OpenVisit;

/// Signs in, asks again, or begins again after too many wrong codes.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let then = form.get("then");
    let kept = CarriedForm::from_form(form);
    let Some(token) = Token::parse(form.get(PENDING)) else {
        return Ok(over(&visit, &CodeError::Over, then, kept.as_ref()));
    };
    let client = &visit.sent.client;
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let finishing = people.finish_sign_in(client, &token, form.get("code"), request);
    let refusal = match finishing.await {
        Ok(session) => return welcome(&visit, &session, then, kept.as_ref()).await,
        Err(refusal) => refusal,
    };
    let status = match refusal {
        CodeError::Over | CodeError::Meanwhile => {
            return Ok(over(&visit, &refusal, then, kept.as_ref()));
        }
        CodeError::NoCode => StatusCode::UNPROCESSABLE_ENTITY,
        CodeError::Wrong | CodeError::Password(_) => StatusCode::UNAUTHORIZED,
        CodeError::Blocked(_) => StatusCode::TOO_MANY_REQUESTS,
        CodeError::Secret(SecretError::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        CodeError::Secret(error) => return Err(error.into()),
        CodeError::Persistence(error) => return Err(error.into()),
    };
    let retry_after = refusal.retry_after(Utc::now());
    let form = CodeForm {
        token: &token,
        then,
        error: &refusal.to_string(),
    };
    let page = code_page(&visit, &form, kept.as_ref(), status);
    Ok(page.with_retry_after(retry_after))
}

/// The sign-in page: the password is asked for again.
fn over(
    visit: &OpenVisit,
    error: &CodeError,
    then: &str,
    kept: Option<&CarriedForm<'_>>,
) -> PageReply {
    let typed = SignInForm {
        then,
        error: &error.to_string(),
        ..SignInForm::default()
    };
    page(visit, &typed, kept, StatusCode::UNAUTHORIZED)
}
