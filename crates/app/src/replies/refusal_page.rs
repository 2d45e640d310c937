//! The page that stands in for one that cannot be shown. It gives back what was typed.

use maud::html;
use refract_http_serving::RequestId;

use crate::app_site::AppSite;
use crate::pages::sign_in;
use crate::replies::page::Page;
use crate::replies::page_refusal::PageRefusal;
use crate::replies::page_reply::PageReply;
use crate::requests::form_size::FormSize;
use crate::requests::kept::Kept;
use crate::requests::sent::Sent;
use crate::requests::visitor::Visitor;

/// The page for a refusal.
pub(crate) fn show(
    refusal: &PageRefusal,
    site: &AppSite,
    visitor: Option<&Visitor>,
    sent: &Sent,
    id: &RequestId,
) -> PageReply {
    let kept = match refusal {
        PageRefusal::SignedOut
        | PageRefusal::Draining(_)
        | PageRefusal::Internal(_)
        | PageRefusal::Panicked(_)
        | PageRefusal::Secret(_)
        | PageRefusal::NeedsRole(_)
        | PageRefusal::NotChanged(_) => Kept::of(sent),
        // nothing was read, or it must not be sent again
        PageRefusal::NotFound
        | PageRefusal::MethodNotAllowed
        | PageRefusal::OtherOrigin
        | PageRefusal::FormTooLarge(_)
        | PageRefusal::NoForm => None,
    };
    let main = html! {
        h1 { (refusal.title()) }
        p { (refusal.words()) }
        @match (refusal, &kept) {
            (PageRefusal::SignedOut, _) => { (sign_in::form(&sign_in::Typed::default(), kept.as_ref())) }
            (PageRefusal::FormTooLarge(FormSize::Kept | FormSize::OwnWithKept), _) => {
                p { a href="/sign-in" target="_blank" { "Sign in in another tab" } }
            }
            (_, Some(kept)) => { (kept.send_again("Send again")) }
            (_, None) => { p { a href="/" { "To the prisms" } } }
        }
        @if matches!(refusal, PageRefusal::Internal(_) | PageRefusal::Panicked(_) | PageRefusal::Secret(_)) {
            p.hint { "Request " code { (id) } }
        }
    };
    Page::new(site, visitor, refusal.title(), main)
        .status(refusal.status())
        .reply()
}
