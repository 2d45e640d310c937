//! A draft with its prism and the problems of the draft; how it is kept; and what is stored of it as
//! JSON: the form's values and what belongs to them, such as what the last button removed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::ids::PrismId;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::{Problem, Problems, ValidationError};
use refract_domain::submission::budget;
use refract_service::drafts::DraftRevision;
use refract_service::prisms::{Prism, VersionDraft};
use serde::{Deserialize, Serialize};

use super::draft::{CarriedDraft, DraftBase, DraftField, DraftQuestion, EditDraft, EditedOutcome};
use super::trial::TriedTexts;
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
        let (file, equal) = (self.draft.file(), self.draft.equal_labels());
        let read = off_event_loop(move || PrismFile::read(&file, None)).await?;
        Ok(read.and_then(|file| equal.none_or(file)))
    }

    /// Parses the draft as the next version of its prism. Nothing is saved.
    pub(crate) async fn read_version(
        &self,
        visit: &Visit,
    ) -> Result<Result<VersionDraft, Problems>, PageError> {
        let (prisms, selector) = (visit.refract.prisms(), visit.prism()?);
        let next = prisms.next_version(visit.account(), &selector).await?;
        let (file, equal) = (self.draft.file(), self.draft.equal_labels());
        let read = off_event_loop(move || next.draft(&file)).await?;
        Ok(read.and_then(|draft| equal.none_or(draft)))
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

impl EditDraft {
    /// The options and levels whose label another one of their question has before them: callers would
    /// tell them apart by keys that no person chose, and readers not at all.
    pub(crate) fn equal_labels(&self) -> Problems {
        let mut problems = Problems::default();
        for (place, question) in self.questions.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for (number, outcome) in question.outcomes.iter().enumerate() {
                let label = outcome.label.trim().to_lowercase();
                if let Some(list) = question.list()
                    && !label.is_empty()
                    && !seen.insert(label)
                {
                    let path = format!("questions.{place}.{list}.{number}.label");
                    let words = "this question has this label already: word it differently";
                    problems.add(path, ValidationError::rule(words));
                }
            }
        }
        problems
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

/// The hidden input with the revision of the draft that the form shows.
pub(crate) const REVISION: &str = "revision";
/// The hidden input with the page that the form belongs to.
pub(crate) const TAB: &str = "tab";

/// How a draft is kept.
pub(crate) struct KeptState {
    /// The revision that the next change replaces.
    pub(crate) revision: DraftRevision,
    /// The page that shows the draft. Its form holds the whole draft, so it may replace a revision
    /// of its own whose reply it did not see.
    pub(crate) tab: String,
    pub(crate) standing: DraftStanding,
}

/// Whether a draft is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DraftStanding {
    /// Nothing is stored yet.
    Unsaved,
    /// It was last stored at this moment.
    Stored(DateTime<Utc>),
    /// Another page stored another draft at this moment; this one is not stored.
    Overtaken(DateTime<Utc>),
    /// The draft was saved or discarded since the page was shown; this one is not stored.
    Gone,
}

impl KeptState {
    /// The state of a page that has stored nothing.
    pub(crate) fn of_page(visit: &Visit) -> Self {
        Self {
            revision: DraftRevision::default(),
            tab: visit.request.as_str().to_owned(),
            standing: DraftStanding::Unsaved,
        }
    }

    /// Whether the draft of this page must not replace the stored one unasked.
    pub(crate) fn is_refused(&self) -> bool {
        match self.standing {
            DraftStanding::Unsaved | DraftStanding::Stored(_) => false,
            DraftStanding::Overtaken(_) | DraftStanding::Gone => true,
        }
    }

    /// Whether the form may hold changes.
    pub(crate) fn is_touched(&self) -> bool {
        self.standing != DraftStanding::Unsaved
    }
}

/// What is stored of a form.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredEdit {
    /// The id of the prism; a new prism will get it.
    pub(crate) id: PrismId,
    /// The version that the draft was made from; `None` for a new prism.
    pub(crate) based_on: Option<i32>,
    /// The prism's name when the draft was begun.
    pub(crate) named: String,
    /// The page that stored the draft last: it may store it again without having seen the reply.
    pub(crate) tab: String,
    pub(crate) draft: CarriedDraft,
    #[serde(default)]
    pub(crate) extras: EditExtras,
}

/// What belongs to a draft besides the prism's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EditExtras {
    /// The effect of the last button.
    pub(crate) acted: FormAction,
    /// What the last button removed.
    pub(crate) removed: Option<RemovedItem>,
    /// Why the version is saved.
    pub(crate) note: String,
    /// The person's own test texts: a value for each field, in the order of the fields.
    pub(crate) texts: Vec<Vec<String>>,
    /// The draft's answers to the person's own test texts.
    pub(crate) own: Option<TriedTexts>,
    /// The stored texts that were chosen for a trial before the words were changed, as a query.
    pub(crate) choice: String,
}

/// An item that was removed, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RemovedItem {
    Field(usize, DraftField),
    Question(usize, DraftQuestion),
    /// An option or level of the question at the first place.
    Outcome(usize, usize, EditedOutcome),
}

impl RemovedItem {
    /// The item that a button is about to remove; `None` for any other button.
    pub(crate) fn of(draft: &EditDraft, button: &str) -> Option<Self> {
        let path = button.strip_suffix(".remove")?;
        let parts: Vec<&str> = path.split('.').collect();
        match parts.as_slice() {
            ["fields", place] => {
                let place = place.parse().ok()?;
                Some(Self::Field(place, draft.fields.get(place)?.clone()))
            }
            ["questions", place] => {
                let place = place.parse().ok()?;
                Some(Self::Question(place, draft.questions.get(place)?.clone()))
            }
            ["questions", question, _, place] => {
                let (question, place): (usize, usize) =
                    (question.parse().ok()?, place.parse().ok()?);
                let outcomes = &draft.questions.get(question)?.outcomes;
                Some(Self::Outcome(question, place, outcomes.get(place)?.clone()))
            }
            _ => None,
        }
    }

    /// Puts the item back into its place. Everything typed since then stays.
    pub(crate) fn put_back(self, draft: &mut EditDraft) -> FormAction {
        let focus = match self {
            Self::Field(place, field) => {
                let place = place.min(draft.fields.len());
                draft.fields.insert(place, field);
                format!("fields.{place}.label")
            }
            Self::Question(place, question) => {
                let place = place.min(draft.questions.len());
                let is_folded = question.is_folded;
                draft.questions.insert(place, question);
                let input = if is_folded { "open" } else { "text" };
                format!("questions.{place}.{input}")
            }
            Self::Outcome(question_place, place, outcome) => {
                let Some(question) = draft.questions.get_mut(question_place) else {
                    return FormAction::default();
                };
                let place = place.min(question.outcomes.len());
                question.outcomes.insert(place, outcome);
                let list = question.list().unwrap_or_default();
                draft.fold_besides(Some(question_place));
                format!("questions.{question_place}.{list}.{place}.label")
            }
        };
        FormAction {
            focus,
            message: "The removal is taken back.".to_owned(),
        }
    }
}

/// The effect of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormAction {
    /// The id of the element that gets the focus; empty when the action is unknown or names a
    /// missing item.
    pub(crate) focus: String,
    /// The effect in one sentence, for screen readers.
    pub(crate) message: String,
}
