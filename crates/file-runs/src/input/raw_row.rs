//! One row of a file before its values are checked.

/// Upper bound on the bytes of a row. A longer one is most likely a quote that was never closed.
pub(crate) const ROW_BYTES: u64 = 16 * 1024 * 1024;

/// One row of a file.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// The line on which the row begins, from 1.
    pub(crate) line: u64,
    /// A value for each of the [wanted columns](super::WantedColumns), in their order.
    pub(crate) values: Vec<RawValue>,
}

/// What a row holds in a wanted column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RawValue {
    /// No value: a file without the column, or JSON without the key or with null.
    Absent {
        /// Whether the value is JSON null.
        is_null: bool,
    },
    /// Text.
    Text {
        /// The characters.
        text: String,
        /// Whether the text has an unpaired surrogate, which stands as U+FFFD in `text`.
        has_unpaired_surrogate: bool,
    },
    /// A number or a boolean in JSON.
    Scalar {
        /// The value as it stands in the file.
        text: String,
        /// The name of the JSON type.
        type_name: &'static str,
    },
    /// A list or an object in JSON, by the type's name.
    NoText(&'static str),
}

impl RawValue {
    /// The value as that of a column which names something: numbers and booleans, as other programs
    /// write ids, are text there.
    pub(crate) fn naming(self) -> Self {
        match self {
            Self::Scalar { text, .. } => Self::Text {
                text,
                has_unpaired_surrogate: false,
            },
            Self::Absent { .. } | Self::Text { .. } | Self::NoText(_) => self,
        }
    }
}
