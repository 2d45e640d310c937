//! A file and everything that stays constant from the check to the end of the run. And the
//! idempotency keys by which a restarted run recognizes its rows.

use std::sync::Arc;

use refract_domain::ids::PrismId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::submission::{IdempotencyKey, Ref};
use refract_service::runs::PinnedPrism;
use sha2::{Digest as _, Sha256};

use crate::input::{
    ColumnMapping, InputColumns, InputError, InputFile, InputKind, InputRow, InputSource,
    MappingError, RowContent,
};
use crate::run::Shard;

/// The file and the rows to ask about.
pub struct RunOrder<'a> {
    /// The file, or the stream.
    pub input: InputSource<'a>,
    /// Columns whose names differ from the field, `ref` or `context` that they hold.
    pub mappings: &'a [ColumnMapping],
    /// The rows of this run.
    pub shard: Shard,
    /// The run's name, usually empty. A run with a different name asks about every row again.
    pub name: String,
}

/// A file that is ready to run. Clones are cheap, and read the file independently of each other if
/// its bytes are stored.
#[derive(Clone)]
pub struct FileRun {
    pub(crate) prism: PinnedPrism,
    pub(crate) columns: InputColumns,
    pub(crate) input: Arc<InputFile>,
    pub(crate) shard: Shard,
    pub(crate) identity: RunIdentity,
    /// Whether rows whose fields are all empty are left out.
    pub(crate) leaves_out_blank: bool,
}

/// Why a run does not begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenRunError {
    /// A mapping cannot be used.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The file cannot be run.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl FileRun {
    /// Opens the file and reads its header.
    ///
    /// # Errors
    /// When a mapping cannot be used, the file cannot be read, or columns are missing.
    pub fn open(prism: PinnedPrism, order: RunOrder<'_>) -> Result<Self, OpenRunError> {
        let columns = InputColumns::new(prism.version(), &[], order.mappings)?;
        Self::with_columns(prism, columns, order)
    }

    /// Opens the file to read these columns.
    pub(crate) fn with_columns(
        prism: PinnedPrism,
        columns: InputColumns,
        order: RunOrder<'_>,
    ) -> Result<Self, OpenRunError> {
        let input = InputFile::open(order.input, columns.wanted())?;
        let identity = RunIdentity {
            prism: prism.id(),
            version: prism.version_number(),
            name: order.name,
        };
        Ok(Self {
            prism,
            columns,
            input: Arc::new(input),
            shard: order.shard,
            identity,
            leaves_out_blank: true,
        })
    }

    /// Asks about rows whose fields are all empty too, which are left out otherwise.
    #[must_use]
    pub fn with_blank_rows(self) -> Self {
        Self {
            leaves_out_blank: false,
            ..self
        }
    }

    /// The format of the file.
    pub fn input_kind(&self) -> InputKind {
        self.input.kind()
    }

    /// The format and the encoding of the file, for people.
    pub fn describe_input(&self) -> String {
        self.input.describe()
    }

    /// The number of the version that answers.
    pub fn version_number(&self) -> VersionNumber {
        self.prism.version_number()
    }

    /// The version that answers.
    pub fn version(&self) -> &PrismVersion {
        self.prism.version()
    }

    /// The prism's slug.
    pub fn prism_slug(&self) -> &str {
        self.prism.slug()
    }

    /// The columns that the run reads.
    pub fn columns(&self) -> &InputColumns {
        &self.columns
    }
}

/// Identifies a run.
///
/// The identity depends on the content of the rows, not on the file's name: a file can be moved,
/// split over machines or corrected, and its unchanged rows are not asked about again.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) prism: PrismId,
    pub(crate) version: VersionNumber,
    /// The run's name, usually empty. A different name makes a different run.
    pub(crate) name: String,
}

impl RunIdentity {
    /// The idempotency key of a row: a hash of the run, the row's number and the row's values.
    pub(crate) fn key(&self, row: &InputRow, content: &RowContent) -> IdempotencyKey {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // the length before each part distinguishes lists with equal concatenations
            hash.update(bytes.len().to_be_bytes());
            hash.update(bytes);
        };
        part(self.prism.uuid().as_bytes());
        part(&self.version.get().to_be_bytes());
        part(self.name.as_bytes());
        part(&row.number.to_be_bytes());
        for (key, value) in content.submission.fields() {
            part(key.as_str().as_bytes());
            part(value.as_bytes());
        }
        part(content.submission.context().unwrap_or_default().as_bytes());
        let reference = content.reference.as_ref().map(Ref::as_str);
        part(reference.unwrap_or_default().as_bytes());
        let digest = base16ct::lower::encode_string(&hash.finalize());
        IdempotencyKey::saved(format!("run:{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use refract_domain::key::FieldKey;
    use refract_domain::submission::{CallContext, FieldValues, Submission};
    use uuid::Uuid;

    use super::*;
    use crate::gold::GoldCells;

    fn key(version: i32, name: &str, number: u64, values: [&str; 2], ends: [&str; 2]) -> String {
        let run = RunIdentity {
            prism: PrismId::new(Uuid::from_u128(7)),
            version: VersionNumber::new(version).unwrap(),
            name: name.to_owned(),
        };
        let fields = ["a", "b"].map(|key| FieldKey::parse(key).unwrap());
        let fields = fields.into_iter().zip(values.map(str::to_owned)).collect();
        let content = RowContent {
            submission: Submission::saved(
                FieldValues::new(fields),
                CallContext::saved(ends[0].to_owned()),
            ),
            reference: Ref::parse(ends[1]).ok(),
        };
        let row = InputRow {
            line: 99,
            number,
            content: Err(String::new()),
            cells: Vec::new(),
            gold: GoldCells::default(),
        };
        run.key(&row, &content).as_str().to_owned()
    }

    #[test]
    fn every_part_of_a_row_and_its_place_make_the_key() {
        let keys = [
            key(1, "", 1, ["x", "y"], ["", ""]),
            key(2, "", 1, ["x", "y"], ["", ""]),
            key(1, "again", 1, ["x", "y"], ["", ""]),
            key(1, "", 2, ["x", "y"], ["", ""]),
            key(1, "", 1, ["xy", ""], ["", ""]),
            key(1, "", 1, ["x", "y"], ["c", ""]),
            key(1, "", 1, ["x", "y"], ["", "c"]),
        ];
        assert_eq!(keys[0], key(1, "", 1, ["x", "y"], ["", ""]));
        assert!(keys.iter().all(|key| key.len() == 68), "{keys:?}");
        assert_eq!(HashSet::from(keys).len(), 7);
    }
}
