//! The columns of a lens as a fold: a line for each, and the inputs of one at a time.

use maud::{Markup, html};
use refract_domain::lens::{Lens, Output};
use refract_domain::problem::Problem;
use refract_service::lenses::{LensDraft, PrismLens};

use super::lens_form::{ColumnInput, LensForm};
use super::panel::{self, QUESTION, chosen_name, question_of};
use crate::components::{FormField, clamped};

/// What the fold shows.
pub(super) struct Columns<'a> {
    pub(super) lens: &'a PrismLens,
    pub(super) form: &'a LensForm,
    pub(super) problems: &'a [Problem],
    /// The draft, if it breaks no rule.
    pub(super) draft: Option<&'a LensDraft>,
    /// The button that makes the lens automatic; empty if it is, or for a reader.
    pub(super) reset: Markup,
}

impl Columns<'_> {
    /// The fold, open while somebody works in it. A reader's has no inputs.
    pub(super) fn fold(&self) -> Markup {
        let has_fault = self.problems.iter().any(|problem| !is_of_cutoffs(problem));
        let is_open = has_fault || self.form.open().is_some();
        html! {
            details.columns #columns open[is_open] {
                summary { h2 { "Columns" } " " span.soft { (self.in_short()) } " " (self.tag()) }
                p.hint {
                    @if self.is_automatic() { "One column for each question, which follows the prism. A change that you save makes the lens custom: then its columns stay until somebody changes them." }
                    @else { "Each column shows one thing of the answer to a question. Without a name it is named after the question." }
                 }
                (self.dropped())
                ol.lens-columns {
                    @for (place, column) in self.form.columns.iter().enumerate() {
                        li #{ "columns." (place) } { (self.column(place, column)) }
                    }
                }
                (self.adding())
                (self.reset)
            }
        }
    }

    /// The columns as hidden inputs and a list, for somebody who may not change them.
    pub(super) fn for_readers(&self) -> Markup {
        html! {
            details.columns #columns {
                summary { h2 { "Columns" } " " span.soft { (self.in_short()) } " " (self.tag()) }
                ol.lens-columns {
                    @for (place, column) in self.form.columns.iter().enumerate() {
                        li { (hidden(place, column)) (self.line(column)) }
                    }
                }
            }
        }
    }

    fn is_automatic(&self) -> bool {
        *self.lens.lens == Lens::Automatic
    }

    fn tag(&self) -> Markup {
        let words = if self.is_automatic() {
            "automatic"
        } else {
            "custom"
        };
        html! { span.tag { (words) } }
    }

    fn in_short(&self) -> String {
        let columns = self.form.columns.len();
        let plural = if columns == 1 { "" } else { "s" };
        format!("{columns} column{plural}")
    }

    /// The columns of the lens in force that the draft lacks.
    fn dropped(&self) -> Markup {
        let dropped = self.draft.map_or(&[][..], |draft| &draft.preview.dropped);
        html! {
            @if !dropped.is_empty() {
                p.dropped {
                    "Saving takes away: "
                    @for (place, column) in dropped.iter().enumerate() {
                        @if place > 0 { ", " }
                        code { (column.name) }
                    }
                    "."
                }
            }
        }
    }

    fn column(&self, place: usize, column: &ColumnInput) -> Markup {
        let own = format!("columns.{place}.");
        let is_own = |problem: &&Problem| problem.path.starts_with(&own);
        let has_fault = self
            .problems
            .iter()
            .filter(is_own)
            .any(|it| !is_of_cutoffs(it));
        if !column.is_open && !has_fault {
            return html! {
                (hidden(place, column))
                (self.line(column))
                button.quiet type="submit" name="act" value={ "open." (place) } {
                    "Open" span.unseen { " column " (place + 1) }
                }
            };
        }
        let last = self.form.columns.len().saturating_sub(1);
        html! {
            @if !column.is_chosen { (cutoff_inputs(place, column)) }
            @if column.is_open { input type="hidden" name="open" value=(place); }
            div.column-inputs {
                (self.name(place, column))
                (self.shows(place, column))
                (rearranging(place, last))
            }
        }
    }

    /// A column in a line.
    fn line(&self, column: &ColumnInput) -> Markup {
        let output = column.shows.split_once('/');
        let output = output.map_or("", |(_, output)| output);
        html! {
            b { bdi { (chosen_name(column)) } } " "
            span.soft {
                bdi { (column.question()) } " " (output)
                @if column.is_label() && column.has_band() { ", No below " (column.no_below) " %" }
                @if column.is_label() { ", Yes from " (column.yes_from) " %" }
                @if let Some(question) = question_of(self.lens, column) { " · " bdi { (clamped(&question.text, QUESTION)) } }
            }
        }
    }

    fn name(&self, place: usize, column: &ColumnInput) -> Markup {
        let id = format!("columns.{place}.name");
        let field = FormField::new(&id, "Name").value(&column.name);
        let error = panel::faults_at(self.problems, &[&id, &format!("columns.{place}")]);
        field.error(error).line("text", "off")
    }

    /// The select of what a column shows of its question.
    fn shows(&self, place: usize, column: &ColumnInput) -> Markup {
        let id = format!("columns.{place}.shows");
        let paths = ["question", "output"].map(|name| format!("columns.{place}.{name}"));
        let field = FormField::new(&id, "Shows");
        let field = field.error(panel::faults_at(self.problems, &[&paths[0], &paths[1]]));
        let questions = self.lens.latest.questions().iter();
        let mut own = questions.filter(|question| question.key.as_str() == column.question());
        let options = html! {
            @if let Some(question) = own.next() {
                @for output in Output::names(question.question_type()) {
                    @let value = format!("{}/{output}", question.key);
                    option value=(value) selected[value == column.shows] { (question.key) ": " (output) }
                }
            } @else {
                option value=(column.shows) selected { (column.shows) }
            }
        };
        field.select(&options)
    }

    /// The inputs that add a column.
    fn adding(&self) -> Markup {
        html! {
            div.row {
                label for="add" { "Another column, of" }
                select.short #add name="add" {
                    @for question in self.lens.latest.questions() {
                        option value=(question.key) { (question.key) " · " (clamped(&question.text, QUESTION)) }
                    }
                }
                button type="submit" name="act" value="add" { "Add" }
            }
        }
    }
}

