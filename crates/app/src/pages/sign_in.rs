//! `/sign-in`: email and password, then a one-time code or a redirect to the page that was asked for.
//! And `/sign-in/code`: finishes a sign-in by a one-time code or a recovery code. The form for the code
//! carries the token of the pending sign-in: it stands in no address and no cookie, and opens nothing
//! else.

use actix_web::http::StatusCode;
use chrono::Utc;
use maud::{Markup, html};
use refract_identity::people::{
    CodeError, People, SecretError, Session, SessionEnd, SignInError, SignInOutcome, Token,
    TypedPassword,
};

use crate::components::{FormField, NoticeKind, notice, with_moments};
use crate::cookies;
use crate::replies::{Page, PageError, PageReply};
use crate::requests::{CarriedForm, OpenVisit, Query, Visitor, is_own_address};

/// The address that begins a sign-on by the provider, which later redirects to `then`.
pub(crate) fn sign_on_address(then: &str) -> String {
    let then = (!then.is_empty()).then_some(then);
    format!(
        "/sign-on{}",
        Query::default().with("then", then).in_address()
    )
}

/// Shows the page. Redirects a signed-in person at once.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageError> {
    let then = visit.sent.query.get("then").unwrap_or_default();
    if visit.visitor.is_some() {
        return Ok(PageReply::see_other(own_address(then)));
    }
    // without the database the page is shown as usual
    let is_nobody_invited = visit.refract.people().is_nobody_invited().await;
    let typed = SignInForm {
        then,
        is_nobody_invited: is_nobody_invited.unwrap_or(false),
        ..SignInForm::default()
    };
    Ok(page(&visit, &typed, None, StatusCode::OK))
}

/// Signs in. Another form that was submitted after its session had ended is given back.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let (email, then) = (form.get("email"), form.get("then"));
    let kept = CarriedForm::from_form(form);
    let password = TypedPassword::new(form.get("password"));
    let client = &visit.sent.client;
    let request = Some(visit.request.clone());
    let people = visit.refract.people();
    let refusal = match people.sign_in(client, email, password, request).await {
        Ok(SignInOutcome::SignedIn(session)) => {
            return welcome(&visit, &session, then, kept.as_ref()).await;
        }
        Ok(SignInOutcome::NeedsCode(pending)) => {
            let form = CodeForm {
                token: &pending.token,
                then,
                error: "",
            };
            return Ok(code_page(&visit, &form, kept.as_ref(), StatusCode::OK));
        }
        Err(refusal) => refusal,
    };
    let (error, retry_after) = (refusal.to_string(), refusal.retry_after(Utc::now()));
    let status = match refusal {
        SignInError::Wrong => StatusCode::UNAUTHORIZED,
        SignInError::TooManyTries { .. } | SignInError::Slowed { .. } => {
            StatusCode::TOO_MANY_REQUESTS
        }
        SignInError::PasswordsOff => StatusCode::FORBIDDEN,
        SignInError::Secret(SecretError::Busy) => StatusCode::SERVICE_UNAVAILABLE,
        SignInError::Secret(error) => return Err(error.into()),
        SignInError::Persistence(error) => return Err(error.into()),
    };
    let typed = SignInForm {
        email,
        error: &error,
        then,
        is_nobody_invited: false,
    };
    let page = page(&visit, &typed, kept.as_ref(), status);
    Ok(page.with_retry_after(retry_after))
}

/// Sets the cookies and redirects the person, or gives back the form that they had submitted.
pub(crate) async fn welcome(
    visit: &OpenVisit,
    session: &Session,
    then: &str,
    kept: Option<&CarriedForm<'_>>,
) -> Result<PageReply, PageError> {
    end_session(visit, SessionEnd::Replaced).await?;
    let reply = match kept {
        None => PageReply::see_other(own_address(then)),
        Some(kept) => {
            let tokens = std::slice::from_ref(&session.token);
            let visitor = Visitor::find(&visit.refract, tokens).await?;
            let main = html! {
                h1 { "Signed in again" }
                p { "Your session had ended before this was sent. Nothing was done with it yet." }
                (kept.send_again("Send what I typed"))
            };
            Page::new(&visit.site, visitor.as_ref(), "Signed in again", main).reply()
        }
    };
    Ok(reply.with_cookies(&cookies::signed_in(session, &visit.site.url)))
}

/// Ends the session whose cookie is about to be replaced or deleted.
pub(crate) async fn end_session(visit: &OpenVisit, why: SessionEnd) -> Result<(), PageError> {
    if let Some(visitor) = &visit.visitor {
        let request = Some(visit.request.clone());
        let people = visit.refract.people();
        people.end_session(visitor, why, request).await?;
    }
    Ok(())
}

