//! Brings prisms and lenses to the state of their files, all or none.

use refract_boxed_futures::boxed;
use std::collections::BTreeMap;

use refract_authoring::definition_name::DefinitionKind;
use refract_domain::prism::{PrismSelector, Slug};
use refract_identity::people::AccountActor;
use refract_persistence::{PersistenceError, WriteOutcome};

use super::planned_definition::{
    AppliedDefinition, DefinitionError, DefinitionFile, PlannedDefinition, PrismFiles,
};
use super::{ATTEMPTS, PrismError};
use crate::prisms::Prisms;

/// Files to apply.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The files, of any number of prisms.
    pub files: Vec<DefinitionFile>,
    /// Whether nothing is saved.
    pub is_dry: bool,
}

/// Why nothing was applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// Files that break rules, with every fault of every file.
    #[error("files cannot be applied")]
    InvalidFiles(Vec<DefinitionError>),
    /// A prism cannot be changed.
    #[error(transparent)]
    Prism(#[from] PrismError),
}

impl From<PersistenceError> for ApplyError {
    fn from(error: PersistenceError) -> Self {
        Self::Prism(error.into())
    }
}

#[boxed]
impl Prisms<'_> {
    /// Applies files in one transaction, with an event for each change. A definition equal to the
    /// saved one saves nothing. The plan is based on what was read; if one of the prisms changes
    /// meanwhile, the plan is made again.
    ///
    /// # Errors
    /// When a file breaks rules, others change a prism during every attempt, or the database fails.
    pub async fn apply(
        self,
        actor: &AccountActor,
        apply: &Apply,
    ) -> Result<Vec<AppliedDefinition>, ApplyError> {
        let by_prism = by_prism(&apply.files)?;
        for _ in 0..ATTEMPTS {
            let planned = self.plan_definitions(actor, &by_prism).await?;
            let changed = planned.iter().filter(|planned| planned.is_change());
            let definitions: Vec<_> = changed.map(|planned| planned.definition(actor)).collect();
            let is_saved = apply.is_dry
                || definitions.is_empty()
                || self.refract.database.save_definitions(&definitions).await?
                    == WriteOutcome::Saved;
            if is_saved {
                return Ok(in_order(&apply.files, &planned));
            }
        }
        Err(PrismError::Contended.into())
    }
}

/// The files of each prism, by its slug: prisms are read and saved in this order.
fn by_prism(files: &[DefinitionFile]) -> Result<BTreeMap<&Slug, PrismFiles<'_>>, ApplyError> {
    let mut found: BTreeMap<&Slug, PrismFiles<'_>> = BTreeMap::new();
    let mut errors = Vec::new();
    for file in files {
        let of_prism = found.entry(&file.name.slug).or_default();
        let place = match file.name.kind {
            DefinitionKind::Prism => &mut of_prism.prism,
            DefinitionKind::Lens => &mut of_prism.lens,
        };
        match place {
            None => *place = Some(file),
            Some(other) => errors.push(DefinitionError {
                file: file.file.clone(),
                text: format!("{} defines it too: give one of the two", other.file),
            }),
        }
    }
    none_or(errors, found)
}

impl Prisms<'_> {
    /// Plans what each prism's files change.
    async fn plan_definitions<'a>(
        self,
        actor: &AccountActor,
        by_prism: &BTreeMap<&'a Slug, PrismFiles<'a>>,
    ) -> Result<Vec<PlannedDefinition<'a>>, ApplyError> {
        let mut planned = Vec::new();
        let mut errors = Vec::new();
        for (slug, files) in by_prism {
            let selector = PrismSelector::Slug(slug.as_str().to_owned());
            let database = &self.refract.database;
            let found = database.find_prism(actor.account(), &selector).await?;
            let plan = match found {
                None => PlannedDefinition::of_new(slug, files),
                Some(prism) => {
                    let (prism, earlier) = self.read_earlier(prism.id).await?;
                    PlannedDefinition::of_read(slug, prism, &earlier, files)
                }
            };
            match plan {
                Ok(plan) => planned.push(plan),
                Err(more) => errors.extend(more),
            }
        }
        none_or(errors, planned)
    }
}

/// The outcome of each file, in the order in which the files were given.
fn in_order(files: &[DefinitionFile], planned: &[PlannedDefinition<'_>]) -> Vec<AppliedDefinition> {
    let applied = files.iter().filter_map(|file| {
        let mut planned = planned.iter();
        planned.find_map(|planned| planned.applied(file))
    });
    applied.collect()
}

fn none_or<T>(errors: Vec<DefinitionError>, value: T) -> Result<T, ApplyError> {
    if errors.is_empty() {
        Ok(value)
    } else {
        Err(ApplyError::InvalidFiles(errors))
    }
}
