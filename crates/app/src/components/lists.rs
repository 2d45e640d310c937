//! Lists: their filters, parsed from an address; their pages and downloads; and HTML tables, which
//! scroll within the page when they are too wide.

use std::fmt::Display;

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use refract_domain::problem::ValidationError;
use refract_file_runs::OutputFormat;
use refract_lens_rendering::{RowFormat, TableStyle};

use super::form_fields::{FormErrors, FormField};
use crate::replies::PageError;
use crate::requests::{Day, NO_DAY, Query};

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

/// The parsed filters of a list, with their validation errors.
pub(crate) struct ListFilters<F> {
    pub(crate) filter: F,
    /// The query of the filters, without blank values and without the parameters of the page.
    pub(crate) query: Query,
    errors: FormErrors,
}

impl<F: Default + PartialEq> ListFilters<F> {
    /// Filters that select everything. `names` are the query parameters of the filters, which are
    /// also the names of the form's inputs.
    pub(crate) fn unread(query: &Query, names: &[&str]) -> Self {
        let values = names
            .iter()
            .flat_map(|name| query.all(name).map(move |value| (name, value)));
        let own = values.fold(Query::default(), |own, (name, value)| own.and(name, value));
        Self {
            filter: F::default(),
            query: own,
            errors: FormErrors::default(),
        }
    }

    /// Parses the filter `name`; a value that cannot be parsed gets the validation error `error`.
    pub(crate) fn read_one<T>(
        &mut self,
        name: &str,
        error: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let found = read(self.query.get(name)?);
        if found.is_none() {
            self.errors.note(name, error);
        }
        found
    }

    /// Parses every value of the filter `name`; a value that cannot be parsed gets the validation
    /// error `error`.
    pub(crate) fn read_all<T>(
        &mut self,
        name: &str,
        error: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let values: Vec<_> = self.query.all(name).map(read).collect();
        if values.iter().any(Option::is_none) {
            self.errors.note(name, error);
        }
        values.into_iter().flatten().collect()
    }

    /// Parses the filter `name` with a parser that returns its own validation errors.
    pub(crate) fn read_by_rules<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, Vec<ValidationError>>,
    ) -> Option<T> {
        let value = self.query.get(name)?;
        self.errors.read(name, value, read(value))
    }

    /// Parses the period from the filters `from` and `to` as its start and exclusive end. The day
    /// in `to` is part of the period.
    pub(crate) fn read_period(&mut self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        let from = self.read_one("from", NO_DAY, Day::parse);
        let to = self.read_one("to", NO_DAY, Day::parse);
        if from.is_some_and(|from| to.is_some_and(|to| to.date < from.date)) {
            self.errors.note("to", "is before the first day");
        }
        (from.map(Day::begin), to.map(Day::end))
    }

    /// Whether any filter is invalid.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The validation error of a filter; empty for none.
    pub(crate) fn error(&self, name: &str) -> String {
        self.errors.of(name)
    }

    /// Whether any filter is set.
    pub(crate) fn is_narrowed(&self) -> bool {
        self.filter != F::default()
    }

    /// The inputs of the period. Scripts make its days the reader's.
    pub(crate) fn period(&self) -> Markup {
        html! {
            (self.day("from", "From (UTC)"))
            (self.day("to", "To (UTC)"))
        }
    }

    fn day(&self, name: &str, label: &str) -> Markup {
        let field = self.field(name, label);
        let date = Day::parse(field.value).map(|day| day.date.to_string());
        let value = date.as_deref().unwrap_or(field.value);
        field.clone().value(value).line("date", "off")
    }

    /// The input of a filter with the value that was sent, valid or not.
    pub(crate) fn field<'a>(&'a self, name: &'a str, label: &'a str) -> FormField<'a> {
        let value = self.query.get(name).unwrap_or_default();
        let field = FormField::new(name, label).value(value);
        field.error(self.error(name))
    }
}

/// A table with a caption for screen readers. `rows` are `tr` elements. An empty heading belongs to
/// a column of actions.
pub(crate) fn table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    table_with(caption, &heading_cells(headings), rows)
}

/// A table whose headings contain markup: `headings` is a `tr` element.
pub(crate) fn table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, false)
}

/// A table too wide for a phone, where each row becomes a paragraph. The attribute `data-label` of
/// a cell is then shown in front of it.
pub(crate) fn stacked_table(caption: &str, headings: &[&str], rows: &Markup) -> Markup {
    stacked_table_with(caption, &heading_cells(headings), rows)
}

/// A stacked table whose headings contain markup: `headings` is a `tr` element.
pub(crate) fn stacked_table_with(caption: &str, headings: &Markup, rows: &Markup) -> Markup {
    draw(caption, headings, rows, true)
}

fn heading_cells(headings: &[&str]) -> Markup {
    html! {
        tr {
            @for heading in headings {
                @if heading.is_empty() { td {} } @else { th scope="col" { (heading) } }
            }
        }
    }
}

fn draw(caption: &str, headings: &Markup, rows: &Markup, stacks: bool) -> Markup {
    html! {
        // the keyboard can scroll it
        div.table role="group" aria-label=(caption) tabindex="0" {
            table.stacks[stacks] {
                caption.unseen { (caption) }
                thead { (headings) }
                tbody { (rows) }
            }
        }
    }
}
