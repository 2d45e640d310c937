//! The page for an edit conflict: what the other person saved, what this person changed, and what
//! saving on top would do.

use maud::{Markup, html};
use refract_authoring::version_difference::VersionDifference;
use refract_domain::problem::Problems;
use refract_service::prisms::{ChangeOfPrism, PrismChange, SavedMeanwhile};

use super::draft_bar::named;
use super::editing::Editing;
use super::place_description::describe;
use crate::components::differences::differences;
use crate::components::fault_sentence::fault_sentence;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The page.
pub(crate) async fn show(visit: &Visit, editing: &Editing) -> Result<PageReply, PageError> {
    let account = visit.account();
    let (selector, file) = (visit.prism()?, editing.draft.file());
    let based_on = editing.based_on.ok_or(PageError::NoForm)?;
    let prisms = visit.refract.prisms();
    let comparing = prisms.saved_meanwhile(account, &selector, &file, based_on);
    let meanwhile = comparing.await?;
    let SavedMeanwhile {
        prism,
        saved,
        theirs,
        mine,
        on_top,
    } = &meanwhile;
    let latest = prism.latest_version;
    let new_name = editing.draft.name.trim();
    let main = html! {
        (notice(NoticeKind::Refused, &html! {
            "Version " (latest) " was saved while you edited version " (based_on)
            ". Nothing of yours is lost: your draft is kept."
        }))
        div.split {
            section {
                h2 { "What was saved meanwhile" }
                ul.plain { @for change in saved { li { (saved_by(change, &prism_address(prism))) } } }
                h3 { "Changes against version " (based_on) }
                (changes(theirs))
            }
            section {
                h2 { "What you changed" }
                @if new_name != prism.name { p { "You call the prism " bdi { (new_name) } "." } }
                h3 { "Changes against version " (based_on) }
                @match mine { Ok(mine) => { (changes(mine)) } Err(problems) => { (wrong(problems)) } }
            }
        }
        h2 { "If you save yours on top of version " (latest) }
        @match on_top {
            Ok(on_top) => {
                p { "Your version takes the place of version " (latest) " as a whole. Against it, this changes:" }
                (changes(on_top))
            }
            Err(problems) => { (wrong(problems)) }
        }
        form method="post" action={ (editing.address()) "/draft" } {
            (named(editing))
            input type="hidden" name="onto" value=(latest);
            div.row {
                button.main type="submit" name="act" value="on_top" { "Go on with yours, on top of version " (latest) }
                button type="submit" name="act" value="discard" { "Take version " (latest) " and discard yours" }
            }
            p.hint { "Going on opens your form again with everything that you typed. Review lists these changes once more before you save." }
        }
    };
    let title = format!("Saved meanwhile · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Edit, title, &main);
    Ok(page.reply())
}

/// Who saved a version, and when.
fn saved_by(change: &PrismChange, prism: &str) -> Markup {
    html! {
        @if let ChangeOfPrism::Version(number) = change.what {
            a href={ (prism) "/versions/" (number) } { "Version " (number) }
        }
        ", saved by "
        @match &change.actor { Some(name) => { bdi { (name) } } None => "the terminal" }
        ", " (moment(change.made_at))
    }
}

fn changes(found: &[VersionDifference]) -> Markup {
    html! { @if found.is_empty() { p { "Nothing." } } @else { (differences(found)) } }
}

fn wrong(problems: &Problems) -> Markup {
    html! {
        p { "Before yours can be saved, this is to be put right:" }
        ul.problems {
            @for problem in problems.as_slice() {
                li { (describe(&problem.path)) ": " (fault_sentence(&problem.error)) }
            }
        }
    }
}
