//! The formats of one result and of many rows (spec 4.0).

/// Format of one result (spec 4.0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The envelope with the values of the lens columns.
    #[default]
    Json,
    /// The envelope with the stored answers, independent of the lens.
    Raw,
    /// A header and a row, separated by commas.
    Csv,
    /// A header and a row, separated by tabs.
    Tsv,
    /// The row as one JSON object on one line.
    Jsonl,
}

impl Format {
    /// The names of all formats, for messages.
    pub const NAMES: [&'static str; 5] = ["json", "raw", "csv", "tsv", "jsonl"];

    /// The format with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Json, Self::Raw, Self::Csv, Self::Tsv, Self::Jsonl];
        all.into_iter().find(|format| format.name() == name)
    }

    /// The format's name in the `format` parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Raw => "raw",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Jsonl => "jsonl",
        }
    }

    /// The media type of a response in this format.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json | Self::Raw => "application/json; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
            Self::Jsonl => "application/x-ndjson; charset=utf-8",
        }
    }
}

/// For which spreadsheet a table of csv or tsv is written. Jsonl has one form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStyle {
    /// For none: as the API has it.
    #[default]
    Plain,
    /// For Excel: a byte order mark comes first, by which Excel recognises UTF-8.
    Excel,
    /// For an Excel in German, French and other languages with decimal commas: as [`Self::Excel`], and
    /// csv has semicolons between cells and commas in decimals. With commas and points, such an Excel
    /// puts a row into one cell and reads `1.5` as a date.
    ExcelWithCommas,
}

/// Format of many results as rows under one header (spec 4.0): those of the five formats that have rows.
///
/// Csv and tsv are for people: a cell shows the label of an outcome, and a text that a spreadsheet would
/// take for a formula, since it begins with `=`, `+`, `-`, `@`, a tab or a carriage return, has a `'` in
/// front. Tsv has one space for each tab or line break in a text. Jsonl is for programs: keys, and texts
/// as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Comma-separated; lines end in CRLF.
    Csv,
    /// Tab-separated; lines end in LF.
    Tsv,
    /// One JSON object on each line; no header.
    Jsonl,
}

impl RowFormat {
    /// The names of all row formats, for messages.
    pub const NAMES: [&'static str; 3] = ["csv", "tsv", "jsonl"];

    /// The row format with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Csv, Self::Tsv, Self::Jsonl]
            .into_iter()
            .find(|format| format.name() == name)
    }

    /// The row format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Jsonl => "jsonl",
        }
    }
}
