//! What was found in an uploaded file, and which of its columns the run reads.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::prism::Field;
use refract_domain::result::FileRunState;
use refract_file_runs::{KeptOutline, WorkbookSheets};
use refract_service::runs::StoredMapping;

use super::run_view::RunView;
use crate::components::{FormField, clamped, count, counted, run_address, table_with};
use crate::pages::uploaded_file::{outline_of, unreadable};
use crate::replies::PageError;
use crate::requests::{Form, Visit};

/// The most columns that are shown.
const COLUMNS: usize = 12;
/// The most characters of a cell.
const CELL: usize = 80;
/// The name of the input for the sheet of a workbook.
pub(super) const SHEET: &str = "sheet";
/// The name of the checkbox that leaves out the hidden rows of a sheet.
pub(super) const SKIPS_HIDDEN: &str = "skip_hidden";
/// The prefix of the inputs for columns, before the key of the field.
const INPUT: &str = "column.";

/// The first rows, and the form that matches columns.
pub(super) async fn section(visit: &Visit, view: &RunView) -> Result<Markup, PageError> {
    let run = &view.run;
    let Some(upload) = run.upload else {
        return Ok(html! { p { "The file is deleted. Upload it again to run it." } });
    };
    let outline = match outline_of(visit, upload, &run.file_name).await? {
        Ok(outline) => outline,
        Err(error) => return Ok(html! { p.fault { (unreadable(&error)) } }),
    };
    let prisms = visit.refract.prisms();
    let version = prisms.find_version(&view.lens.prism, run.version).await?;
    let mapped: HashMap<_, _> = run
        .mappings
        .iter()
        .map(|it| (it.field.as_str(), it.column.as_str()))
        .collect();
    let column_of = |field: &str| -> String {
        let same = outline.header.iter().find(|name| *name == field);
        let column = mapped.get(field).map(|column| (*column).to_owned());
        column.or_else(|| same.cloned()).unwrap_or_default()
    };
    let sheets = outline.sheets.as_ref();
    let sheets = sheets.filter(|it| it.names.len() > 1 || it.hidden_rows > 0);
    let has_choice = sheets.is_some() && view.is_editor && has_sheet_choice(visit, view).await?;
    Ok(html! {
        (found(&outline))
        @if let Some(sheets) = sheets.filter(|_| has_choice) { (sheet_choice(view, sheets)) }
        (first_rows(&outline))
        @if view.is_editor {
            form.narrow method="post" action={ (run_address(run.id)) "/check" } {
                h3 { "Which column is what?" }
                @for field in version.fields() {
                    (choice(field.key.as_str(), field.label.as_str(), "", &column_of(field.key.as_str()), &outline))
                }
                details open[mapped.contains_key("ref") || mapped.contains_key("context")] {
                    summary { "A ref or a context for each row" }
                    (choice("ref", "Ref", "An id of yours, by which a result is found again.", &column_of("ref"), &outline))
                    (choice("context", "Context", "What else is to be known about the text of the row.", &column_of("context"), &outline))
                }
                button.main type="submit" { "Read the file" }
                p.hint { "Reads every row, and says what would be refused and what the rest costs. Nothing is asked yet." }
            }
        }
    })
}

/// Whether another sheet of the workbook may be chosen: not once another run reads the file.
pub(super) async fn has_sheet_choice(visit: &Visit, view: &RunView) -> Result<bool, PageError> {
    let is_matched = matches!(
        view.run.state,
        FileRunState::Matching | FileRunState::Broken
    );
    let others = visit.refract.runs();
    let others = others.runs_of_same_file(visit.account(), &view.run).await?;
    Ok(is_matched && others.iter().all(|other| other.upload != view.run.upload))
}

fn sheet_choice(view: &RunView, sheets: &WorkbookSheets) -> Markup {
    let input = FormField::new(SHEET, "Sheet").value(&sheets.read);
    let options = html! {
        @for name in &sheets.names { (input.option(name, &clamped(name, CELL))) }
    };
    html! {
        form.row method="post" action={ (run_address(view.run.id)) "/check" } {
            (input.select(&options))
            @if sheets.hidden_rows > 0 {
                label {
                    input type="checkbox" name=(SKIPS_HIDDEN) checked[sheets.skips_hidden_rows];
                    " without its " (counted(sheets.hidden_rows, "hidden or filtered row"))
                }
            }
            button type="submit" { "Show this sheet" }
        }
    }
}

/// The form of the columns as mappings. A column of a field's own name needs none.
pub(super) fn mappings(form: &Form) -> Vec<StoredMapping> {
    let chosen = form.values().filter_map(|(name, column)| {
        let field = name.strip_prefix(INPUT)?;
        let is_chosen = !column.is_empty() && column != field;
        is_chosen.then(|| StoredMapping {
            column: column.to_owned(),
            field: field.to_owned(),
        })
    });
    chosen.collect()
}

/// Which fields of the version have no column in the form, by their names; empty for none.
pub(super) async fn lacking(visit: &Visit, view: &RunView) -> Result<String, PageError> {
    let prisms = visit.refract.prisms();
    let version = prisms.find_version(&view.lens.prism, view.run.version);
    let version = version.await?;
    let form = &visit.sent.form;
    let is_none = |field: &&Field| {
        let input = format!("{INPUT}{}", field.key);
        form.has(&input) && form.get(&input).is_empty()
    };
    let lacking = version.fields().iter().filter(is_none);
    let lacking: Vec<_> = lacking.map(|field| format!("“{}”", field.label)).collect();
    if lacking.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(
        "Choose a column for {}: every row needs it.",
        lacking.join(" and ")
    ))
}

/// The columns that have a name, by which one can be chosen.
fn named_columns(outline: &KeptOutline) -> impl Iterator<Item = &String> {
    let names = outline.header.iter();
    names.filter(|name| !name.trim().is_empty())
}

/// How the file was read.
fn found(outline: &KeptOutline) -> Markup {
    let mut named = named_columns(outline);
    let only = named.next().filter(|_| named.next().is_none());
    html! {
        p {
            "Read as " (outline.description) ", with " (counted(outline.columns, "column")) "."
            @if let Some(name) = only { " Its first line, “" bdi { (clamped(name, CELL)) } "”, is taken for the name of a column, and every further line for a row: is it a table?" }
        }
    }
}

fn first_rows(outline: &KeptOutline) -> Markup {
    let hidden = outline.columns.saturating_sub(COLUMNS);
    let headings = html! {
        tr { @for name in outline.header.iter().take(COLUMNS) { th scope="col" { bdi { (clamped(name, CELL)) } } } }
    };
    let rows = html! {
        @for row in &outline.rows {
            tr { @for cell in row.iter().take(COLUMNS) { td { div.text dir="auto" { (clamped(cell, CELL)) } } } }
        }
    };
    html! {
        (table_with("The first rows of the file", &headings, &rows))
        @if hidden > 0 { p.hint { "And " (count(hidden)) " more columns." } }
    }
}

fn choice(field: &str, label: &str, hint: &str, column: &str, outline: &KeptOutline) -> Markup {
    let name = format!("{INPUT}{field}");
    let input = FormField::new(&name, label).hint(hint).value(column);
    let options = html! {
        (input.option("", "(none)"))
        @for column in named_columns(outline) { (input.option(column, &clamped(column, CELL))) }
    };
    input.select(&options)
}
