//! `/prisms/{slug}/versions/{n}`: a complete version and its changes.

use maud::html;
use refract_domain::prism::VersionNumber;

use crate::components::{PrismTab, definition, differences, moment, prism_address};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let number = visit.version_number()?;
    let prisms = visit.refract.prisms();
    let found = prisms
        .version_overview(visit.account(), &visit.prism()?, number)
        .await?;
    let prism = &found.prism_lens.prism;
    let address = prism_address(prism);
    let neighbour = |step| VersionNumber::new(number.get().checked_add(step)?);
    let before = neighbour(-1);
    let after = neighbour(1).filter(|after| *after <= prism.latest_version);
    let main = html! {
        h2 { "Version " (number) }
        p {
            "Saved " (moment(found.made_at)) " by "
            @match &found.actor { Some(name) => bdi { (name) }, None => "the terminal" }
            "."
        }
        p.row {
            @if let Some(before) = before { a href={ (address) "/versions/" (before) } { "Version " (before) } }
            @if let Some(after) = after { a href={ (address) "/versions/" (after) } { "Version " (after) } }
            a href={ (address) "/versions/" (number) "/file" } { "Download its file" }
        }
        @if before.is_some() {
            h2 { "What it changed" }
            @if found.differences.is_empty() { p.soft { "Nothing." } } @else { (differences(&found.differences)) }
        }
        (definition(&found.version))
    };
    let title = format!("{}, version {number}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Overview, title, &main);
    Ok(page.reply())
}
