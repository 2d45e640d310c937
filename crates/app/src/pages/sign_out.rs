//! `/sign-out`: ends the visitor's session. Who cannot come back by a password is asked first.

use actix_web::http::header::{HeaderValue, REFRESH};
use maud::html;
use refract_identity::people::SessionEnd;

use crate::cookies;
use crate::pages::sign_in::end_session;
use crate::replies::{Page, PageError, PageReply};
use crate::requests::OpenVisit;

/// The button that signs out even those who cannot come back by a password.
const SURE: &str = "sure";

/// Asks before signing out.
pub(crate) fn show(visit: &OpenVisit) -> PageReply {
    let by_link = visit
        .visitor
        .as_ref()
        .is_some_and(|visitor| visitor.is_by_link);
    let main = html! {
        h1 { "Sign out" }
        @if by_link {
            p {
                "You signed in by a link that works once, and have no password. To come back, start "
                code { "refract demo" } " again: it prints a new link. Prisms, results and drafts stay."
            }
        }
        form method="post" action="/sign-out" {
            div.row {
                button.danger type="submit" name=(SURE) value="1" { "Sign out" }
                a.button href="/" { "Stay" }
            }
        }
    };
    visit.page("Sign out", main).reply()
}

/// Ends the session and redirects to the sign-in page.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    let by_link = visit
        .visitor
        .as_ref()
        .is_some_and(|visitor| visitor.is_by_link);
    if by_link && !visit.sent.form.has(SURE) {
        return Ok(PageReply::see_other("/sign-out"));
    }
    // the grant ends with the session, and no provider that is away keeps a person signed in here
    let people = visit.refract.people();
    let grant = people.provider_grant(&visit.sent.sessions).await?;
    end_session(&visit, SessionEnd::SignedOut).await?;
    let provider = match &grant {
        Some(grant) => people.provider_sign_out(grant).await,
        None => None,
    };
    let ended = cookies::ended_session(&visit.site.url);
    let reply = match provider {
        None => PageReply::see_other("/sign-in"),
        Some(address) => to_provider(&visit, &address),
    };
    Ok(reply.with_cookie(&ended))
}

/// The page that goes on to the provider, which ends its own session. A redirect would not: the
/// page's policy allows no form to lead to another site.
fn to_provider(visit: &OpenVisit, address: &str) -> PageReply {
    let people = visit.refract.people();
    let name = people.provider_name().unwrap_or("the provider");
    let main = html! {
        h1 { "Signed out" }
        p { "You are signed out here, and now at " bdi { (name) } " too." }
        p { a.button href=(address) { "Go on to " bdi { (name) } } }
    };
    let page = Page::new(&visit.site, None, "Signed out", main).reply();
    match HeaderValue::from_str(&format!("0; url={address}")) {
        Ok(refresh) => page.with_header(REFRESH, refresh),
        Err(_) => page,
    }
}
