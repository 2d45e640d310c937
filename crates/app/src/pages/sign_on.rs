//! `/sign-on`: to the sign-in provider and back.
//!
//! Opening `/sign-on` changes nothing but cookies. The provider sends the browser back to
//! `/sign-on/callback` with a code in the address, which no page repeats and no log names.

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::html;
use refract_http_serving::with_causes;
use refract_identity::people::{ProviderAnswer, SignOnError, SignOnFailure};

use crate::components::with_moments;
use crate::pages::sign_in::{own_address, sign_on_address, welcome};
use crate::replies::{PageError, PageReply};
use crate::requests::OpenVisit;

/// Seconds after which a provider that is away may be back.
const AGAIN_SECONDS: u64 = 30;

/// Redirects to the provider; who is signed in already, to the page that was asked for.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageError> {
    let then = visit.sent.query.get("then").unwrap_or_default();
    if visit.visitor.is_some() {
        return Ok(PageReply::see_other(own_address(then)));
    }
    match visit.refract.people().begin_sign_on().await {
        Ok(start) => {
            let now = Utc::now().timestamp();
            let begun = &visit.sent.sign_on;
            let cookies = begun.and(&start, own_address(then), now, &visit.site.url);
            Ok(PageReply::see_other(&start.address).with_cookies(&cookies))
        }
        Err(failure) => failed(&visit, failure, then),
    }
}

/// Signs in the person whom the provider's answer is about, and redirects to the page that was
/// asked for before. Who is signed in already, by another tab, is led on to it.
pub(crate) async fn finish(visit: OpenVisit) -> Result<PageReply, PageError> {
    let sent = &visit.sent;
    let query = |name| sent.query.get(name).unwrap_or_default();
    let answer = ProviderAnswer {
        state: query("state"),
        code: query("code"),
        error: query("error"),
    };
    let begun = sent.sign_on.answered_by(&answer);
    let then = begun.map_or("", |begun| begun.then.as_str());
    let ended: Vec<_> = begun.iter().map(|it| it.ended(&visit.site.url)).collect();
    if visit.visitor.is_some() {
        return Ok(PageReply::see_other(own_address(then)).with_cookies(&ended));
    }
    let flows: Vec<_> = begun.iter().map(|begun| begun.secret.clone()).collect();
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let finishing = people.finish_sign_on(&sent.client, &flows, &answer, request);
    match finishing.await {
        Ok(session) => {
            let reply = welcome(&visit, &session, then, None).await?;
            Ok(reply.with_cookies(&ended))
        }
        Err(failure) => failed(&visit, failure, then),
    }
}

/// The page for a sign-on that failed.
fn failed(visit: &OpenVisit, failure: SignOnFailure, then: &str) -> Result<PageReply, PageError> {
    let mut words = failure.to_string();
    let mut retry_after = None;
    let status = match failure {
        SignOnFailure::NoProvider => return Err(PageError::NotFound),
        SignOnFailure::Secret(error) => return Err(error.into()),
        SignOnFailure::Persistence(error) => return Err(error.into()),
        SignOnFailure::Provider(error) => match error {
            SignOnError::Away | SignOnError::Busy | SignOnError::ClientRefused => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            SignOnError::Document { .. } => StatusCode::BAD_GATEWAY,
            SignOnError::OtherFlow => StatusCode::BAD_REQUEST,
            SignOnError::Refused { .. }
            | SignOnError::Untrusted(_)
            | SignOnError::NotLetIn { .. } => StatusCode::FORBIDDEN,
        },
        SignOnFailure::Removed
        | SignOnFailure::NotInvited
        | SignOnFailure::OfOtherAccount
        | SignOnFailure::AddressOfAnother => StatusCode::FORBIDDEN,
        SignOnFailure::Blocked(error) => {
            retry_after = error.retry_after(Utc::now());
            StatusCode::TOO_MANY_REQUESTS
        }
        SignOnFailure::Account(error) => {
            tracing::error!(
                error = with_causes(&error),
                "nobody can join by the sign-in provider"
            );
            // which accounts there are is nothing for strangers
            "this installation has no account for new people".clone_into(&mut words);
            StatusCode::SERVICE_UNAVAILABLE
        }
    };
    tracing::warn!(reason = words, "a sign-on by the provider failed");
    let main = html! {
        h1 { "Not signed in" }
        p { (with_moments(&sentence(&words))) }
        p { a.button href=(sign_on_address(then)) { "Try again" } }
        @if visit.refract.people().has_passwords() {
            p { a href="/sign-in" { "Sign in with a password" } }
        }
    };
    let page = visit.page("Not signed in", main).status(status).reply();
    let away = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(AGAIN_SECONDS);
    Ok(page.with_retry_after(retry_after.or(away)))
}

/// The words with a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
