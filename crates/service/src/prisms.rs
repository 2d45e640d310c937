//! Prisms and their lenses: what operators and people do to them.
//! Which version answers a call, and which one answered a saved result.
//!
//! People start from the example prisms, and the demo runs with one: they are the files under
//! `docs/examples`, embedded.

mod apply;
mod example_texts;
mod history;
mod planned_definition;
mod save;
pub(crate) mod trial;

use refract_boxed_futures::boxed;
use std::sync::Arc;

use chrono::Utc;
use refract_authoring::prism_file::PrismFile;
use refract_domain::ids::{AccountId, PersonId, PrismId};
use refract_domain::prism::{PrismSelector, PrismVersion, VersionNumber};
use refract_domain::problem::Problems;
use refract_persistence::{Database, PersistenceError};

use crate::results::counts::PrismCounts;
use crate::{CallError, InternalError, Refract};

pub use self::apply::{Apply, ApplyError};
pub(crate) use self::example_texts::TextHash;
pub use self::example_texts::{
    AskedExamples, CheckedExample, ExampleError, ExampleInput, ExampleState, ExampleTexts,
    ExpectedAnswer,
};
pub use self::history::{
    COMPARED_VERSIONS, ChangeOfPrism, PrismChange, PrismOverview, VersionOverview,
};
pub use self::planned_definition::{
    AppliedDefinition, ApplyOutcome, DefinitionError, DefinitionFile,
};
pub use self::save::{NextVersion, SavedMeanwhile, VersionDraft};
pub use self::trial::{DraftTrialCost, TrialError};
pub use refract_persistence::{ExampleText, Prism, PrismHistory, SavedExamples};

/// Attempts at a change that conflicts with other changes of the prism.
pub(crate) const ATTEMPTS: usize = 16;

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

/// A change to a prism was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum PrismError {
    /// No such prism in the account.
    #[error("Prism not found")]
    NotFound,
    /// The prism has no such version.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The prism or lens file breaks rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The prism's latest version has the highest possible number.
    #[error("the prism has its highest version already")]
    NoMoreVersions,
    /// Another version was saved after the one that the change is based on.
    #[error(
        "version {latest} was saved meanwhile: look at what it changes, and save again on top of it"
    )]
    VersionMeanwhile {
        /// The prism's latest version now.
        latest: VersionNumber,
    },
    /// The lens was changed after the one that the change is based on.
    #[error("the lens was changed meanwhile: look at it, and save again on top of it")]
    LensMeanwhile,
    /// The history of the prism's lens has no such revision.
    #[error("the history of the lens has no such revision")]
    LensRevisionNotFound,
    /// Every attempt conflicted with another change of the prism.
    #[error("the prism is being changed by others: try again")]
    Contended,
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<InternalError> for PrismError {
    fn from(error: InternalError) -> Self {
        match error {
            InternalError::Persistence(error) => Self::Persistence(error),
            InternalError::VersionMissing => Self::VersionNotFound,
            InternalError::LensKeepsMoving | InternalError::NoModel => Self::Contended,
        }
    }
}

/// A prism with its numbers of results.
#[derive(Clone, Debug)]
pub struct ListedPrism {
    /// The prism, archived or not.
    pub prism: Prism,
    /// Counts of its results.
    pub counts: PrismCounts,
}

/// What a person who is new to the app has not done yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSteps {
    /// Nobody tried a text as this person.
    pub try_text: bool,
    /// No prism of the account has a lens that was ever changed.
    pub move_cutoff: bool,
    /// The account has at most the one prism that it began with.
    pub make_prism: bool,
}

#[boxed]
impl Prisms<'_> {
    /// The first steps that a person has not taken yet, given the prisms of the account.
    pub async fn first_steps(
        self,
        person: PersonId,
        prisms: &[ListedPrism],
    ) -> Result<FirstSteps, InternalError> {
        let has_tried = self.refract.database.has_results_of(person).await?;
        Ok(FirstSteps {
            try_text: !has_tried,
            move_cutoff: prisms.iter().all(|listed| listed.prism.lens_revision == 0),
            make_prism: prisms.len() < 2,
        })
    }

    /// The prisms of an account with their numbers of results, oldest first, archived ones
    /// included.
    pub async fn list(self, account: AccountId) -> Result<Vec<ListedPrism>, InternalError> {
        let prisms = self.refract.database.list_prisms(account).await?;
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let listed = prisms.into_iter().map(|prism| ListedPrism {
            counts: counts.of_prism(prism.id).clone(),
            prism,
        });
        Ok(listed.collect())
    }

    /// A prism by slug or id, archived or not.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn find(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Prism, PrismError> {
        self.refract
            .database
            .find_prism(account, prism)
            .await?
            .ok_or(PrismError::NotFound)
    }

    /// A version of a prism, by its number.
    ///
    /// # Errors
    /// When there is no such version, or the database fails.
    pub async fn find_version(
        self,
        prism: &Prism,
        version: VersionNumber,
    ) -> Result<Arc<PrismVersion>, PrismError> {
        let database = &self.refract.database;
        let found = database.find_version(prism.id, version).await?;
        found.ok_or(PrismError::VersionNotFound)
    }

    /// All prisms of an account, archived or not.
    pub async fn all(self, account: AccountId) -> Result<Vec<Prism>, PrismError> {
        Ok(self.refract.database.list_prisms(account).await?)
    }

    /// A prism with all its versions and its lens.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn with_versions(self, prism: PrismId) -> Result<PrismHistory, PrismError> {
        let found = self.refract.database.prism_history(prism).await?;
        found.ok_or(PrismError::NotFound)
    }
}

