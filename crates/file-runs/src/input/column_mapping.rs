//! Maps the columns of a file to the fields of a prism, to `ref` and `context`, and to the expected
//! outcomes of a gold file.

use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;

use crate::gold::cells::EXPECTED;
use crate::input::{WantedColumn, WantedColumns};

/// Name of the column with references.
pub(crate) const REF: &str = "ref";
/// Name of the column with contexts.
pub(crate) const CONTEXT: &str = "context";

/// A column whose name differs from the field that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMapping {
    /// The column's name in the file.
    pub column: String,
    /// The field's key, `ref` or `context`.
    pub field: String,
}

/// Why a mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// The prism has no field of this name.
    #[error("'{field}' is no field of the prism: it has {fields}, and ref and context")]
    UnknownField {
        /// The name in the mapping.
        field: String,
        /// The field keys of the version, and the columns of expected outcomes in a gold file.
        fields: String,
    },
    /// Two mappings name the same field or the same column.
    #[error("'{0}' is named twice")]
    Twice(String),
}

/// The columns of a run: one for each field in the version's order, then `ref`, then `context`,
/// then one for each question with expected outcomes.
#[derive(Clone, Debug)]
pub struct InputColumns {
    wanted: WantedColumns,
    /// The field, `ref`, `context` or question of each wanted column.
    given: Vec<String>,
}

impl InputColumns {
    /// Reads each field from the column of its key, unless a mapping names another column. Expected
    /// outcomes are read for the `expected` questions; their columns may be missing.
    ///
    /// # Errors
    /// When a mapping names a field that the version lacks, or two mappings clash.
    pub(crate) fn new(
        version: &PrismVersion,
        expected: &[Question],
        mappings: &[ColumnMapping],
    ) -> Result<Self, MappingError> {
        let fields = version.fields().iter();
        let fields: Vec<_> = fields.map(|field| field.key.to_string()).collect();
        let others = [REF, CONTEXT].map(str::to_owned).into_iter();
        let expected = expected.iter();
        let expected = expected.map(|question| format!("{EXPECTED}{}", question.key));
        let given = fields.iter().cloned().chain(others).chain(expected);
        let given: Vec<_> = given.collect();
        for (index, mapping) in mappings.iter().enumerate() {
            if !given.contains(&mapping.field) {
                let named = given.iter().map(String::as_str);
                let fields: Vec<_> = named
                    .filter(|name| ![REF, CONTEXT].contains(name))
                    .collect();
                return Err(MappingError::UnknownField {
                    field: mapping.field.clone(),
                    fields: fields.join(", "),
                });
            }
            for earlier in mappings.iter().take(index) {
                if earlier.field == mapping.field {
                    return Err(MappingError::Twice(mapping.field.clone()));
                }
                if earlier.column == mapping.column {
                    return Err(MappingError::Twice(mapping.column.clone()));
                }
            }
        }
        let wanted = given.iter().enumerate().map(|(index, given)| {
            let mapping = mappings.iter().find(|mapping| mapping.field == *given);
            WantedColumn {
                name: mapping.map_or(given, |mapping| &mapping.column).clone(),
                is_required: mapping.is_some() || index < fields.len(),
            }
        });
        Ok(Self {
            wanted: WantedColumns(wanted.collect()),
            given,
        })
    }

    pub(crate) fn wanted(&self) -> &WantedColumns {
        &self.wanted
    }

    /// The columns whose names differ from what they hold.
    pub fn renamed(&self) -> Vec<ColumnMapping> {
        let pairs = self.wanted.0.iter().zip(&self.given);
        let renamed = pairs.filter(|(column, given)| column.name != **given);
        let mapping = |(column, given): (&WantedColumn, &String)| ColumnMapping {
            column: column.name.clone(),
            field: given.clone(),
        };
        renamed.map(mapping).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version() -> PrismVersion {
        serde_json::from_str(
            r#"{ "fields": [{ "key": "subject", "label": "S" }, { "key": "text", "label": "T" }],
                 "questions": [{ "key": "angry", "type": "yes_no", "text": "?" }] }"#,
        )
        .unwrap()
    }

    fn mapping(column: &str, field: &str) -> ColumnMapping {
        ColumnMapping {
            column: column.to_owned(),
            field: field.to_owned(),
        }
    }

    fn names(mappings: &[ColumnMapping]) -> Result<Vec<(String, bool)>, String> {
        let columns =
            InputColumns::new(&version(), &[], mappings).map_err(|error| error.to_string())?;
        let wanted = columns.wanted.0.into_iter();
        Ok(wanted
            .map(|column| (column.name, column.is_required))
            .collect())
    }

    #[test]
    fn fields_are_required_and_ref_and_context_are_not_unless_they_are_named() {
        let of = |names: &[(&str, bool)]| -> Vec<(String, bool)> {
            names
                .iter()
                .map(|(name, required)| ((*name).to_owned(), *required))
                .collect()
        };
        assert_eq!(
            names(&[]).unwrap(),
            of(&[
                ("subject", true),
                ("text", true),
                ("ref", false),
                ("context", false)
            ])
        );
        assert_eq!(
            names(&[mapping("Body", "text"), mapping("Ticket", "ref")]).unwrap(),
            of(&[
                ("subject", true),
                ("Body", true),
                ("Ticket", true),
                ("context", false)
            ])
        );
    }

    #[test]
    fn a_mapping_names_something_that_there_is_and_names_it_once() {
        assert_eq!(
            names(&[mapping("Body", "body")]).unwrap_err(),
            "'body' is no field of the prism: it has subject, text, and ref and context"
        );
        assert_eq!(
            names(&[mapping("a", "text"), mapping("b", "text")]).unwrap_err(),
            "'text' is named twice"
        );
        assert_eq!(
            names(&[mapping("a", "text"), mapping("a", "subject")]).unwrap_err(),
            "'a' is named twice"
        );
    }
}
