//! `/join/{token}`: takes up a link, to join or to choose a new password.

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, REFERRER_POLICY};
use maud::{Markup, html};
use refract_domain::person::PersonName;
use refract_domain::role::Role;
use refract_service::InternalError;
use refract_service::people::password::TypedPassword;
use refract_service::people::token::Token;
use refract_service::people::{JoinError, OpenInvitation, SecretError, SessionEnd};

use crate::browser_cookie;
use crate::components::field::{FormField, in_words};
use crate::page::Page;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::pages::sign_in::end_session;
use crate::visit::OpenVisit;

/// What was typed into the form, and what is wrong with it.
#[derive(Default)]
struct Faults {
    name: String,
    password: String,
    again: String,
}

/// Shows the form, as long as the link is good. Looking at it uses nothing up.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageRefusal> {
    let Some((_, invitation)) = find(&visit).await? else {
        return Ok(void(&visit));
    };
    let name = invitation.name.as_deref().unwrap_or_default();
    let form = form(&invitation, &visit.sent.path, name, &Faults::default());
    Ok(page(&visit, &invitation, &form, StatusCode::OK))
}

/// Takes up the link: signs in with the new password, and goes to the first page.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageRefusal> {
    let Some((token, invitation)) = find(&visit).await? else {
        return Ok(void(&visit));
    };
    let sent = &visit.sent.form;
    let mut faults = Faults::default();
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    let name = PersonName::parse(sent.get("name"));
    if let Err(name) = &name {
        faults.name = in_words(name);
    }
    if sent.get("password") != sent.get("password_again") {
        "the two are not the same".clone_into(&mut faults.again);
    }
    if let (Ok(name), true) = (&name, faults.again.is_empty()) {
        let password = TypedPassword::new(sent.get("password"));
        let client = &visit.sent.client;
        let request = Some(visit.request.clone());
        match visit
            .refract
            .people()
            .accept(client, &token, name, password, request)
            .await
        {
            Ok(session) => {
                end_session(&visit, SessionEnd::Replaced).await?;
                let cookies = browser_cookie::signed_in(&session, &visit.site.url);
                return Ok(PageReply::see_other("/").with_cookies(&cookies));
            }
            Err(JoinError::Void) => return Ok(void(&visit)),
            Err(JoinError::Password(weak)) => faults.password = in_words(&weak),
            Err(JoinError::Secret(SecretError::Busy)) => {
                faults.password = SecretError::Busy.to_string();
                status = StatusCode::SERVICE_UNAVAILABLE;
            }
            Err(JoinError::Secret(error)) => return Err(error.into()),
            Err(JoinError::Persistence(error)) => {
                return Err(InternalError::from(error).into());
            }
        }
    }
    let form = form(&invitation, &visit.sent.path, sent.get("name"), &faults);
    Ok(page(&visit, &invitation, &form, status))
}

async fn find(visit: &OpenVisit) -> Result<Option<(Token, OpenInvitation)>, InternalError> {
    let Some(token) = Token::parse(visit.sent.values.get("token")) else {
        return Ok(None);
    };
    let found = visit.refract.people().find_invitation(&token).await?;
    Ok(found.map(|invitation| (token, invitation)))
}

/// The title and the words above the form: somebody joins, or comes back for a new password.
fn title(invitation: &OpenInvitation) -> &'static str {
    if invitation.name.is_some() {
        "Choose a new password"
    } else {
        "Join Refract"
    }
}

fn page(
    visit: &OpenVisit,
    invitation: &OpenInvitation,
    form: &Markup,
    status: StatusCode,
) -> PageReply {
    let title = title(invitation);
    let main = html! {
        h1 { (title) }
        @if invitation.name.is_some() {
            p { "With the new password you are signed in here, and signed out everywhere else." }
        } @else {
            p { "Choose a name and a password. " (may(invitation.role)) }
        }
        (form)
    };
    reply(Page::new(&visit.site, visit.visitor.as_ref(), title, main).status(status))
}

/// What a new person may do, in a sentence.
fn may(role: Role) -> &'static str {
    match role {
        Role::Reviewer => "As a reviewer you read results, try texts and mark answers.",
        Role::Editor => "As an editor you also change prisms and lenses.",
        Role::Owner => "As an owner you also make API keys and invite people.",
    }
}

fn form(invitation: &OpenInvitation, address: &str, name: &str, faults: &Faults) -> Markup {
    let email = FormField {
        name: "email",
        label: "Email",
        hint: "You sign in with it.",
        ..FormField::default()
    };
    let name = FormField {
        name: "name",
        label: "Name",
        value: name,
        hint: "Others see it beside what you change.",
        fault: &faults.name,
        is_required: true,
    };
    let password = FormField {
        name: "password",
        label: "Password",
        hint: "At least 10 characters, and none of the common ones.",
        fault: &faults.password,
        is_required: true,
        ..FormField::default()
    };
    let again = FormField {
        name: "password_again",
        label: "The password again",
        fault: &faults.again,
        is_required: true,
        ..FormField::default()
    };
    html! {
        form.narrow method="post" action=(address) {
            // password managers read the address from here
            (email.around(&html! {
                input #email type="email" value=(invitation.email) readonly autocomplete="username"
                    aria-describedby="email-hint";
            }))
            (name.line("text", "name"))
            (password.line("password", "new-password"))
            (again.line("password", "new-password"))
            button.main type="submit" {
                @if invitation.name.is_some() { "Save the password" } @else { "Join" }
            }
        }
    }
}

/// The page of a link that was used, has expired, was replaced or never was.
fn void(visit: &OpenVisit) -> PageReply {
    let main = html! {
        h1 { "This link is not good any more" }
        p {
            "A link works once, for seven days, and a newer one replaces it. Ask whoever sent it for \
             a new one; if you have a password already, sign in with it."
        }
        p { a.button href="/sign-in" { "Sign in" } }
    };
    let page = Page::new(&visit.site, visit.visitor.as_ref(), "Link not good", main);
    reply(page.status(StatusCode::GONE))
}

/// The page without its address in what it leads to: the address holds the token. The origin is
/// still named, since older browsers say by it that the form comes from the app.
fn reply(page: Page<'_>) -> PageReply {
    let origin_only = HeaderValue::from_static("strict-origin");
    page.reply().with_header(REFERRER_POLICY, origin_only)
}
