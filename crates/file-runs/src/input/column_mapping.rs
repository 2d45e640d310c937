//! Maps the columns of a file to the fields of a prism, to `ref` and `context`, and to the expected
//! answers; finds the positions of these columns in a header; and suggests which column holds which
//! field: by an earlier match of columns, else by names.

use std::collections::HashMap;

use refract_domain::prism::{PrismVersion, Question};

use super::input_error::InputError;
use crate::gold::EXPECTED;

/// Name of the column with references.
pub(crate) const REF: &str = "ref";
/// Name of the column with contexts.
pub(crate) const CONTEXT: &str = "context";
/// Upper bound on the column names in a message.
const MOST_LISTED: usize = 20;
/// Longest column name in a message, in characters. In a file without a header the first row's
/// texts take its place, and a message must not repeat them.
const LONGEST_LISTED: usize = 40;

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

/// The columns that a run reads.
#[derive(Clone, Debug)]
pub(crate) struct WantedColumns(pub(crate) Vec<WantedColumn>);

/// A column that a run reads.
#[derive(Clone, Debug)]
pub(crate) struct WantedColumn {
    /// The column's name in the file.
    pub(crate) name: String,
    /// Whether the file must have the column.
    pub(crate) is_required: bool,
}

/// The positions of the wanted columns in a header.
#[derive(Clone, Debug)]
pub(crate) struct PlacedColumns {
    /// The position of each wanted column; `None` for an optional column that the header lacks.
    pub(crate) positions: Vec<Option<usize>>,
    /// Names of the columns that are not wanted.
    pub(crate) unused: Vec<String>,
}

impl WantedColumns {
    /// Finds the wanted columns in a header.
    pub(crate) fn place(&self, header: &[String]) -> Result<PlacedColumns, InputError> {
        let mut positions = Vec::with_capacity(self.0.len());
        let mut missing = Vec::new();
        for column in &self.0 {
            let mut found = header
                .iter()
                .enumerate()
                .filter(|(_, name)| **name == column.name);
            let position = found.next().map(|(position, _)| position);
            let numbered = format!("{} (1)", column.name);
            if found.next().is_some() || position.is_none() && header.contains(&numbered) {
                return Err(InputError::Twice(column.name.clone()));
            }
            if position.is_none() && column.is_required {
                missing.push(column.name.clone());
            }
            positions.push(position);
        }
        let others = header.iter().enumerate();
        let others = others.filter(|(position, _)| !positions.contains(&Some(*position)));
        let unused = others.map(|(position, name)| match name.as_str() {
            "" => nameless_column(position),
            name => name.to_owned(),
        });
        let unused: Vec<_> = unused.collect();
        if missing.is_empty() {
            return Ok(PlacedColumns { positions, unused });
        }
        let present = listed(header);
        Err(InputError::Missing { missing, present })
    }

    /// Number of wanted columns that a header has.
    pub(crate) fn count_in(&self, header: &[String]) -> usize {
        let found = self.0.iter().filter(|column| header.contains(&column.name));
        found.count()
    }
}

/// The name of a column that has none, at this position from 0.
pub(crate) fn nameless_column(position: usize) -> String {
    format!("column_{}", position + 1)
}

/// Column names as readable text, separated by commas. A name that is too long is replaced by `…`,
/// and so are all names beyond [`MOST_LISTED`].
pub(crate) fn listed(names: &[String]) -> String {
    let short = |name: &String| {
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        if name.chars().count() > LONGEST_LISTED || name.is_empty() {
            "…".to_owned()
        } else {
            name
        }
    };
    let mut listed: Vec<_> = names.iter().take(MOST_LISTED).map(short).collect();
    if names.len() > MOST_LISTED {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}

/// Why a column may hold a field, the best reason first: a person chose it before, it has the name of
/// the key, the letters of the key, or the letters of the label.
const RULES: usize = 4;

/// The columns of a file that a name finds.
struct NamedColumns<'a> {
    /// The only column of a name; `None` for a name that the file has twice, which cannot be read.
    exact: HashMap<&'a str, Option<usize>>,
    /// The columns whose names have these letters, the last first.
    alike: HashMap<String, Vec<usize>>,
    is_taken: Vec<bool>,
}

impl<'a> NamedColumns<'a> {
    fn of(header: &'a [String]) -> Self {
        let mut exact = HashMap::new();
        for (place, name) in header.iter().enumerate() {
            let known = exact.entry(name.as_str());
            known.and_modify(|it| *it = None).or_insert(Some(place));
        }
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, name) in header.iter().enumerate().rev() {
            if exact.get(name.as_str()) == Some(&Some(place)) {
                alike.entry(letters(name)).or_default().push(place);
            }
        }
        alike.remove("");
        Self {
            exact,
            alike,
            is_taken: vec![false; header.len()],
        }
    }

    /// Takes the column of this name, unless it is taken.
    fn take_exact(&mut self, name: &str) -> Option<usize> {
        let place = self.exact.get(name).copied().flatten()?;
        let is_taken = self.is_taken.get_mut(place)?;
        (!std::mem::replace(is_taken, true)).then_some(place)
    }

    /// Takes the first column whose name has the letters of this one.
    fn take_alike(&mut self, name: &str) -> Option<usize> {
        let places = self.alike.get_mut(&letters(name))?;
        while let Some(place) = places.pop() {
            let is_taken = self.is_taken.get_mut(place)?;
            if !std::mem::replace(is_taken, true) {
                return Some(place);
            }
        }
        None
    }
}

/// Suggests a column for each field, `ref` and `context`, and leaves out those without one. A column
/// that a person chose before is suggested first, then one of the same name as the field's key or
/// label, regardless of case, spaces and punctuation. No column is suggested twice.
pub fn suggest_columns(
    version: &PrismVersion,
    header: &[String],
    remembered: &[ColumnMapping],
) -> Vec<ColumnMapping> {
    let fields = version.fields().iter();
    let fields = fields.map(|field| (field.key.as_str(), field.label.as_str()));
    let wanted: Vec<_> = fields.chain([(REF, REF), (CONTEXT, CONTEXT)]).collect();
    let mut columns = NamedColumns::of(header);
    let mut found: Vec<Option<usize>> = vec![None; wanted.len()];
    // better matches of any field come before worse ones of all others
    for rule in 0..RULES {
        for ((key, label), found) in wanted.iter().zip(&mut found) {
            if found.is_some() {
                continue;
            }
            let mut chosen = remembered.iter().filter(|it| it.field == *key);
            *found = match rule {
                0 => chosen.find_map(|it| columns.take_exact(&it.column)),
                1 => columns.take_exact(key),
                2 => columns.take_alike(key),
                _ => columns.take_alike(label),
            };
        }
    }
    let suggested = wanted.iter().zip(found);
    let suggested = suggested.filter_map(|((key, _), place)| {
        let column = header.get(place?)?.clone();
        let field = (*key).to_owned();
        Some(ColumnMapping { column, field })
    });
    suggested.collect()
}

/// The letters and digits of a name in lower case.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
