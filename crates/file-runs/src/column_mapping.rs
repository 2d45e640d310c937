//! Which column of a file gives which field of a prism, and which columns give `ref` and `context`.

use refract_domain::prism::PrismVersion;

use crate::input::{WantedColumn, WantedColumns};

const REF: &str = "ref";
const CONTEXT: &str = "context";

/// A column whose name differs from what the column gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMapping {
    /// The column's name in the file.
    pub column: String,
    /// What the column gives: a field key, `ref` or `context`.
    pub field: String,
}

/// Why a mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingFault {
    /// The prism has no such field.
    #[error("'{field}' is no field of the prism: it has {fields}, and ref and context")]
    UnknownField {
        /// The name in the mapping.
        field: String,
        /// The field keys of the version.
        fields: String,
    },
    /// Two mappings name one field, or one column.
    #[error("'{0}' is named twice")]
    Twice(String),
}

/// The columns that a run reads: one for each field in the version's order, then `ref`, then
/// `context`.
#[derive(Clone, Debug)]
pub struct InputColumns {
    wanted: WantedColumns,
    fields: Vec<String>,
}

impl InputColumns {
    /// Reads each field from the column of its key, unless a mapping names another column.
    ///
    /// # Errors
    /// When a mapping names a field that the version lacks, or two mappings clash.
    pub(crate) fn new(
        version: &PrismVersion,
        mappings: &[ColumnMapping],
    ) -> Result<Self, MappingFault> {
        let fields = version.fields().iter();
        let fields: Vec<_> = fields.map(|field| field.key.to_string()).collect();
        let is_known =
            |name: &str| name == REF || name == CONTEXT || fields.iter().any(|field| field == name);
        for (index, mapping) in mappings.iter().enumerate() {
            if !is_known(&mapping.field) {
                return Err(MappingFault::UnknownField {
                    field: mapping.field.clone(),
                    fields: fields.join(", "),
                });
            }
            for earlier in mappings.iter().take(index) {
                if earlier.field == mapping.field {
                    return Err(MappingFault::Twice(mapping.field.clone()));
                }
                if earlier.column == mapping.column {
                    return Err(MappingFault::Twice(mapping.column.clone()));
                }
            }
        }
        let sources = fields.iter().map(String::as_str).chain([REF, CONTEXT]);
        let wanted = sources.map(|field| {
            let mapping = mappings.iter().find(|mapping| mapping.field == field);
            WantedColumn {
                name: mapping.map_or(field, |mapping| &mapping.column).to_owned(),
                is_required: mapping.is_some() || (field != REF && field != CONTEXT),
            }
        });
        Ok(Self {
            wanted: WantedColumns(wanted.collect()),
            fields,
        })
    }

    pub(crate) fn wanted(&self) -> &WantedColumns {
        &self.wanted
    }

    /// The columns whose names differ from what they give.
    pub fn renamed(&self) -> Vec<ColumnMapping> {
        let given = self.fields.iter().map(String::as_str).chain([REF, CONTEXT]);
        let pairs = self.wanted.0.iter().zip(given);
        let renamed = pairs.filter(|(column, field)| column.name != *field);
        let mapping = |(column, field): (&WantedColumn, &str)| ColumnMapping {
            column: column.name.clone(),
            field: field.to_owned(),
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
        let columns = InputColumns::new(&version(), mappings).map_err(|fault| fault.to_string())?;
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
