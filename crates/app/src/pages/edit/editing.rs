//! A draft with its prism and the problems of the draft.

use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problem, Problems};
use refract_domain::submission::budget;
use refract_service::prisms::{Prism, PrismError};

use super::carried_draft::DraftBase;
use super::draft::EditDraft;
use super::draft_form;
use crate::components::form_errors::at_paths;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::{Visit, version_number};

/// The input that is sent while all validation errors are shown.
pub(crate) const ASKED: &str = "asked";
/// The hidden input with the prism's name at the time the form was made.
pub(crate) const NAMED: &str = "named";

/// A draft and the prism that it changes.
pub(crate) struct Editing {
    pub(crate) draft: EditDraft,
    /// `None` for an unsaved prism.
    pub(crate) prism: Option<Prism>,
    /// The version that the draft was made from.
    pub(crate) based_on: Option<VersionNumber>,
    /// The version that the form was made from.
    pub(crate) base: DraftBase,
    /// Whether the form may hold unsaved changes.
    pub(crate) is_touched: bool,
    /// Whether the user tried to continue; if so, all validation errors are shown.
    pub(crate) is_asked: bool,
}

/// The validation result of a draft.
#[derive(Default)]
pub(crate) struct CheckedDraft {
    pub(crate) problems: Vec<Problem>,
    /// Wording warnings about the open questions.
    pub(crate) warnings: Vec<WordingWarning>,
    /// Estimated tokens of the prism in every call; `None` while there are problems.
    pub(crate) size: Option<usize>,
    /// Whether all validation errors are shown.
    pub(crate) is_asked: bool,
}

impl Editing {
    /// The draft of an unsaved prism.
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

    /// The draft that a form of this page holds.
    pub(crate) async fn of_form(visit: &Visit) -> Result<Self, PageError> {
        let form = &visit.sent.form;
        let mut editing = Self::new_prism(EditDraft::default());
        // the address of a new prism has no slug
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

    /// Takes over the prism's new name, if it was renamed meanwhile and the form still has the old
    /// one.
    fn follow_new_name(&mut self, named: &str) {
        if let Some(prism) = &self.prism
            && self.draft.name == named
        {
            self.draft.name.clone_from(&prism.name);
        }
    }

    /// Rebases the draft on another version.
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

    /// Validates the draft by the rules for saving. Nothing is saved.
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

    /// The validation errors at a path as one text; empty for none, or if errors are not shown yet.
    pub(crate) fn error(&self, path: &str) -> String {
        if !self.is_asked {
            return String::new();
        }
        at_paths(&self.problems, &[path])
    }
}
