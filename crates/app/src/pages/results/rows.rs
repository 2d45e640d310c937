//! The results as rows of a table: the fields and the columns of the lens.

use maud::{Markup, html};
use refract_domain::lens::Value;
use refract_domain::result::ResultStatus;
use refract_lens_rendering::cell_text;
use refract_service::lenses::PrismLens;
use refract_service::results::FoundRow;

use super::actors::ResultActors;
use crate::components::clamped::clamped;
use crate::components::moment::moment;
use crate::components::table::stacked_table_with;

/// The maximum length of all field texts of a row together, and the minimum for each, in
/// characters.
const TEXTS: usize = 300;
const FEWEST: usize = 40;
/// The most characters of any other cell.
const CELL: usize = 120;

/// The table.
pub(super) fn rows(lens: &PrismLens, results: &[FoundRow], actors: &ResultActors) -> Markup {
    let columns = lens.columns();
    let headings = html! {
        tr {
            @for heading in ["When", "Ref", "Status", "Version"] { th scope="col" { (heading) } }
            @for field in columns.fields { th scope="col" { bdi { (field.label.as_str()) } } }
            @for column in columns.lens { th scope="col" { bdi { (column.name.as_str()) } } }
            th scope="col" { "Made by" }
        }
    };
    let rows = html! { @for found in results { (row(lens, found, actors)) } };
    stacked_table_with("Results, newest first", &headings, &rows)
}

fn row(lens: &PrismLens, found: &FoundRow, actors: &ResultActors) -> Markup {
    let columns = lens.columns();
    let view = found.result.view();
    let each = TEXTS.checked_div(columns.fields.len()).unwrap_or(TEXTS);
    let each = each.max(FEWEST);
    html! {
        tr {
            th scope="row" { a href={ "/results/" (view.id) } { (moment(view.created_at)) } }
            td data-label="Ref" { bdi { (clamped(view.reference.unwrap_or_default(), CELL)) } }
            td data-label="Status" {
                @let is_failed = view.status.error().is_some();
                span.failed[is_failed].soft[!is_failed] { (view.status.name()) }
                @if let ResultStatus::Failed { error } = view.status {
                    @if let Some(retry) = found.retried_as {
                        ", " a href={ "/results/" (retry) } { "retried" }
                    }
                    div.text.soft dir="auto" { (clamped(error, CELL)) }
                }
            }
            td.number data-label="Version" { (view.version) }
            @for field in columns.fields {
                td { div.text dir="auto" { (clamped(view.field(&field.key).unwrap_or_default(), each)) } }
            }
            @for (column, value) in columns.lens.iter().zip(view.values(columns.lens)) {
                @let is_number = matches!(value, Value::Probability(_) | Value::Average(_) | Value::Position(_));
                td.number[is_number] data-label=(column.name.as_str()) { bdi { (clamped(&cell_text(value), CELL)) } }
            }
            td data-label="Made by" { bdi { (clamped(actors.name(found.actor), CELL)) } }
        }
    }
}
