//! Which column of a file gives which field of a prism, and which gives `ref` and `context`.

use refract_domain::prism::PrismVersion;

use super::input::{Wanted, WantedColumn};

const REF: &str = "ref";
const CONTEXT: &str = "context";

/// A column that is named differently from what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The column's name in the file.
    pub column: String,
    /// A field key, `ref` or `context`.
    pub field: String,
}

/// A mapping cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingFault {
    /// The prism has no such field.
    #[error("--map: '{field}' is no field of the prism: it has {fields}, and ref and context")]
    UnknownField {
        /// What was named.
        field: String,
        /// What there is.
        fields: String,
    },
    /// Two columns for one field, or one column for two.
    #[error("--map: '{0}' is named twice")]
    Twice(String),
}

/// The columns that a run reads: those of the fields in the version's order, then `ref`, then
/// `context`.
#[derive(Clone, Debug)]
pub struct Columns {
    wanted: Wanted,
    fields: Vec<String>,
}

impl Columns {
    /// Every field is read from the column of its key, unless a mapping names another.
    ///
    /// # Errors
    /// A mapping to something that the prism lacks, or two that clash.
    pub(crate) fn new(version: &PrismVersion, mappings: &[Mapping]) -> Result<Self, MappingFault> {
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
            wanted: Wanted(wanted.collect()),
            fields,
        })
    }

    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// Columns with what they give, where the names differ.
    pub fn renamed(&self) -> Vec<Mapping> {
        let given = self.fields.iter().map(String::as_str).chain([REF, CONTEXT]);
        let pairs = self.wanted.0.iter().zip(given);
        let renamed = pairs.filter(|(column, field)| column.name != *field);
        let mapping = |(column, field): (&WantedColumn, &str)| Mapping {
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

    fn mapping(column: &str, field: &str) -> Mapping {
        Mapping {
            column: column.to_owned(),
            field: field.to_owned(),
        }
    }

    fn names(mappings: &[Mapping]) -> Result<Vec<(String, bool)>, String> {
        let columns = Columns::new(&version(), mappings).map_err(|fault| fault.to_string())?;
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
            "--map: 'body' is no field of the prism: it has subject, text, and ref and context"
        );
        assert_eq!(
            names(&[mapping("a", "text"), mapping("b", "text")]).unwrap_err(),
            "--map: 'text' is named twice"
        );
        assert_eq!(
            names(&[mapping("a", "text"), mapping("a", "subject")]).unwrap_err(),
            "--map: 'a' is named twice"
        );
    }
}