/// Whether a problem is shown beside the histogram.
fn is_of_cutoffs(problem: &Problem) -> bool {
    problem.path.ends_with(".no_below") || problem.path.ends_with(".yes_from")
}

fn cutoff_inputs(place: usize, column: &ColumnInput) -> Markup {
    html! {
        @if column.is_label() {
            input type="hidden" name={ "columns." (place) ".no_below" } value=(column.no_below);
            input type="hidden" name={ "columns." (place) ".yes_from" } value=(column.yes_from);
        }
    }
}

/// A column that is not open: its values travel along. The cutoffs of the column in the middle
/// have inputs there.
fn hidden(place: usize, column: &ColumnInput) -> Markup {
    html! {
        @if !column.name.is_empty() {
            input type="hidden" name={ "columns." (place) ".name" } value=(column.name);
        }
        input type="hidden" name={ "columns." (place) ".shows" } value=(column.shows);
        @if !column.is_chosen { (cutoff_inputs(place, column)) }
    }
}

/// The buttons that move and remove a column.
fn rearranging(place: usize, last: usize) -> Markup {
    html! {
        div.row {
            button type="submit" name="act" value={ "up." (place) } disabled[place == 0] {
                "Up" span.unseen { ": column " (place + 1) }
            }
            button type="submit" name="act" value={ "down." (place) } disabled[place == last] {
                "Down" span.unseen { ": column " (place + 1) }
            }
            button.quiet type="submit" name="act" value={ "remove." (place) } {
                "Remove" span.unseen { " column " (place + 1) }
            }
            button type="submit" name="act" value="close" {
                "Close" span.unseen { " column " (place + 1) }
            }
        }
    }
}
