//! Pagination of a list, and its downloads.

use std::fmt::Display;

use maud::{Markup, html};
use refract_file_runs::OutputFormat;
use refract_lens_rendering::{RowFormat, TableStyle};

use crate::replies::PageError;
use crate::requests::Query;

/// The query parameter of the page with the items older than an id.
pub(crate) const OLDER: &str = "older";
/// The query parameter of the page with the items newer than an id.
pub(crate) const NEWER: &str = "newer";

/// The page of a list that an address names; `None` for the newest page.
///
/// # Errors
/// [`PageError::NotFound`] for an invalid id.
pub(crate) fn page_of<I, P>(
    query: &Query,
    parse: impl FnOnce(&str) -> Option<I>,
    older: impl FnOnce(I) -> P,
    newer: impl FnOnce(I) -> P,
) -> Result<Option<P>, PageError> {
    let page = match (query.get(OLDER), query.get(NEWER)) {
        (Some(id), _) => parse(id).map(older),
        (None, Some(id)) => parse(id).map(newer),
        (None, None) => return Ok(None),
    };
    page.map(Some).ok_or(PageError::NotFound)
}

/// The address of the page older or newer than an item; `None` without an item. `side` is [`OLDER`]
/// or [`NEWER`].
pub(crate) fn page_address(
    address: &str,
    query: &Query,
    side: &str,
    id: Option<impl Display>,
) -> Option<String> {
    let query = query.with(side, Some(&id?.to_string()));
    Some(format!("{address}{}", query.in_address()))
}

/// Links to the newer and the older page.
pub(crate) fn neighbours(words: &str, newer: Option<String>, older: Option<String>) -> Markup {
    html! {
        @if newer.is_some() || older.is_some() {
            nav.row aria-label=(words) {
                @if let Some(newer) = newer { a.button href=(newer) rel="prev" { "Newer" } }
                @if let Some(older) = older { a.button href=(older) rel="next" { "Older" } }
            }
        }
    }
}

/// The formats of rows of text, each with its name for people.
pub(crate) const TEXT_FORMATS: [(&str, &str); 3] =
    [("csv", "csv"), ("tsv", "tsv"), ("jsonl", "jsonl")];

/// Links that download the filtered list, one for each of these file formats.
pub(crate) fn downloads(query: &Query, address: &str, formats: &[(&str, &str)]) -> Markup {
    html! {
        p.row {
            span { "Download just these:" }
            @for (format, name) in formats {
                @let query = query.with("format", Some(format));
                a href={ (address) "/download" (query.in_address()) } download { (name) }
            }
        }
    }
}

/// The file format that an address names; CSV by default.
///
/// # Errors
/// [`PageError::NotFound`] for an unknown format.
pub(crate) fn row_format(query: &Query) -> Result<RowFormat, PageError> {
    let format = query.get("format").unwrap_or("csv");
    RowFormat::parse(format).ok_or(PageError::NotFound)
}

/// The file format that an address names, which may be one of cells with types; CSV by default.
///
/// # Errors
/// [`PageError::NotFound`] for an unknown format.
pub(crate) fn output_format(query: &Query) -> Result<OutputFormat, PageError> {
    let format = query.get("format").unwrap_or("csv");
    OutputFormat::parse(format).ok_or(PageError::NotFound)
}

/// The query parameter of the spreadsheet that a table is for.
const MARK: &str = "mark";

/// For which spreadsheet an address wants csv and tsv.
pub(crate) fn table_style(query: &Query) -> TableStyle {
    match query.get(MARK) {
        Some("bom") => TableStyle::Excel,
        Some("commas") => TableStyle::ExcelWithCommas,
        _ => TableStyle::Plain,
    }
}

/// A choice of the spreadsheet that csv and tsv are for.
pub(crate) fn table_style_choice() -> Markup {
    html! {
        label {
            "csv and tsv only: "
            select.short name=(MARK) {
                option value="" { "for programs" }
                option value="bom" { "for Excel" }
                option value="commas" { "csv for Excel with decimal commas" }
            }
        }
    }
}

/// The media type of a file of any format.
pub(crate) fn output_media_type(format: OutputFormat) -> &'static str {
    match format {
        OutputFormat::Rows(format) => media_type(format),
        OutputFormat::Parquet => "application/vnd.apache.parquet",
        OutputFormat::Workbook => {
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        }
    }
}

/// The media type of a file of rows.
pub(crate) fn media_type(format: RowFormat) -> &'static str {
    match format {
        RowFormat::Csv => "text/csv; charset=utf-8",
        RowFormat::Tsv => "text/tab-separated-values; charset=utf-8",
        RowFormat::Jsonl => "application/jsonl; charset=utf-8",
    }
}