/// The app's own address to redirect to; the first page if the address is foreign or no page to
/// return to.
pub(crate) fn own_address(then: &str) -> &str {
    let leads_back = ["/sign-in", "/sign-on", "/sign-out", "/join"]
        .iter()
        .any(|place| then.starts_with(place));
    if is_own_address(then) && !leads_back {
        then
    } else {
        "/"
    }
}

/// The page, with the hidden inputs of another form that was submitted after its session had ended.
pub(crate) fn page(
    visit: &OpenVisit,
    typed: &SignInForm<'_>,
    kept: Option<&CarriedForm<'_>>,
    status: StatusCode,
) -> PageReply {
    let people = visit.refract.people();
    let main = html! {
        h1 { "Sign in" }
        (ways(people, typed, kept))
        @if typed.is_nobody_invited {
            p.hint {
                "Nobody was invited yet. " code { "refract person invite EMAIL" }
                ", run with the settings of this node, prints the first owner's link."
            }
        } @else if people.has_passwords() {
            p.hint {
                "You join with a link that an owner of your account makes for you. A lost password is \
                 replaced in the same way."
            }
        } @else if !typed.error.is_empty() {
            (notice(NoticeKind::Refused, &html! { (with_moments(typed.error)) "." }))
        }
    };
    visit.page("Sign in", main).status(status).reply()
}

/// The way to the provider. A form that was submitted after its session had ended cannot travel
/// there and back: it waits on this page while the person signs in on another.
pub(crate) fn provider_button(
    provider: &str,
    then: &str,
    kept: Option<&CarriedForm<'_>>,
) -> Markup {
    html! {
        @if let Some(kept) = kept {
            p {
                a.button href=(sign_on_address("")) target="_blank" {
                    "Sign in with " bdi { (provider) } " in a new tab"
                }
            }
            p { "Then come back to this tab:" }
            (kept.send_again("Send what I typed"))
        } @else {
            p {
                a.button.main href=(sign_on_address(then)) { "Sign in with " bdi { (provider) } }
            }
        }
    }
}

/// The values of the sign-in form, and their error.
#[derive(Default)]
pub(crate) struct SignInForm<'a> {
    pub(crate) email: &'a str,
    /// The error of the last attempt to sign in; empty before the first attempt.
    pub(crate) error: &'a str,
    /// The address to redirect to afterwards.
    pub(crate) then: &'a str,
    /// Whether nobody can sign in yet.
    pub(crate) is_nobody_invited: bool,
}

/// The ways to sign in: by the provider, by password, or both.
pub(crate) fn ways(
    people: People<'_>,
    typed: &SignInForm<'_>,
    kept: Option<&CarriedForm<'_>>,
) -> Markup {
    let provider = people.provider_name();
    html! {
        @if let Some(provider) = provider { (provider_button(provider, typed.then, kept)) }
        @if people.has_passwords() {
            @if provider.is_some() { h2 { "With a password" } }
            (form(typed, kept))
            @if let (None, Some(kept)) = (&provider, kept) {
                p { "Or open a link that signs you in, in another tab, then come back:" }
                (kept.send_again("I am signed in: send it"))
            }
        }
    }
}

/// The form, with the hidden inputs of another form that was submitted after its session had ended.
fn form(typed: &SignInForm<'_>, kept: Option<&CarriedForm<'_>>) -> Markup {
    let email = FormField::new("email", "Email").value(typed.email);
    let email = email.error(typed.error).required();
    let password = FormField::new("password", "Password").required();
    html! {
        form.narrow method="post" action="/sign-in" {
            (email.line("email", "username"))
            (password.line("password", "current-password"))
            input type="hidden" name="then" value=(typed.then);
            @if let Some(kept) = kept { (kept.carried()) }
            button.main type="submit" { "Sign in" }
        }
    }
}

/// The input with the token of the pending sign-in.
const PENDING: &str = "pending";

/// What the page goes on with.
struct CodeForm<'a> {
    pub(crate) token: &'a Token,
    /// The address to redirect to afterwards.
    pub(crate) then: &'a str,
    /// The error of the last code; empty before the first one.
    pub(crate) error: &'a str,
}

/// The page, with the hidden inputs of another form that was submitted after its session had ended.
fn code_page(
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

/// Signs in, asks again, or begins again after too many wrong codes.
pub(crate) async fn submit_code(visit: OpenVisit) -> Result<PageReply, PageError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_places_are_come_back_to() {
        for own in ["/", "/prisms/a/results?status=failed", "/people"] {
            assert_eq!(own_address(own), own);
        }
        for other in [
            "",
            "https://evil.com",
            "//evil.com",
            "/\\evil.com",
            "/sign-in?then=/",
            "/sign-on?then=/",
            "/sign-out",
            "/join/abc",
        ] {
            assert_eq!(own_address(other), "/", "{other}");
        }
    }
}
