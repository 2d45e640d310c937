//! Renders results as json, raw, csv, tsv and jsonl through a lens (spec 2.5, 2.6, 4.0).
//!
//! The crate turns plain borrowed data into bytes. It knows nothing of databases, HTTP, files,
//! threads or clocks, so an app can embed it, for downloads that are identical to the API's rows byte
//! for byte. [`RawResult`] reads a result that the API gave out; [`render`] writes one result;
//! [`RowWriter`] writes many under one header; [`MarkRowWriter`] writes marks, [`EventRowWriter`] events
//! and [`FlipRowWriter`] answers that flipped; [`write_csv_line`] writes arbitrary texts as a line of
//! csv; [`cell_text`] returns a single cell.
//!
//! The types of prisms, lenses and results are those of `refract-domain`; the [`prelude`] has the ones
//! that rendering needs. Prism and lens files are read by `refract-authoring`. Comments cite the
//! specification of Refract as `spec N.N`, and its fine print as `readings`.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use refract_authoring::lens_file;
//! use refract_authoring::prism_file::PrismFile;
//! use refract_lens_rendering::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // what `refract prism show SLUG --version 1` prints, for each version that answered
//! let prism = br#"{
//!     "name": "Triage",
//!     "fields": [{"key": "text", "label": "Message"}],
//!     "questions": [{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}]
//! }"#;
//! let mut versions = BTreeMap::new();
//! let latest = Arc::new(PrismFile::read(prism, None)?.version);
//! versions.insert(VersionNumber::FIRST, Arc::clone(&latest));
//!
//! // a lens file, or what `refract lens show SLUG --json` prints; checked against the latest version
//! let lens = br#"{"columns": [{"question": "angry", "output": "label", "yes_from": 0.7}]}"#;
//! let lens = lens_file::read_lens(lens, &latest)?;
//!
//! // the body of GET /v1/results/{id}?format=raw, and the field values that were sent
//! let raw = r#"{"id": "0190b8f2-0000-7000-8000-0000000000aa", "ref": "order 7", "prism": "triage",
//!     "version": 1, "status": "ok", "error": null, "took_ms": 412,
//!     "created_at": "2026-05-04T09:08:07.060Z",
//!     "answers": {"angry": {"type": "yes_no", "probability": 0.92}}}"#;
//! let fields = [("text".to_owned(), "Where is it, at last?".to_owned())];
//! let result = RawResult::read(raw, |number| versions.get(&number).cloned())?
//!     .with_fields(SentFields::new(fields.to_vec()))?;
//!
//! // the header has the fields of the latest version, whichever version answered
//! let columns = RowColumns {
//!     fields: latest.fields(),
//!     lens: latest.columns(&lens),
//! };
//! let mut csv = Vec::new();
//! render(Format::Csv, &columns, &result.view(), &mut csv)?;
//! assert_eq!(
//!     String::from_utf8(csv)?,
//!     "result_id,ref,version,status,error,created_at,text,angry\r\n\
//!      0190b8f2-0000-7000-8000-0000000000aa,order 7,1,ok,,2026-05-04T09:08:07.060Z,\
//!      \"Where is it, at last?\",Yes\r\n"
//! );
//! # Ok(())
//! # }
//! ```
//!
//! A program that keeps results in a form of its own makes a [`ResultView`] itself. It holds their
//! answers to their version first, by
//! [`Answers::matched_to`](refract_domain::answer::Answers::matched_to): a lens shows an empty cell
//! where an answer does not belong to its question.

#![warn(clippy::missing_errors_doc)]

mod cell;
mod envelope;
mod format;
mod json;
mod listed_rows;
pub mod prelude;
mod raw_columns;
mod raw_result;
mod row;

use std::io::{self, Write};

use refract_domain::result::{ResultView, RowColumns};

pub use crate::cell::{cell_text, write_csv_line};
pub use crate::envelope::write_raw_line;
pub use crate::format::{Format, RowFormat, TableStyle};
pub use crate::listed_rows::{
    AnnotatorRow, EventRow, EventRowWriter, FlipRow, FlipRowWriter, MarkRowWriter,
    adjudicated_column, person_column,
};
pub use crate::raw_columns::RawColumns;
pub use crate::raw_result::{RawResult, RawResultError};
pub use crate::row::further::{FurtherColumn, FurtherKind, FurtherValue, ProvenanceColumn};
pub use crate::row::{RefusedRowView, RowWriter};

/// Writes one result as the body of a response in this format. Csv and tsv have a header and one
/// row; json and raw have no line break at the end.
///
/// # Errors
/// When `out` cannot be written to.
pub fn render(
    format: Format,
    columns: &RowColumns<'_>,
    result: &ResultView<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let row_format = match format {
        Format::Json => return envelope::write_json(columns.lens, result, out),
        Format::Raw => return envelope::write_raw(result, out),
        Format::Csv => RowFormat::Csv,
        Format::Tsv => RowFormat::Tsv,
        Format::Jsonl => RowFormat::Jsonl,
    };
    let mut rows = RowWriter::new(row_format, *columns, out);
    rows.write_header()?;
    rows.write_row(result)
}
