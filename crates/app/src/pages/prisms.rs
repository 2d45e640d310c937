//! `/`: the prisms of the account.

use maud::html;

use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageRefusal> {
    let main = html! { h1 { "Prisms" } };
    Ok(visit.page("Prisms", main).section(Section::Prisms).reply())
}
