//! What a reader of a result sees, as plain borrowed data: all that any format needs.

use chrono::{DateTime, Utc};

use crate::ids::ResultId;
use crate::lens::Column;
use crate::prism::{Definition, Field, VersionNumber};
use crate::result::ResultStatus;
use crate::submission::FieldValues;

/// The columns of a prism's rows: one header for any number of results (spec 4.0).
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Fields of the prism's latest version, in order.
    pub fields: &'a [Field],
    /// Columns of the prism's lens, in order.
    pub lens: &'a [Column],
}

/// One result with everything that its formats show.
#[derive(Clone, Copy)]
pub struct ResultView<'a> {
    /// Result id.
    pub id: ResultId,
    /// The caller's own reference.
    pub reference: Option<&'a str>,
    /// The prism's slug.
    pub prism: &'a str,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The version that answered: it has the questions and their labels.
    pub definition: &'a Definition,
    /// Answers or error.
    pub status: &'a ResultStatus,
    /// Duration of the call to the model, in milliseconds.
    pub took_ms: u64,
    /// When it was saved.
    pub created_at: DateTime<Utc>,
    /// The fields sent.
    pub fields: &'a FieldValues,
}
