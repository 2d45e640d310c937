//! The address of the list of examples, and the redirect to it.

use refract_service::lenses::PrismLens;

use crate::components::prism_tabs::prism_address;
use crate::replies::page_reply::PageReply;

/// The address of the list.
pub(super) fn address(lens: &PrismLens) -> String {
    format!("{}/examples", prism_address(&lens.prism))
}

/// The redirect to the list, with a word on what happened.
pub(super) fn to_list(lens: &PrismLens, done: &str) -> PageReply {
    PageReply::see_other(&format!("{}?done={done}", address(lens)))
}
