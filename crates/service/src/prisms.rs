//! Prisms and their lenses: what operators and people do to them.

mod apply;
mod change;
mod definition;
mod draft;
mod earlier;
pub(crate) mod error;
mod example_texts;
mod examples;
mod find;
mod history;
mod list;
mod meanwhile;
mod overview;
mod planned_definition;
mod repeat;
mod save;
pub(crate) mod text_hash;
pub(crate) mod trial;
mod trial_texts;
pub(crate) mod versions;

pub use self::apply::{Apply, ApplyError};
pub use self::definition::{AppliedDefinition, ApplyOutcome, DefinitionError, DefinitionFile};
pub use self::draft::{NextVersion, VersionDraft};
pub use self::error::PrismError;
pub use self::example_texts::{
    AskedExamples, CheckedExample, ExampleError, ExampleInput, ExampleState, ExampleTexts,
    ExpectedAnswer,
};
pub use self::examples::{
    EXAMPLES, ExamplePrism, NEW_PRISM, SUPPORT_TRIAGE, find_example, sample_texts,
};
pub use self::history::{ChangeOfPrism, PrismChange};
pub use self::list::{FirstSteps, ListedPrism};
pub use self::meanwhile::SavedMeanwhile;
pub use self::overview::{COMPARED_VERSIONS, PrismOverview, VersionOverview};
pub use self::trial::{DraftTrialCost, TRIAL_TEXTS, TrialError, TrialPair};
pub use self::trial_texts::{TRIAL_CANDIDATES, TrialTexts};
pub use refract_persistence::{ExampleText, Prism, PrismHistory, SavedExamples};

use crate::Refract;

/// The use cases of prisms, from [`Refract::prisms`](crate::Refract::prisms).
#[derive(Clone, Copy)]
pub struct Prisms<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Prisms and their versions.
    pub fn prisms(&self) -> Prisms<'_> {
        Prisms { refract: self }
    }
}
