//! Which columns are wanted, and where a header has them.

use super::InputFault;

/// Columns that a message lists.
const MOST_LISTED: usize = 20;
/// Longer names are not repeated: a file without a header begins with a text.
const LONGEST_LISTED: usize = 40;

/// The columns that a run reads: by name, and whether it can do without.
#[derive(Clone, Debug)]
pub(crate) struct Wanted(pub(crate) Vec<WantedColumn>);

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct WantedColumn {
    /// The name in the file.
    pub(crate) name: String,
    /// Whether every row needs it.
    pub(crate) is_required: bool,
}

/// Where the wanted columns stand, and what else there is.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The position of each wanted column; `None` where the file can do without it.
    pub(crate) positions: Vec<Option<usize>>,
    /// Names of the others.
    pub(crate) passed_by: Vec<String>,
}

impl Wanted {
    /// Finds the columns in a header.
    pub(crate) fn place(&self, header: &[String]) -> Result<Placed, InputFault> {
        let mut positions = Vec::with_capacity(self.0.len());
        let mut missing = Vec::new();
        for column in &self.0 {
            let mut found = header
                .iter()
                .enumerate()
                .filter(|(_, name)| **name == column.name);
            let position = found.next().map(|(position, _)| position);
            if found.next().is_some() {
                return Err(InputFault::Twice(column.name.clone()));
            }
            if position.is_none() && column.is_required {
                missing.push(column.name.clone());
            }
            positions.push(position);
        }
        let others = header.iter().enumerate();
        let others = others.filter(|(position, _)| !positions.contains(&Some(*position)));
        let passed_by: Vec<_> = others.map(|(_, name)| name.clone()).collect();
        if missing.is_empty() {
            return Ok(Placed {
                positions,
                passed_by,
            });
        }
        let present = listed(header);
        Err(InputFault::Missing { missing, present })
    }

    /// How many of them a header has.
    pub(crate) fn count_in(&self, header: &[String]) -> usize {
        let found = self.0.iter().filter(|column| header.contains(&column.name));
        found.count()
    }
}

/// Column names for people.
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
