//! `/prisms/{slug}/lens/changed`: every stored result that the draft of a lens changes, in pages and as
//! a file.

use maud::{Markup, html};
use refract_authoring::lens_file;
use refract_domain::lens::Column;
use refract_lens_rendering::write_csv_line;
use refract_service::lenses::{DRAFT_ROWS, DraftRows, LensDraftRow, PrismLens};

use super::lens_form::{ALSO, LensForm};
use super::preview::{changed_in_short, changed_rows};
use super::state;
use super::state::address;
use crate::components::{PrismTab, count, prism_address};
use crate::replies::{PageError, PageReply};
use crate::requests::{Query, Visit};

/// A page of changed results, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangedPage(u32);

impl ChangedPage {
    /// The page of an address; the first one without a number.
    pub(super) fn of(query: &Query) -> Self {
        let page = query.get("page").and_then(|page| page.parse().ok());
        Self(page.unwrap_or(1).max(1))
    }

    /// How many results are on the pages before.
    pub(super) fn skip(self) -> u32 {
        (self.0 - 1).saturating_mul(DRAFT_ROWS)
    }

    /// Which of `all` results are on the page at `path`, the ways to the others, and the `file` with
    /// all of them.
    pub(super) fn links(
        self,
        path: &str,
        file: &str,
        query: &[(&'static str, String)],
        all: u64,
    ) -> Markup {
        let first = u64::from(self.skip()) + 1;
        let last = all.min(u64::from(self.skip()) + u64::from(DRAFT_ROWS));
        let query = query.iter();
        let query = query.fold(Query::default(), |query, (name, value)| {
            query.with(name, Some(value))
        });
        let page = |number: u32| {
            let number = number.to_string();
            format!("{path}{}", query.with("page", Some(&number)).in_address())
        };
        html! {
            @if all > 0 {
                nav.row aria-label="Pages of changed results" {
                    @if first <= last { span.soft { (count(first)) " to " (count(last)) " of " (count(all)) } }
                    @if self.0 > 1 { a.button rel="prev" href=(page(self.0 - 1)) { "Nearer" } }
                    @if last < all { a.button rel="next" href=(page(self.0.saturating_add(1))) { "Farther" } }
                    a href={ (path) (file) (query.in_address()) } { "Download all " (count(all)) " (CSV)" }
                }
            }
        }
    }
}

/// Shows a page of the results that the visitor's draft, or the cutoffs of the address, change.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let draft = ChangedByDraft::find(&visit).await?;
    let page = ChangedPage::of(&visit.sent.query);
    let near = draft.form.chosen();
    let rows = DraftRows::Changed {
        near,
        skip: page.skip(),
    };
    let lenses = visit.refract.lenses();
    let counted = lenses.draft_of(draft.lens.clone(), &draft.columns, rows);
    let counted = counted.await?;
    let prism = &draft.lens.prism;
    let path = format!("{}/lens/changed", prism_address(prism));
    let main = html! {
        h2 { "What the draft changes" }
        p { (changed_in_short(&counted)) ". Nothing is saved yet." }
        (changed_rows(&counted, near))
        (page.links(&path, ".csv", &draft.query, counted.preview.changed_results))
        p { a.button href=(address(prism, &draft.query)) { "Back to the lens" } }
    };
    let title = format!("Changed by the draft · {}", prism.name);
    let page = visit.prism_page(prism, PrismTab::Lens, title, &main);
    Ok(page.reply())
}

/// Sends every result that the draft changes as a CSV file.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let draft = ChangedByDraft::find(&visit).await?;
    let name = format!("{}-lens-draft-changed.csv", draft.lens.prism.slug);
    let near = draft.form.chosen();
    changed_file(&visit, draft.lens, &draft.columns, near, &name).await
}

/// The draft of a visitor.
struct ChangedByDraft {
    lens: PrismLens,
    form: LensForm,
    columns: Vec<Column>,
    /// The query that shows it.
    query: Vec<(&'static str, String)>,
}

impl ChangedByDraft {
    /// The draft with the view of the address; not found for one that breaks rules.
    async fn find(visit: &Visit) -> Result<Self, PageError> {
        let lens = visit.find_lens().await?;
        let sent = &visit.sent.query;
        let form = state::find(visit, &lens).await?.form;
        let text = |name| sent.get(name).unwrap_or_default();
        let form = form
            .with_view(text("column"), text("open"))
            .with_cutoffs_of(sent);
        let columns = lens_file::read(&form.file(), &lens.latest);
        let columns = columns.map_err(|_| PageError::NotFound)?;
        let names = ["column", "question", "no_below", "yes_from", ALSO].into_iter();
        let query = names.filter_map(|name| Some((name, sent.get(name)?.to_owned())));
        Ok(Self {
            query: query.collect(),
            lens,
            form,
            columns,
        })
    }
}

/// A file with a row for each changed cell of every changed result.
pub(super) async fn changed_file(
    visit: &Visit,
    lens: PrismLens,
    columns: &[Column],
    near: Option<usize>,
    name: &str,
) -> Result<PageReply, PageError> {
    let mut file = Vec::new();
    let mut line = |cells: [&str; 5]| {
        // writing into memory cannot fail
        let _ = write_csv_line(cells, &mut file);
    };
    line(["result", "ref", "column", "before", "after"]);
    let names: Vec<_> = columns.iter().map(|it| it.name.as_str()).collect();
    let each = |row: &LensDraftRow| {
        let view = row.result.view();
        let id = view.id.to_string();
        let reference = view.reference.unwrap_or_default();
        let cells = names.iter().zip(&row.cells);
        for (column, cell) in cells.filter(|(_, cell)| cell.is_changed) {
            let before = cell.now.as_deref().unwrap_or_default();
            line([&id, reference, column, before, &cell.text]);
        }
    };
    let lenses = visit.refract.lenses();
    lenses.changed_results(lens, columns, near, each).await?;
    Ok(PageReply::file(name, "text/csv; charset=utf-8", file))
}
