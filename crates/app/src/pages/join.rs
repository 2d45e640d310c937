//! `/join/{token}`: accepts a link to join or to choose a new password.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::{PersonName, Role};
use refract_identity::people::{JoinError, OpenInvitation, SecretError, SessionEnd, Token};

use crate::components::FormErrors;
use crate::cookies;
use crate::pages::me::{fixed_email, name_input, new_password, read_new_password};
use crate::pages::sign_in::{end_session, provider_button};
use crate::pages::sign_in_link::{reply, token, void_link};
use crate::replies::{PageError, PageReply};
use crate::requests::OpenVisit;

/// Shows the form if the link is valid. Opening the page does not use the link up.
pub(crate) async fn show(visit: OpenVisit) -> Result<PageReply, PageError> {
    let Some((_, invitation)) = find(&visit).await? else {
        return Ok(void(&visit));
    };
    if !visit.refract.people().has_passwords() {
        return Ok(by_provider(&visit, &invitation));
    }
    let name = invitation.name.as_deref().unwrap_or_default();
    let form = form(&invitation, &visit.sent.path, name, &FormErrors::default());
    page(&visit, &invitation, &form, StatusCode::OK).await
}

/// Accepts the link: signs in with the new password, and redirects to the first page.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    let Some((token, invitation)) = find(&visit).await? else {
        return Ok(void(&visit));
    };
    let sent = &visit.sent.form;
    let mut errors = FormErrors::default();
    let mut status = StatusCode::UNPROCESSABLE_ENTITY;
    let name = errors.read(
        "name",
        sent.get("name"),
        PersonName::parse(sent.get("name")),
    );
    let password = read_new_password(sent, &mut errors);
    if let (Some(name), Some(password)) = (name, password) {
        let client = &visit.sent.client;
        let request = Some(visit.request.clone());
        let people = visit.refract.people();
        let joining = people.accept(client, &token, &name, password, request);
        match joining.await {
            Ok(session) => {
                end_session(&visit, SessionEnd::Replaced).await?;
                let cookies = cookies::signed_in(&session, &visit.site.url);
                return Ok(PageReply::see_other("/").with_cookies(&cookies));
            }
            Err(JoinError::Void) => return Ok(void(&visit)),
            Err(JoinError::PasswordsOff) => return Ok(by_provider(&visit, &invitation)),
            Err(JoinError::Password(weak)) => {
                errors.note_all("password", sent.get("password"), &weak);
            }
            Err(JoinError::Secret(busy @ SecretError::Busy)) => {
                errors.note("password", &busy);
                status = StatusCode::SERVICE_UNAVAILABLE;
            }
            Err(JoinError::Secret(error)) => return Err(error.into()),
            Err(JoinError::Persistence(error)) => return Err(error.into()),
        }
    }
    let form = form(&invitation, &visit.sent.path, sent.get("name"), &errors);
    page(&visit, &invitation, &form, status).await
}

async fn find(visit: &OpenVisit) -> Result<Option<(Token, OpenInvitation)>, PageError> {
    let Some(token) = token(visit) else {
        return Ok(None);
    };
    let found = visit.refract.people().find_invitation(&token).await?;
    Ok(found.map(|invitation| (token, invitation)))
}

/// The title of the form, which depends on whether the person joins or chooses a new password.
fn title(invitation: &OpenInvitation) -> &'static str {
    if invitation.name.is_some() {
        "Choose a new password"
    } else {
        "Join Refract"
    }
}

async fn page(
    visit: &OpenVisit,
    invitation: &OpenInvitation,
    form: &Markup,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let title = title(invitation);
    let has_codes = visit.refract.people().has_codes(invitation.person).await?;
    let main = html! {
        h1 { (title) }
        @if invitation.name.is_some() {
            p { "With the new password you are signed in here, and signed out everywhere else." }
        } @else {
            p { "Choose a name and a password. " (may(invitation.role)) }
        }
        @if has_codes {
            p { "Your one-time codes are switched off with it. Set them up again on your own page." }
        }
        (form)
    };
    Ok(reply(visit.page(title, main).status(status)))
}

/// What a role may do, as a sentence for a new person.
fn may(role: Role) -> &'static str {
    match role {
        Role::Reviewer => "As a reviewer you read results, try texts and mark answers.",
        Role::Editor => "As an editor you also change prisms and lenses.",
        Role::Owner => "As an owner you also make API keys and invite people.",
    }
}

fn form(invitation: &OpenInvitation, address: &str, name: &str, errors: &FormErrors) -> Markup {
    html! {
        form.narrow method="post" action=(address) {
            (fixed_email(invitation.email.as_str(), "You sign in with it."))
            (name_input(name, errors))
            (new_password("Password", "The password again", errors))
            button.main type="submit" {
                @if invitation.name.is_some() { "Save the password" } @else { "Join" }
            }
        }
    }
}

/// The page for a link where passwords do not sign in: the person joins at their first sign-on.
fn by_provider(visit: &OpenVisit, invitation: &OpenInvitation) -> PageReply {
    let people = visit.refract.people();
    let provider = people.provider_name().unwrap_or_default();
    let main = html! {
        h1 { (title(invitation)) }
        p {
            "Passwords do not sign in here. Sign in with " bdi { (provider) } " as "
            bdi { (invitation.email) } ": you join by that."
        }
        (provider_button(provider, "", None))
    };
    reply(visit.page(title(invitation), main))
}

/// The page for an invalid link.
fn void(visit: &OpenVisit) -> PageReply {
    let words = "A link works once, for seven days, and a newer one replaces it. Ask the person who \
                 sent it for a new one; if you have a password already, sign in with it.";
    void_link(visit, words)
}
