//! A draft with its prism and the problems of the draft.

use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::ids::PrismId;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problem, Problems};
use refract_domain::submission::budget;
use refract_service::prisms::{Prism, PrismError, find_example};

use super::act::FormAction;
use super::carried_draft::DraftBase;
use super::draft::EditDraft;
use super::keeping::KeptState;
use super::stored_edit::EditExtras;
use super::{draft_form, keeping};
use crate::components::form_errors::at_paths;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::{Visit, version_number};

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
    /// The person's stored draft of the prism in the address, or of a new prism. Without one, the
    /// latest version, or an example or nothing for a new prism.
    pub(crate) async fn find(visit: &Visit) -> Result<Self, PageError> {
        let mut editing = Self::of_address(visit).await?;
        let query = &visit.sent.query;
        editing.is_asked = query.get("check").is_some();
        let stored = visit.refract.drafts().find(keeping::place(visit, &editing));
        let stored = stored.await?;
        if !keeping::take(&mut editing, visit, stored).await? {
            match &editing.prism {
                Some(prism) => {
                    let latest = prism.latest_version;
                    let name = prism.name.clone();
                    editing.put_on(visit, latest).await?;
                    if let Some(base) = &editing.base.0 {
                        editing.draft = EditDraft::of(&name, base);
                    }
                }
                None => editing.draft = new_draft(query.get("from")),
            }
        }
        if query.get("acted").is_none() {
            editing.extras.acted = FormAction::default();
        }
        Ok(editing)
    }

    /// The draft that a form of this page holds.
    pub(crate) async fn of_form(visit: &Visit) -> Result<Self, PageError> {
        let form = &visit.sent.form;
        let mut editing = Self::of_address(visit).await?;
        if editing.prism.is_some() {
            let number = version_number(form.get("based_on")).ok_or(PageError::NoForm)?;
            editing.put_on(visit, number).await?;
        } else if let Some(id) = PrismId::parse(form.get(NEW_ID)) {
            editing.id = id;
        }
        editing.draft = draft_form::read(form, &editing.base)?;
        editing.is_asked = form.has(ASKED);
        let stored = visit.refract.drafts().find(keeping::place(visit, &editing));
        keeping::meet(&mut editing, form, stored.await?);
        editing.extras.texts = draft_form::read_texts(form);
        editing.follow_new_name(form.get(NAMED));
        Ok(editing)
    }

    /// The prism in the address, or a new one, without a draft.
    async fn of_address(visit: &Visit) -> Result<Self, PageError> {
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
        let file = self.draft.file();
        if self.prism.is_none() {
            return Ok(PrismFile::read(&file, None));
        }
        let selector = visit.prism()?;
        let prisms = visit.refract.prisms();
        match prisms.draft(visit.account(), &selector, &file).await {
            Ok(draft) => Ok(Ok(draft.file)),
            Err(PrismError::Invalid(problems)) => Ok(Err(problems)),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Validates the draft by the rules for saving. Nothing is saved.
    pub(crate) async fn check(&self, visit: &Visit) -> Result<CheckedDraft, PageError> {
        Ok(CheckedDraft {
            is_asked: self.is_asked,
            ..CheckedDraft::of(&self.draft, self.read(visit).await?)
        })
    }
}

/// The draft of a new prism, from an example or empty.
fn new_draft(example: Option<&str>) -> EditDraft {
    let example = example.and_then(find_example);
    let example = example.and_then(|example| PrismFile::read(example.file, None).ok());
    example.map_or_else(EditDraft::blank, |file| {
        EditDraft::of(file.name.as_str(), &file.version).into_new()
    })
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
