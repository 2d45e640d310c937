//! The page for the second of two people who edit at once: the version of the first beside the
//! draft of the second.

use actix_web::http::StatusCode;
use maud::html;
use refract_answering::prisms::{self, ChangeOfPrism};
use refract_domain::prism_file::PrismFile;
use refract_domain::version_difference::differences;

use super::editing::Editing;
use super::review_page::carried;
use crate::components::differences;
use crate::components::moment::moment;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::{PrismTab, prism_address, prism_heading};
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::Visit;

/// The page, with what each of the two changed against the version that both began with.
pub(crate) async fn show(visit: &Visit, editing: &Editing) -> Result<PageReply, PageRefusal> {
    let (database, account) = (visit.answering.database(), visit.account());
    let selector = visit.prism()?;
    let lens = prisms::find_lens(database, account, &selector).await?;
    let prism = &lens.prism;
    let based_on = editing.based_on.ok_or(PageRefusal::NoForm)?;
    let base = prisms::find_version(database, prism, based_on).await?;
    let theirs = differences(&base, &lens.latest, &lens.lens);
    let mine = PrismFile::read(&editing.draft.file(), None)
        .map(|file| differences(&base, &file.version, &lens.lens));
    let history = prisms::history(database, account, &selector).await?;
    let latest = prism.latest_version;
    let made = history
        .iter()
        .find(|change| change.what == ChangeOfPrism::Version(latest));
    let who = made.and_then(|change| change.made_by.as_ref());
    let main = html! {
        (prism_heading(prism, PrismTab::Edit, visit.visitor.role))
        (notice(NoticeKind::Refused, &html! {
            "Version " (latest) " was saved while you edited version " (based_on)
            ". Yours is not lost: it is kept on this page."
        }))
        div.split {
            section {
                h2 { "Version " (latest) ", saved by " @match who { Some(who) => { bdi { (who) } } None => { "the terminal" } } }
                @if let Some(made) = made { p { (moment(made.made_at)) } }
                (differences::differences(&theirs))
                p { a href={ (prism_address(prism)) "/versions/" (latest) } { "All of version " (latest) } }
            }
            section {
                h2 { "Yours, on top of version " (based_on) }
                @match &mine {
                    Ok(mine) => { (differences::differences(mine)) }
                    Err(problems) => { p { bdi { (problems) } } }
                }
            }
        }
        form method="post" action=(editing.address()) {
            (carried(editing))
            p { "Going on puts yours in place of theirs: what version " (latest) " changed and yours does not have is listed again before you save." }
            div.row {
                button.main type="submit" name="act" value="on_top" { "Go on with yours, on top of version " (latest) }
                a.button href=(editing.address()) { "Take version " (latest) " and drop yours" }
            }
        }
    };
    let page = visit.page("Saved meanwhile", main).section(Section::Prisms);
    Ok(page.status(StatusCode::CONFLICT).reply())
}
