//! The columns of a run, and their positions in a header.

use super::input_error::InputError;

/// Upper bound on the column names in a message.
const MOST_LISTED: usize = 20;
/// Longest column name in a message, in characters. In a file without a header the first row's
/// texts take its place, and a message must not repeat them.
const LONGEST_LISTED: usize = 40;

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
            if found.next().is_some() {
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
            "" => format!("column_{}", position + 1),
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