/// A prism version with its number.
#[derive(Clone)]
pub(crate) struct NumberedVersion {
    pub(crate) number: VersionNumber,
    pub(crate) version: Arc<PrismVersion>,
}

/// Refuses a prism that does not exist or is archived (spec 3.2).
pub(crate) fn check_active(found: Option<Prism>) -> Result<Prism, CallError> {
    found
        .filter(|prism| prism.archived_at.is_none())
        .ok_or(CallError::PrismNotFound)
}

/// The version that a call pins, or the prism's latest.
pub(crate) async fn find_version_to_ask(
    database: &Database,
    prism: &Prism,
    pinned: Option<VersionNumber>,
) -> Result<NumberedVersion, CallError> {
    let number = pinned.unwrap_or(prism.latest_version);
    let found = database.find_version(prism.id, number).await?;
    let version = found.ok_or(CallError::VersionNotFound)?;
    Ok(NumberedVersion { number, version })
}

/// The version that answered a saved result, which always exists.
pub(crate) async fn find_saved_version(
    database: &Database,
    prism: PrismId,
    number: VersionNumber,
) -> Result<Arc<PrismVersion>, InternalError> {
    let found = database.find_version(prism, number).await?;
    found.ok_or(InternalError::VersionMissing)
}

/// An example of a prism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExamplePrism {
    /// The example's name in URLs; also the slug of the first prism that is made from it.
    pub slug: &'static str,
    /// The prism's name.
    pub name: &'static str,
    /// One sentence on what the prism answers.
    pub words: &'static str,
    /// The prism file.
    pub file: &'static [u8],
    /// Texts for its first field, to try the prism with.
    pub sample_texts: [&'static str; 3],
}

/// Messages to the support of a shop; the prism of the demo.
pub const SUPPORT_TRIAGE: ExamplePrism = ExamplePrism {
    slug: "support-triage",
    name: "Support triage",
    words: "What a customer's message is about, whether its writer is angry, and how urgent it is.",
    file: include_bytes!("../../../docs/examples/support-triage.json"),
    sample_texts: [
        "I was charged twice for one order, and this is the third time that I write. Give me my \
         money back today!",
        "Hello, my parcel was to arrive on Monday. Do you know where it is?",
        "Just wanted to say that the new shoes are lovely. Thank you.",
    ],
};

/// Every example, the simplest first.
pub const EXAMPLES: [ExamplePrism; 3] = [
    SUPPORT_TRIAGE,
    ExamplePrism {
        slug: "review-moderation",
        name: "Review moderation",
        words: "Whether a customer's review may be shown, whether it is about the product, and how \
                satisfied the customer is.",
        file: include_bytes!("../../../docs/examples/review-moderation.json"),
        sample_texts: [
            "The kettle boils fast and is easy to clean. I would buy it again.",
            "Broke after two days. The courier threw the box over the fence, too.",
            "Buy cheap watches at my shop, link in my profile!!!",
        ],
    },
    ExamplePrism {
        slug: "lead-qualification",
        name: "Lead qualification",
        words: "What a company asks for, whether it names a date, and how close it is to booking.",
        file: include_bytes!("../../../docs/examples/lead-qualification.json"),
        sample_texts: [
            "We are 60 people and need a place for our yearly meeting on 14 May. Please send an offer.",
            "Do you also rent out rooms for weddings? No date yet, we are only looking around.",
            "Please remove us from your mailing list.",
        ],
    },
];

/// A prism file to begin with, whose comments explain it.
pub const NEW_PRISM: &[u8] = include_bytes!("../../../docs/examples/new-prism.json");

/// Texts to try a version with: those of the example that asks the same questions; none for other
/// versions.
pub fn sample_texts(version: &PrismVersion) -> &'static [&'static str] {
    let asks_alike = |example: &&ExamplePrism| {
        let file = PrismFile::read(example.file, None);
        file.is_ok_and(|file| {
            let keys = |version: &PrismVersion| {
                let questions = version.questions().iter();
                questions
                    .map(|question| question.key.clone())
                    .collect::<Vec<_>>()
            };
            keys(&file.version) == keys(version)
        })
    };
    let found = EXAMPLES.iter().find(asks_alike);
    found.map_or(&[], |example| &example.sample_texts)
}

/// The example whose name in URLs is `slug`.
pub fn find_example(slug: &str) -> Option<&'static ExamplePrism> {
    EXAMPLES.iter().find(|example| example.slug == slug)
}

#[cfg(test)]
mod tests {
    use refract_authoring::{made_names, wording};

    use super::*;

    #[test]
    fn every_example_is_a_prism_of_its_name_without_warnings() {
        for example in &EXAMPLES {
            let file = PrismFile::read(example.file, None).unwrap();
            assert_eq!(file.name.as_str(), example.name);
            let slug = made_names::slugs(example.name).next().unwrap();
            assert_eq!(slug.as_str(), example.slug);
            assert_eq!(wording::lint(&file.version), [], "{}", example.name);
            assert_eq!(find_example(example.slug), Some(example));
            assert_eq!(sample_texts(&file.version), example.sample_texts);
        }
        assert_eq!(find_example("blank"), None);
    }

    #[test]
    fn the_file_to_begin_with_has_every_type_of_question_and_no_warnings() {
        let file = PrismFile::read(NEW_PRISM, None).unwrap();
        let types = file.version.questions().iter();
        let types: Vec<_> = types
            .map(|question| question.question_type().name())
            .collect();
        assert_eq!(types, ["choice", "yes_no", "scale"]);
        assert!(file.version.context().is_some());
        assert_eq!(wording::lint(&file.version), []);
    }
}
