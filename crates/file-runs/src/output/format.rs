//! The formats of output files, and which one the name of a file means.

use std::path::Path;

use refract_lens_rendering::RowFormat;

/// The format of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// Rows of text.
    Rows(RowFormat),
    /// Columns with types, for tools of analysis.
    Parquet,
}

impl OutputFormat {
    /// The format with this name; `None` for anything else. Names are case-sensitive.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "parquet" => Some(Self::Parquet),
            name => RowFormat::parse(name).map(Self::Rows),
        }
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows(format) => format.name(),
            Self::Parquet => "parquet",
        }
    }
}

/// A file's name ends in something that is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} is {what}: end the name in .csv, .tsv or .jsonl, or name the format with --format",
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
    use super::*;

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
        for without in ["rows", "v1.2/rows", "/dev/stdout", ""] {
            assert_eq!(format(without), Ok(None), "{without}");
        }
    }

    #[test]
    fn another_ending_is_refused_with_the_three() {
        for (name, begins) in [
            (
                "a.csv.gz",
                ".gz is not supported, since nothing is compressed: ",
            ),
            ("a.xlsx", ".xlsx is no format of rows: "),
            ("a.json", ".json is no format of rows: "),
            ("rows.", "a dot at the end is no format of rows: "),
        ] {
            let words = format(name).unwrap_err();
            assert!(words.starts_with(begins), "{words}");
            assert!(words.contains(".csv, .tsv or .jsonl"), "{words}");
        }
    }
}
