//! A draft with the prism that it belongs to, and what its rules say about it.

use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problem, Problems};
use refract_domain::submission::budget;
use refract_service::prisms::{Prism, PrismError};

use super::carried_draft::DraftBase;
use super::draft::EditDraft;
use super::draft_form;
use crate::components::form_faults::at_paths;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::{Visit, version_number};

/// The name of the value that is sent while everything wrong is told.
pub(crate) const ASKED: &str = "asked";
/// The name of the value with the prism's name when the form was made.
pub(crate) const NAMED: &str = "named";

/// A draft and where it is saved.
pub(crate) struct Editing {
    pub(crate) draft: EditDraft,
    /// `None` for a prism that is not saved yet.
    pub(crate) prism: Option<Prism>,
    /// The version that the draft was made from.
    pub(crate) based_on: Option<VersionNumber>,
    /// The version that the form was made from.
    pub(crate) base: DraftBase,
    /// Whether something may have been typed that is not saved.
    pub(crate) is_touched: bool,
    /// Whether somebody wanted to go on, so that everything wrong is told beside its input.
    pub(crate) is_asked: bool,
}

/// What the rules say about a draft.
#[derive(Default)]
pub(crate) struct CheckedDraft {
    pub(crate) problems: Vec<Problem>,
    /// Warnings about the questions that are open.
    pub(crate) warnings: Vec<WordingWarning>,
    /// Estimated tokens that the prism takes of every call; `None` while there are problems.
    pub(crate) size: Option<usize>,
    /// Whether everything wrong is told beside its input.
    pub(crate) is_asked: bool,
}

impl Editing {
    /// A prism that is not saved yet.
    pub(crate) fn new_prism(draft: EditDraft) -> Self {
        Self {
            draft,
            prism: None,
            based_on: None,
            base: DraftBase::default(),
            is_touched: false,
            is_asked: false,
        }
    }

    /// The latest version of the prism that the address names.
    pub(crate) async fn of_latest(visit: &Visit) -> Result<Self, PageError> {
        let prism = visit.find_prism().await?;
        let prisms = visit.refract.prisms();
        let latest = prisms.find_version(&prism, prism.latest_version).await?;
        let draft = EditDraft::of(&prism.name, &latest);
        Ok(Self {
            based_on: Some(prism.latest_version),
            base: DraftBase(Some(latest)),
            prism: Some(prism),
            ..Self::new_prism(draft)
        })
    }

    /// What a form of the page holds.
    pub(crate) async fn of_form(visit: &Visit) -> Result<Self, PageError> {
        let form = &visit.sent.form;
        let mut editing = Self::new_prism(EditDraft::default());
        // the address of a new prism names none
        if !visit.sent.values.get("slug").is_empty() {
            let prism = visit.find_prism().await?;
            editing.prism = Some(prism);
            let number = version_number(form.get("based_on")).ok_or(PageError::NoForm)?;
            editing.put_on(visit, number).await?;
        }
        editing.draft = draft_form::read(form, &editing.base)?;
        editing.is_touched = true;
        editing.is_asked = form.has(ASKED);
        editing.follow_new_name(form.get(NAMED));
        Ok(editing)
    }

    /// Takes the name that the prism got meanwhile, where nobody typed another one into the form.
    fn follow_new_name(&mut self, named: &str) {
        if let Some(prism) = &self.prism
            && self.draft.name == named
        {
            self.draft.name.clone_from(&prism.name);
        }
    }

    /// Puts the draft on top of another version than the one that it was made from.
    pub(crate) async fn put_on(
        &mut self,
        visit: &Visit,
        number: VersionNumber,
    ) -> Result<(), PageError> {
        if let Some(prism) = &self.prism {
            let base = visit.refract.prisms().find_version(prism, number).await?;
            self.base = DraftBase(Some(base));
            self.based_on = Some(number);
        }
        Ok(())
    }

    /// The address of the form.
    pub(crate) fn address(&self) -> String {
        let prism = self.prism.as_ref().map(prism_address);
        format!("{}/edit", prism.unwrap_or_else(|| "/prisms/new".to_owned()))
    }

    /// Reads the draft by the rules of saving it. Nothing is saved.
    pub(crate) async fn check(&self, visit: &Visit) -> Result<CheckedDraft, PageError> {
        let file = self.draft.file();
        let read = if self.prism.is_none() {
            PrismFile::read(&file, None)
        } else {
            let selector = visit.prism()?;
            let prisms = visit.refract.prisms();
            let read = prisms.draft(visit.account(), &selector, &file);
            match read.await {
                Ok(draft) => Ok(draft.file),
                Err(PrismError::Invalid(problems)) => Err(problems),
                Err(refusal) => return Err(refusal.into()),
            }
        };
        Ok(CheckedDraft {
            is_asked: self.is_asked,
            ..CheckedDraft::of(&self.draft, read)
        })
    }
}

impl CheckedDraft {
    fn of(draft: &EditDraft, read: Result<PrismFile, Problems>) -> Self {
        match read {
            Ok(PrismFile { version, name: _ }) => Self {
                warnings: lint_questions(&version, |place| {
                    let question = draft.questions.get(place);
                    question.is_some_and(|question| !question.is_folded)
                }),
                size: Some(budget::size_of_version(&version)),
                ..Self::default()
            },
            Err(problems) => Self {
                problems: problems.as_slice().to_vec(),
                ..Self::default()
            },
        }
    }

    /// What is wrong with the value at a path, in one text; empty when nothing is or nobody asked.
    pub(crate) fn fault(&self, path: &str) -> String {
        if !self.is_asked {
            return String::new();
        }
        at_paths(&self.problems, &[path])
    }
}
