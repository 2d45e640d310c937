//! Renders results as json, raw, csv, tsv and jsonl through a lens (spec 2.5, 2.6, 4.0).
//!
//! The crate turns plain borrowed data into bytes. It knows nothing of databases, HTTP, files,
//! threads or clocks, so an app can embed it with `refract-domain` alone, for downloads that are
//! identical to the API's rows byte for byte. [`render`] writes one result; [`RowWriter`] writes
//! many under one header; [`MarkRowWriter`] writes marks, [`EventRowWriter`] events and
//! [`FlipRowWriter`] answers that flipped; [`write_csv_line`] writes arbitrary texts as a line of csv;
//! [`cell_text`] returns a single cell.
//!
//! Answers that another program kept are held to their version first, by
//! [`Answers::matched_to`](refract_domain::answer::Answers::matched_to): a lens shows an empty cell
//! where an answer does not belong to its question.
//!
//! ```
//! use refract_lens_rendering::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // the version that answered; it can also be read from its stored JSON
//! let text = FieldKey::parse("text")?;
//! let angry = QuestionKey::parse("angry")?;
//! let version = PrismVersion::new(
//!     vec![Field { key: text.clone(), label: "Message".to_owned() }],
//!     None,
//!     vec![Question {
//!         key: angry.clone(),
//!         text: "Is the writer angry?".to_owned(),
//!         instructions: None,
//!         kind: QuestionKind::YesNo,
//!     }],
//! );
//!
//! // the field values of the call, and the answers
//! let fields = FieldValues::new(vec![(text, "Where is it, at last?".to_owned())]);
//! let probability = Probability::from_f64(0.92).ok_or("not from 0 to 1")?;
//! let status = ResultStatus::Ok(Answers::new(vec![(angry, Answer::YesNo { probability })]));
//!
//! let columns = RowColumns {
//!     fields: version.fields(),
//!     lens: version.columns(&Lens::Automatic),
//! };
//! let result = ResultView {
//!     id: ResultId::parse("0190b8f2-0000-7000-8000-0000000000aa").ok_or("no id")?,
//!     reference: Some("order 7"),
//!     prism: "support-triage",
//!     version: VersionNumber::FIRST,
//!     questions: version.questions(),
//!     status: &status,
//!     took_ms: 412,
//!     created_at: "2026-05-04T09:08:07.060Z".parse()?,
//!     fields: &fields,
//! };
//!
//! let mut csv = Vec::new();
//! render(Format::Csv, &columns, &result, &mut csv)?;
//! assert_eq!(
//!     String::from_utf8(csv)?,
//!     "result_id,ref,version,status,error,created_at,text,angry\r\n\
//!      0190b8f2-0000-7000-8000-0000000000aa,order 7,1,ok,,2026-05-04T09:08:07.060Z,\
//!      \"Where is it, at last?\",Yes\r\n"
//! );
//! # Ok(())
//! # }
//! ```

mod cell;
mod envelope;
mod event_row;
mod flip_row;
mod format;
mod json;
mod mark_row;
mod plain;
pub mod prelude;
mod row;

use std::io::{self, Write};

use refract_domain::result::view::{ResultView, RowColumns};

pub use crate::cell::{cell_text, write_csv_line};
pub use crate::event_row::{EventRow, EventRowWriter};
pub use crate::flip_row::{FlipRow, FlipRowWriter};
pub use crate::format::{Format, RowFormat};
pub use crate::mark_row::MarkRowWriter;
pub use crate::row::RowWriter;

/// Writes one result as the body of a response in this format. Csv and tsv have a header and one
/// row.
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
