//! A file and everything that stays constant from the check to the end of the run.

use std::sync::Arc;

use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_service::runs::PinnedPrism;

use crate::input::{
    ColumnMapping, InputColumns, InputError, InputFile, InputKind, InputSource, MappingError,
};
use crate::run::{RunIdentity, Shard};

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
