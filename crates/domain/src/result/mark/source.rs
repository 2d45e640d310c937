//! How a result came to be marked, which decides whether its mark may measure quality.

/// How a result came to be marked. A mark without a source is from before sources were saved, or
/// somebody made it on a result that they had chosen themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkSource {
    /// The result was drawn at random.
    Random,
    /// The result was among those nearest to a cutoff.
    Near,
    /// The result was among those with the least sure answers.
    LeastSure,
    /// The result was among those that a filter selects.
    Filter,
    /// The mark was imported from a file.
    Import,
}

/// Which marks count in measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarksFrom {
    /// Marks of randomly drawn results, and imported ones. Other marks are of results that somebody
    /// chose: of the least sure answers more are wrong than of all answers.
    #[default]
    Random,
    /// All marks, although they are no fair sample.
    All,
}

impl MarkSource {
    /// Every source.
    pub const ALL: [Self; 5] = [
        Self::Random,
        Self::Near,
        Self::LeastSure,
        Self::Filter,
        Self::Import,
    ];

    /// The source's name: `random`, `near`, `least_sure`, `filter` or `import`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Near => "near",
            Self::LeastSure => "least_sure",
            Self::Filter => "filter",
            Self::Import => "import",
        }
    }

    /// The source with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Whether marks of this source are a fair sample of all results.
    pub const fn is_fair(self) -> bool {
        match self {
            Self::Random | Self::Import => true,
            Self::Near | Self::LeastSure | Self::Filter => false,
        }
    }
}

impl MarksFrom {
    /// Both choices, the default first.
    pub const ALL: [Self; 2] = [Self::Random, Self::All];

    /// The choice's name: `random` or `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::All => "all",
        }
    }

    /// The choice with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|from| from.name() == name)
    }

    /// Whether a mark of this source counts.
    pub fn counts(self, source: Option<MarkSource>) -> bool {
        match self {
            Self::Random => source.is_some_and(MarkSource::is_fair),
            Self::All => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_choices_are_found_by_name() {
        for source in MarkSource::ALL {
            assert_eq!(MarkSource::named(source.name()), Some(source));
        }
        for from in MarksFrom::ALL {
            assert_eq!(MarksFrom::named(from.name()), Some(from));
        }
        assert_eq!(MarkSource::named("Random"), None);
        assert_eq!(MarksFrom::named(""), None);
    }

    #[test]
    fn random_and_imported_marks_count_by_default() {
        let counted = MarkSource::ALL.map(|source| MarksFrom::default().counts(Some(source)));
        assert_eq!(counted, [true, false, false, false, true]);
        assert!(!MarksFrom::Random.counts(None) && MarksFrom::All.counts(None));
    }
}
