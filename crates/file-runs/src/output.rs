//! The output of a run: its format, which the name of a file may mean, whether the columns of the
//! file are kept, and the rows in the order of the file.

mod finished_rows;
mod held_output;
mod laid_out_rows;
#[cfg(not(all(feature = "parquet", feature = "workbooks")))]
mod not_built;
#[cfg(feature = "parquet")]
mod parquet_rows;
#[cfg(any(feature = "parquet", feature = "workbooks"))]
mod ready_bytes;
mod row_cells;
mod workbook_rows;
#[cfg(feature = "workbooks")]
mod workbook_writer;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

#[cfg(not(feature = "workbooks"))]
use not_built::workbooks as workbook_writer;
use refract_domain::key::ROW_NAMES;
use refract_domain::result::RowColumns;
use refract_lens_rendering::{RowFormat, TableStyle};

use crate::input::{KeptCells, nameless_column};

pub use self::finished_rows::{FinishedRow, RunSummary};
pub(crate) use self::finished_rows::{RowSinks, RunOutput, hand_over};
pub use self::held_output::{HeldOutput, HeldOutputError, RefusedList};
pub use self::laid_out_rows::TypedRows;
pub use self::workbook_rows::MarksWorkbook;
#[cfg(not(feature = "parquet"))]
pub(crate) use not_built::parquet as parquet_rows;

/// Upper bound on the rows of a workbook's sheet below its header.
pub const WORKBOOK_ROWS: u64 = 1_048_575;

/// Prefix of a column of the file whose name is taken by a column of answers.
const OF_INPUT: &str = "input_";

/// The form of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// The format of the rows.
    pub format: OutputFormat,
    /// Whether all columns of the file come first, in its order, in place of `ref` and the fields.
    /// A column whose name a column of answers has gets the prefix `input_`.
    pub keep_columns: bool,
    /// For which spreadsheet CSV and TSV are written.
    pub style: TableStyle,
}

impl RowLayout {
    /// A layout without the columns of the file, for no spreadsheet.
    pub fn plain(format: RowFormat) -> Self {
        Self {
            format: OutputFormat::Rows(format),
            keep_columns: false,
            style: TableStyle::Plain,
        }
    }

    /// The names of the file's columns in the output, if they are kept.
    pub(crate) fn own_columns(
        self,
        columns: &[String],
        answers: RowColumns<'_>,
    ) -> Option<Arc<[String]>> {
        self.keep_columns.then(|| own_columns(columns, answers))
    }
}

/// The rows whose cells must be kept for an output and for a list of refused rows.
pub(crate) fn kept_cells(keep_columns: bool, lists_refused: bool, columns: &[String]) -> KeptCells {
    if keep_columns {
        KeptCells::OfAll(columns.into())
    } else if lists_refused {
        KeptCells::OfRefused(columns.into())
    } else {
        KeptCells::None
    }
}

/// The names of a file's columns in an output that has columns of answers too. All names differ, and a
/// name that no column of answers has stays as it is.
pub(crate) fn own_columns(columns: &[String], answers: RowColumns<'_>) -> Arc<[String]> {
    let row_names = ROW_NAMES.into_iter().filter(|name| *name != "ref");
    let lens = answers.lens.iter().map(|column| column.name.as_str());
    let mut taken: HashSet<String> = row_names.chain(lens).map(str::to_owned).collect();
    let is_kept = |name: &String| !name.is_empty() && taken.insert(name.clone());
    let kept: Vec<_> = columns.iter().map(is_kept).collect();
    let columns = columns.iter().zip(kept).enumerate();
    let named = columns.map(|(position, (column, is_kept))| {
        let mut name = match column.as_str() {
            "" => nameless_column(position),
            column => column.to_owned(),
        };
        while !is_kept && !taken.insert(name.clone()) {
            name = format!("{OF_INPUT}{name}");
        }
        name
    });
    named.collect()
}

/// The format of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Rows of text.
    Rows(RowFormat),
    /// Columns with types, for tools of analysis.
    Parquet,
    /// An Excel workbook.
    Workbook,
}

