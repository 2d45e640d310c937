//! `/sign-out`: ends the session.

use refract_service::people::SessionEnd;

use crate::cookies::session_cookie;
use crate::pages::sign_in::end_session;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::OpenVisit;

/// Ends the session of the cookie that was sent, and deletes the cookie.
pub(crate) async fn submit(visit: OpenVisit) -> Result<PageReply, PageError> {
    end_session(&visit, SessionEnd::SignedOut).await?;
    let ended = session_cookie::ended(&visit.site.url);
    Ok(PageReply::see_other("/sign-in").with_cookie(&ended))
}
