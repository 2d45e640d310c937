//! The values of the varying segments of a path.

/// The values of a path's varying segments, by their names in the pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathValues(Vec<(&'static str, String)>);

impl PathValues {
    /// The values by name.
    pub(crate) fn new(values: Vec<(&'static str, String)>) -> Self {
        Self(values)
    }

    /// The decoded value of a segment; empty if the pattern has no such name.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }
}
