//! The formats of a result and of rows, by name (spec 4.0).

/// How one result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The envelope with what the lens shows.
    #[default]
    Json,
    /// The envelope with the stored answers, which no lens changes.
    Raw,
    /// A header and a row, separated by commas.
    Csv,
    /// A header and a row, separated by tabs.
    Tsv,
    /// The row as one JSON object on one line.
    Jsonl,
}

impl Format {
    /// The names, for messages.
    pub const NAMES: [&'static str; 5] = ["json", "raw", "csv", "tsv", "jsonl"];

    /// Reads a format's name; `None` for anything else, other cases included.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Json, Self::Raw, Self::Csv, Self::Tsv, Self::Jsonl];
        all.into_iter().find(|format| format.name() == name)
    }

    /// The name in the `format` parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Raw => "raw",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Jsonl => "jsonl",
        }
    }

    /// The media type of an answer in this format.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json | Self::Raw => "application/json; charset=utf-8",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
            Self::Jsonl => "application/x-ndjson; charset=utf-8",
        }
    }
}

/// How many results are written as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// Separated by commas; lines end CRLF.
    Csv,
    /// Separated by tabs; lines end LF.
    Tsv,
    /// One JSON object a line; no header.
    Jsonl,
}

impl RowFormat {
    /// The names, for messages.
    pub const NAMES: [&'static str; 3] = ["csv", "tsv", "jsonl"];

    /// Reads a format's name; `None` for anything else, other cases included.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Csv, Self::Tsv, Self::Jsonl]
            .into_iter()
            .find(|format| format.name() == name)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Jsonl => "jsonl",
        }
    }
}
