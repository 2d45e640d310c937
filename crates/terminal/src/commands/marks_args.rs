//! The argument that chooses which marks count in measures.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use refract_domain::result::mark::source::MarksFrom;

use crate::output;
use crate::terminal::counted;

/// The argument of every command that measures by marks.
#[derive(Args)]
pub(super) struct MarksArgs {
    /// random: those of randomly drawn results, and imported ones; all: also those of results that
    /// somebody chose, which are no fair sample
    #[arg(
        id = "marks",
        long = "marks",
        value_name = "WHICH",
        default_value = MarksFrom::Random.name(),
        value_parser = PossibleValuesParser::new(MarksFrom::ALL.map(MarksFrom::name))
            .map(|name| MarksFrom::named(&name).unwrap_or_default())
    )]
    pub(super) from: MarksFrom,
}

impl MarksArgs {
    /// Says on stderr which marks the measures do not count, or that they are no fair sample.
    pub(super) fn say(&self, left_out: u64) {
        if let Some(words) = self.describe(left_out) {
            output::say(&words);
        }
    }

    fn describe(&self, left_out: u64) -> Option<String> {
        match (self.from, left_out) {
            (MarksFrom::Random, 0) => None,
            (MarksFrom::Random, left_out) => Some(format!(
                "{} left out: only marks of randomly drawn results and imported ones are a fair \
                 sample. `--marks all` counts all.",
                counted(left_out, "mark")
            )),
            (MarksFrom::All, _) => Some(
                "All marks count, also those of results that somebody chose: they are no fair \
                 sample of all results."
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_do_not_count_are_reported() {
        let words = |from, left_out| MarksArgs { from }.describe(left_out);
        assert_eq!(words(MarksFrom::Random, 0), None);
        assert!(
            words(MarksFrom::Random, 1)
                .unwrap()
                .starts_with("1 mark left")
        );
        assert!(words(MarksFrom::All, 0).unwrap().contains("no fair sample"));
    }
}
