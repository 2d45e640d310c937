//! A draft with its prism and the problems of the draft.

use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::ids::PrismId;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problem, Problems};
use refract_domain::submission::budget;
use refract_service::prisms::{Prism, VersionDraft};

use super::carried_draft::DraftBase;
use super::draft::EditDraft;
use super::kept_state::KeptState;
use super::stored_edit::EditExtras;
use crate::components::form_errors::at_paths;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::off_event_loop::off_event_loop;
use crate::requests::visit::Visit;

/// The input that is sent while all validation errors are shown.
pub(crate) const ASKED: &str = "asked";
/// The hidden input with the prism's name at the time the form was made.
pub(crate) const NAMED: &str = "named";
/// The hidden input with the id that a new prism will get.
pub(crate) const NEW_ID: &str = "new_id";

/// A draft and the prism that it changes.
pub(crate) struct Editing {
    pub(crate) draft: EditDraft,
    /// `None` for an unsaved prism.
    pub(crate) prism: Option<Prism>,
    /// The id of the prism; a new prism will get it.
    pub(crate) id: PrismId,
    /// The version that the draft was made from.
    pub(crate) based_on: Option<VersionNumber>,
    /// The version that the form was made from.
    pub(crate) base: DraftBase,
    /// What belongs to the draft besides the prism's words.
    pub(crate) extras: EditExtras,
    /// How the draft is kept.
    pub(crate) kept: KeptState,
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
    /// The prism in the address, or a new one, without a draft.
    pub(crate) async fn of_address(visit: &Visit) -> Result<Self, PageError> {
        // the address of a new prism has no slug
        let is_new = visit.sent.values.get("slug").is_empty();
        let prism = if is_new {
            None
        } else {
            Some(visit.find_prism().await?)
        };
        let new_id = || visit.refract.prisms().new_id();
        Ok(Self {
            id: prism.as_ref().map_or_else(new_id, |prism| prism.id),
            draft: EditDraft::default(),
            based_on: None,
            base: DraftBase::default(),
            extras: EditExtras::default(),
            kept: KeptState::of_page(visit),
            is_asked: false,
            prism,
        })
    }

    /// Takes over the prism's new name, if it was renamed meanwhile and the form still has the old
    /// one.
    pub(crate) fn follow_new_name(&mut self, named: &str) {
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

    /// Parses the draft by the rules for saving. Nothing is saved.
    pub(crate) async fn read(
        &self,
        visit: &Visit,
    ) -> Result<Result<PrismFile, Problems>, PageError> {
        if self.prism.is_some() {
            let read = self.read_version(visit).await?;
            return Ok(read.map(|draft| draft.file));
        }
        let file = self.draft.file();
        off_event_loop(move || PrismFile::read(&file, None)).await
    }

    /// Parses the draft as the next version of its prism. Nothing is saved.
    pub(crate) async fn read_version(
        &self,
        visit: &Visit,
    ) -> Result<Result<VersionDraft, Problems>, PageError> {
        let (prisms, selector) = (visit.refract.prisms(), visit.prism()?);
        let next = prisms.next_version(visit.account(), &selector).await?;
        let file = self.draft.file();
        off_event_loop(move || next.draft(&file)).await
    }

    /// Validates the draft by the rules for saving. Nothing is saved.
    pub(crate) async fn check(&self, visit: &Visit) -> Result<CheckedDraft, PageError> {
        let read = self.read(visit).await?;
        let questions = self.draft.questions.iter();
        let open: Vec<bool> = questions.map(|question| !question.is_folded).collect();
        let checked = off_event_loop(move || CheckedDraft::of(read, &open)).await?;
        Ok(CheckedDraft {
            is_asked: self.is_asked,
            ..checked
        })
    }
}

impl CheckedDraft {
    /// Of what was read of a draft, and of which of its questions are open.
    fn of(read: Result<PrismFile, Problems>, open: &[bool]) -> Self {
        match read {
            Ok(PrismFile { version, name: _ }) => Self {
                warnings: lint_questions(&version, |place| open.get(place) == Some(&true)),
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
