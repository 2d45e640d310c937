//! The lens page as a whole.

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::lens::Lens;
use refract_domain::problem::{Problem, Problems};
use refract_evaluation::counting::LabelMoves;
use refract_service::lenses::{DraftRows, LensDraft, PrismLens};
use refract_service::prisms::PrismError;

use super::columns::Columns;
use super::history::{STATES, history};
use super::lens_form::{ColumnInput, LensForm};
use super::marks::{marked_answers, measured};
use super::notices::{IN_FORCE, lens_meanwhile};
use super::panel::{self, Panel, percent_cutoffs};
use super::preview::{changed_in_short, preview};
use super::state::{LensDraftForm, LensView, address, cutoffs_query};
use crate::components::{NoticeKind, PrismTab, moment, notice, prism_address};
use crate::replies::{PageError, PageReply};
use crate::requests::{Query, Visit};

/// Most names of people who may save.
const NAMED: usize = 5;

/// What a lens page shows.
pub(super) struct LensPage<'a> {
    pub(super) visit: &'a Visit,
    pub(super) lens: &'a PrismLens,
    pub(super) draft: &'a LensDraftForm,
    pub(super) view: &'a LensView,
    pub(super) notice: Option<Markup>,
    pub(super) status: StatusCode,
}

/// Parses a lens file by the rules for saving it, and counts it. Nothing is saved.
pub(super) async fn count_draft(
    visit: &Visit,
    form: &LensForm,
    rows: DraftRows,
) -> Result<Result<LensDraft, Problems>, PageError> {
    let selector = visit.prism()?;
    let (lenses, file) = (visit.refract.lenses(), form.file());
    match lenses.draft(visit.account(), &selector, &file, rows).await {
        Ok(draft) => Ok(Ok(draft)),
        Err(PrismError::Invalid(problems)) => Ok(Err(problems)),
        Err(refusal) => Err(refusal.into()),
    }
}

impl LensPage<'_> {
    /// The reply with the page.
    pub(super) async fn reply(self) -> Result<PageReply, PageError> {
        let (visit, lens) = (self.visit, self.lens);
        let rows = self.view.rows(&self.draft.form);
        let counted = count_draft(visit, &self.draft.form, rows).await?;
        let main = self.main(&counted, rows).await?;
        let title = format!("Lens · {}", lens.prism.name);
        let page = visit.prism_page(&lens.prism, PrismTab::Lens, title, &main);
        Ok(page.script("lens.js").status(self.status).reply())
    }

    async fn main(
        &self,
        counted: &Result<LensDraft, Problems>,
        rows: DraftRows,
    ) -> Result<Markup, PageError> {
        let (visit, form) = (self.visit, &self.draft.form);
        let problems = counted.as_ref().err().map_or(&[][..], Problems::as_slice);
        let page_address = format!("{}/lens", prism_address(&self.lens.prism));
        let may_change = visit.visitor.role.may(Role::Editor);
        let panel = self.panel(counted, problems).await?;
        let found = visit.refract.lenses();
        let selector = self.lens.prism.selector();
        let states = found.history(visit.account(), &selector, STATES).await?;
        Ok(html! {
            @if let Some(notice) = &self.notice { (notice) }
            @if may_change { (lens_meanwhile(&states, self.draft.based_on)) }
            @if !problems.is_empty() { (notice(NoticeKind::Warning, &html! { "This draft cannot be saved yet. " (faults(problems, form, &page_address)) })) }
            p.hint { "The lens turns stored probabilities into answers whenever a result is read, old ones too: no model is asked." }
            form #lens method="post" action=(page_address) data-preview={ (page_address) "/preview" }
                data-sample={ (page_address) "/sample" } {
                // the Enter key shows the draft
                button.unseen type="submit" name="act" value="preview" tabindex="-1" aria-hidden="true" { "Preview" }
                input type="hidden" name="revision" value=(self.draft.based_on);
                input type="hidden" name=(IN_FORCE) value=(self.lens.prism.lens_revision);
                input type="hidden" name="draft" value=(self.draft.revision.number());
                @if self.view.is_newest { input type="hidden" name="show" value="newest"; }
                (panel)
                section #preview aria-label="Stored results" {
                    @if let Ok(draft) = counted { (preview(draft, rows, form)) }
                }
                (self.columns(counted, problems, &page_address, may_change))
                (self.save_bar(counted, problems, &page_address, may_change).await?)
            }
            (history(&states, may_change))
        })
    }

    async fn panel(
        &self,
        counted: &Result<LensDraft, Problems>,
        problems: &[Problem],
    ) -> Result<Markup, PageError> {
        let form = &self.draft.form;
        let (marked, cutoffs) = match form.chosen_column() {
            None => (None, None),
            Some(column) => {
                let marked = marked_answers(self.visit, self.lens, column.question());
                (marked.await?, percent_cutoffs(column))
            }
        };
        // a draft that breaks rules has the counts of the lens
        let of_lens = if counted.is_ok() {
            None
        } else {
            let columns = self.lens.columns().lens;
            let lenses = self.visit.refract.lenses();
            let counting = lenses.draft_of(self.lens.clone(), columns, DraftRows::Newest);
            Some(counting.await?)
        };
        let question = form.chosen_column().map(ColumnInput::question);
        let query = Query::default().with("question", question).in_address();
        let quality = format!("{}/quality{query}", prism_address(&self.lens.prism));
        let panel = Panel {
            lens: self.lens,
            form,
            problems,
            moves: match (counted, &of_lens) {
                (Ok(draft), _) => moves_at(draft, form.chosen()),
                (Err(_), Some(of_lens)) => moves_named(of_lens, form),
                (Err(_), None) => None,
            },
            measured: measured(marked.as_ref(), cutoffs, self.view, &quality),
        };
        Ok(panel.draw())
    }

    fn columns(
        &self,
        counted: &Result<LensDraft, Problems>,
        problems: &[Problem],
        address: &str,
        may_change: bool,
    ) -> Markup {
        let is_custom = *self.lens.lens != Lens::Automatic;
        let columns = Columns {
            lens: self.lens,
            form: &self.draft.form,
            problems,
            draft: counted.as_ref().ok(),
            reset: html! {
                @if is_custom {
                    button.quiet type="submit" formaction={ (address) "/reset" } { "Reset to automatic" }
                }
            },
        };
        if may_change {
            columns.fold()
        } else {
            columns.for_readers()
        }
    }

    /// What the draft changes and the button that saves it, always in sight.
    async fn save_bar(
        &self,
        counted: &Result<LensDraft, Problems>,
        problems: &[Problem],
        page_address: &str,
        may_change: bool,
    ) -> Result<Markup, PageError> {
        let form = &self.draft.form;
        let link = address(&self.lens.prism, &cutoffs_query(self.lens, form));
        let names = if may_change {
            Vec::new()
        } else {
            self.who_may_save().await?
        };
        Ok(html! {
            div.save-bar {
                p #changed-results aria-live="polite" {
                    @if let Ok(draft) = counted { (changed_in_short(draft)) }
                    @else { span.fault { (faults(problems.get(..1).unwrap_or_default(), form, page_address)) } }
                }
                button type="submit" name="act" value="preview" { "Preview" }
                @if may_change {
                    div.saving {
                        label.unseen for="note" { "Why, for the history" }
                        input #note name="note" type="text" maxlength="1000" dir="auto" autocomplete="off" placeholder="Why (optional)" value=(form.note);
                        button.main type="submit" formaction={ (page_address) "/save" } { "Save the lens" }
                    }
                } @else {
                    p.soft { "Nobody sees this draft but you. To save it, send the link to an editor or an owner" @if !names.is_empty() { ": " bdi { (names.join(", ")) } } "." }
                }
                p.drafted {
                    @if may_change {
                        span #drafted hidden[self.draft.saved_at.is_none()] {
                            "Draft kept " span #drafted-at { @if let Some(at) = self.draft.saved_at { (moment(at)) } } " "
                            button.quiet type="submit" formaction={ (page_address) "/discard" } { "Discard" }
                        }
                    }
                    @if form.chosen().is_some() { a #draft-link href=(link) { "Link to these cutoffs" } }
                }
            }
        })
    }

    /// The names of the people who may save.
    async fn who_may_save(&self) -> Result<Vec<String>, PageError> {
        let people = self.visit.refract.people();
        let people = people.list(self.visit.account()).await?.into_iter();
        let may = people.filter(|person| person.role.may(Role::Editor));
        Ok(may.filter_map(|person| person.name).take(NAMED).collect())
    }
}

