//! The error page. It gives back the submitted form.

use maud::html;
use refract_http_serving::RequestId;
use refract_identity::people::People;

use crate::app_site::AppSite;
use crate::pages::sign_in;
use crate::replies::PageError;
use crate::replies::page::Page;
use crate::replies::page_reply::PageReply;
use crate::requests::{CarriedForm, FormSize, PageRequest, Visitor};

/// The page for an error.
pub(crate) fn show(
    refusal: &PageError,
    site: &AppSite,
    people: People<'_>,
    visitor: Option<&Visitor>,
    sent: &PageRequest,
    id: &RequestId,
) -> PageReply {
    let kept = match refusal {
        PageError::SignedOut
        | PageError::Draining(_)
        | PageError::Internal(_)
        | PageError::Panicked(_)
        | PageError::Secret(_)
        | PageError::NeedsCodes
        | PageError::NeedsRole { .. }
        | PageError::NotChanged(_) => CarriedForm::of(sent),
        // the form was not read, or must not be sent again
        PageError::NotFound
        | PageError::MethodNotAllowed
        | PageError::OtherOrigin
        | PageError::FormTooLarge(_)
        | PageError::UploadTooLarge(_)
        | PageError::NoForm => None,
    };
    let main = html! {
        h1 { (refusal.title()) }
        p { (refusal.message()) }
        @if matches!(refusal, PageError::SignedOut) && kept.is_some() { p { "What you typed is kept on this page." } }
        @if matches!(refusal, PageError::NeedsCodes) {
            p { a.button href="/me/codes" target="_blank" { "Set them up in another tab" } }
        }
        @match (refusal, &kept) {
            (PageError::SignedOut, _) => { (sign_in::ways(people, &sign_in::SignInForm::default(), kept.as_ref())) }
            (PageError::FormTooLarge(FormSize::Kept | FormSize::OwnWithKept), _) => {
                p { a href="/sign-in" target="_blank" { "Sign in in another tab" } }
            }
            (_, Some(kept)) => { (kept.send_again("Send again")) }
            (_, None) => { p { a href="/" { "To the prisms" } } }
        }
        @if matches!(refusal, PageError::Internal(_) | PageError::Panicked(_) | PageError::Secret(_)) {
            p.hint { "Request " code { (id) } }
        }
    };
    Page::new(site, visitor, refusal.title(), main)
        .status(refusal.status())
        .reply()
}