impl OutputFormat {
    /// The format with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "parquet" => Some(Self::Parquet),
            "xlsx" => Some(Self::Workbook),
            name => RowFormat::parse(name).map(Self::Rows),
        }
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows(format) => format.name(),
            Self::Parquet => "parquet",
            Self::Workbook => "xlsx",
        }
    }

    /// Whether the output is text.
    pub fn is_text(self) -> bool {
        match self {
            Self::Rows(_) => true,
            Self::Parquet | Self::Workbook => false,
        }
    }
}

/// A file's name ends in something that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is {what}: end the name in .csv, .tsv, .jsonl or .xlsx, or name the format with --format",
    if .ending.is_empty() { "a dot at the end".to_owned() } else { format!(".{ending}") }
)]
pub struct NoRowFormat {
    /// The part of the name after the last dot.
    ending: String,
    what: &'static str,
}

/// The format by a file name's extension, in any case; `None` for a name without extension.
///
/// # Errors
/// When the extension is not a format.
pub fn format_of_name(file: &Path) -> Result<Option<OutputFormat>, NoRowFormat> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let Some((_, ending)) = name.rsplit_once('.') else {
        return Ok(None);
    };
    let ending = ending.to_lowercase();
    if let Some(format) = OutputFormat::parse(&ending) {
        return Ok(Some(format));
    }
    let what = match ending.as_str() {
        "gz" | "zst" | "bz2" | "xz" | "zip" => "not supported, since nothing is compressed",
        _ => "no format of rows",
    };
    Err(NoRowFormat { ending, what })
}

#[cfg(test)]
mod tests {
    use refract_domain::lens::Lens;
    use refract_domain::prism::PrismVersion;

    use super::*;

    #[test]
    fn columns_of_the_file_give_way_to_those_of_answers() {
        let version: PrismVersion = serde_json::from_str(
            r#"{ "fields": [{ "key": "text", "label": "T" }],
                 "questions": [{ "key": "angry", "type": "yes_no", "text": "?" }] }"#,
        )
        .unwrap();
        let answers = RowColumns {
            fields: version.fields(),
            lens: version.columns(&Lens::Automatic),
        };
        let columns = [
            "text",
            "ref",
            "status",
            "",
            "angry",
            "a",
            "a",
            "input_status",
            "a",
        ];
        let columns = columns.map(str::to_owned);
        assert_eq!(
            &own_columns(&columns, answers)[..],
            [
                "text",
                "ref",
                "input_input_status",
                "column_4",
                "input_angry",
                "a",
                "input_a",
                "input_status",
                "input_input_a"
            ]
        );
    }

    fn format(name: &str) -> Result<Option<&'static str>, String> {
        let found = format_of_name(Path::new(name));
        found
            .map(|format| format.map(OutputFormat::name))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_ends_in_its_format_or_in_nothing() {
        assert_eq!(format("out.csv"), Ok(Some("csv")));
        assert_eq!(format("v1.2/out.TSV"), Ok(Some("tsv")));
        assert_eq!(format("a.b.jsonl"), Ok(Some("jsonl")));
        assert_eq!(format(".jsonl"), Ok(Some("jsonl")));
        assert_eq!(format("a.parquet"), Ok(Some("parquet")));
        assert_eq!(format("a.XLSX"), Ok(Some("xlsx")));
        for without in ["rows", "v1.2/rows", "/dev/stdout", ""] {
            assert_eq!(format(without), Ok(None), "{without}");
        }
    }

    #[test]
    fn another_ending_is_refused_with_those_there_are() {
        for (name, begins) in [
            (
                "a.csv.gz",
                ".gz is not supported, since nothing is compressed: ",
            ),
            ("a.xls", ".xls is no format of rows: "),
            ("a.json", ".json is no format of rows: "),
            ("rows.", "a dot at the end is no format of rows: "),
        ] {
            let words = format(name).unwrap_err();
            assert!(words.starts_with(begins), "{words}");
            assert!(words.contains(".csv, .tsv, .jsonl or .xlsx"), "{words}");
        }
    }
}