fn moves_at(draft: &LensDraft, place: Option<usize>) -> Option<&LabelMoves> {
    draft.preview.columns.get(place?)?.moves.as_ref()
}

/// The counts of the column with the name of the one in the middle.
fn moves_named<'a>(draft: &'a LensDraft, form: &LensForm) -> Option<&'a LabelMoves> {
    let name = form.chosen_column()?.name.trim();
    let mut columns = draft.preview.columns.iter();
    let column = columns.find(|column| column.after.column.name.as_str() == name);
    column?.moves.as_ref()
}

/// What is wrong with a draft, each fault with the column that has it: a link where that is another one
/// than the one in the middle.
pub(super) fn faults(problems: &[Problem], form: &LensForm, page: &str) -> Markup {
    let named = |problem: &Problem| {
        let place = panel::place_of(problem);
        let column = place.and_then(|place| form.columns.get(place));
        let name = column.map(|column| panel::chosen_name(column).to_owned());
        (place.zip(name), panel::fault_message(problem))
    };
    let mut faults: Vec<_> = problems.iter().map(named).collect();
    faults.dedup();
    html! {
        @for (column, words) in &faults {
            @if let Some((place, name)) = column {
                @let choice = if form.columns.get(*place).is_some_and(ColumnInput::is_label) { "column" } else { "open" };
                @if Some(*place) == form.chosen() { bdi { (name) } ": " }
                @else { a href={ (page) "?" (choice) "=" (place) } { bdi { (name) } } ": " }
            }
            bdi { (words) } " "
        }
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::problem::ValidationError;

    use super::*;

    #[test]
    fn a_fault_of_a_column_out_of_sight_is_named_with_a_link() {
        let column = |name: &str, shows: &str| ColumnInput {
            name: name.to_owned(),
            shows: shows.to_owned(),
            ..ColumnInput::default()
        };
        let form = LensForm {
            columns: vec![
                column("", "angry/label"),
                column("vip", "vip/label"),
                column("", "topic/top"),
            ],
            ..LensForm::default()
        };
        let form = form.with_view("", "");
        let reported = |path: &str| {
            let error = ValidationError::rule("must be greater than no_below");
            let problems = Problems::one(path, error);
            faults(problems.as_slice(), &form, "/lens").into_string()
        };
        let words = ": <bdi>Yes cannot start below where No ends.</bdi> ";
        for (path, name) in [
            ("columns.0.yes_from", "<bdi>angry</bdi>"),
            (
                "columns.1.yes_from",
                "<a href=\"/lens?column=1\"><bdi>vip</bdi></a>",
            ),
            (
                "columns.2.name",
                "<a href=\"/lens?open=2\"><bdi>topic</bdi></a>",
            ),
        ] {
            assert_eq!(reported(path), format!("{name}{words}"), "{path}");
        }
        let whole = "<bdi>A lens needs a column: add one.</bdi> ";
        assert_eq!(reported("columns"), whole);
    }
}
