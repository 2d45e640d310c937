//! A draft with its prism and the problems of the draft, and how it is kept.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use refract_authoring::prism_file::PrismFile;
use refract_authoring::wording::{WordingWarning, lint_questions};
use refract_domain::ids::PrismId;
use refract_domain::prism::{PrismSelector, Slug, VersionNumber};
use refract_domain::problem::{Problem, Problems, ValidationError};
use refract_domain::submission::budget;
use refract_service::drafts::DraftRevision;
use refract_service::prisms::{Prism, PrismError, VersionDraft};

use super::carried_draft::{DraftBase, EditExtras, FormAction};
use super::draft::{DraftKey, EditDraft};
use super::item_keys::{self, SLUG, question_of};
use crate::components::{at_paths, counted, prism_address};
use crate::replies::PageError;
use crate::requests::{Visit, off_event_loop};

/// The input that is sent while all validation errors are shown.
pub(crate) const ASKED: &str = "asked";
/// The hidden input with the prism's name at the time the form was made.
pub(crate) const NAMED: &str = "named";
/// The hidden input with the id that a new prism will get.
pub(crate) const NEW_ID: &str = "new_id";
/// The hidden input with the id of the prism that a new one is a copy of.
pub(crate) const COPIED: &str = "copied";
/// Most slugs that are tried for a new prism before none is shown.
const MOST_SLUGS: usize = 20;

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
    /// The slug that a new prism gets if none is typed; empty for a saved one, and without a name.
    pub(crate) made_slug: String,
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
        let (file, own) = (self.draft.file(), self.own_problems(visit).await?);
        let read = off_event_loop(move || PrismFile::read(&file, None)).await?;
        Ok(with_own(read, own))
    }

    /// Parses the draft as the next version of its prism. Nothing is saved.
    pub(crate) async fn read_version(
        &self,
        visit: &Visit,
    ) -> Result<Result<VersionDraft, Problems>, PageError> {
        let (prisms, selector) = (visit.refract.prisms(), visit.prism()?);
        let next = prisms.next_version(visit.account(), &selector).await?;
        let (file, own) = (self.draft.file(), self.own_problems(visit).await?);
        let read = off_event_loop(move || next.draft(&file)).await?;
        Ok(with_own(read, own))
    }

    /// What the form asks for beyond the rules of prism files.
    pub(crate) async fn own_problems(&self, visit: &Visit) -> Result<Problems, PageError> {
        let mut problems = self.draft.equal_labels();
        item_keys::ask(&self.draft, self.prism.is_none(), &mut problems);
        let chosen = Slug::parse(self.draft.slug.trim()).filter(|_| self.prism.is_none());
        if let Some(slug) = chosen
            && !is_free(visit, &slug).await?
        {
            let rule = "another prism has this slug: choose a different one";
            problems.add(SLUG, ValidationError::rule(rule));
        }
        Ok(problems)
    }

    /// The slug that the new prism gets if none is typed; empty for a saved prism, and without a name.
    pub(crate) async fn made_slug(&self, visit: &Visit) -> Result<String, PageError> {
        if self.prism.is_none() {
            for slug in item_keys::made_slugs(&self.draft.name).take(MOST_SLUGS) {
                if is_free(visit, &slug).await? {
                    return Ok(slug.to_string());
                }
            }
        }
        Ok(String::new())
    }

    /// Fills in the keys that the form asks for with proposals, to be looked at before they are saved.
    pub(crate) async fn propose_keys(&mut self, visit: &Visit) -> Result<(), PageError> {
        let slug = self.made_slug(visit).await?;
        let proposed = item_keys::propose(&mut self.draft, &self.base, &slug);
        let first = proposed.first().cloned().unwrap_or_default();
        if let Some(place) = question_of(&first) {
            self.draft.fold_besides(Some(place));
        }
        let message = match proposed.len() {
            0 => String::new(),
            count => format!("{} proposed.", counted(count, "key")),
        };
        self.extras.acted = FormAction {
            focus: first,
            message,
        };
        self.extras.proposed = proposed;
        Ok(())
    }

    /// Validates the draft by the rules for saving. Nothing is saved.
    pub(crate) async fn check(&self, visit: &Visit) -> Result<CheckedDraft, PageError> {
        let read = self.read(visit).await?;
        let questions = self.draft.questions.iter();
        let open: Vec<bool> = questions.map(|question| !question.is_folded).collect();
        let checked = off_event_loop(move || CheckedDraft::of(read, &open)).await?;
        Ok(CheckedDraft {
            is_asked: self.is_asked,
            made_slug: self.made_slug(visit).await?,
            ..checked
        })
    }
}

async fn is_free(visit: &Visit, slug: &Slug) -> Result<bool, PageError> {
    let selector = PrismSelector::Slug(slug.to_string());
    let prisms = visit.refract.prisms();
    match prisms.find(visit.account(), &selector).await {
        Ok(_) => Ok(false),
        Err(PrismError::NotFound) => Ok(true),
        Err(refusal) => Err(refusal.into()),
    }
}

/// What was read, unless the form has problems of its own beside those of the file.
fn with_own<T>(read: Result<T, Problems>, own: Problems) -> Result<T, Problems> {
    let mut problems = match read {
        Ok(read) => return own.none_or(read),
        Err(problems) => problems,
    };
    for problem in own.as_slice() {
        problems.add(problem.path.clone(), problem.error.clone());
    }
    Err(problems)
}

impl EditDraft {
    /// The new options and levels whose label another one of their question has before them: callers
    /// would tell them apart by keys that no person chose, and readers not at all. What a version has
    /// already may stay.
    pub(crate) fn equal_labels(&self) -> Problems {
        let mut problems = Problems::default();
        for (place, question) in self.questions.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for (number, outcome) in question.outcomes.iter().enumerate() {
                let label = outcome.label.trim().to_lowercase();
                if let Some(list) = question.list()
                    && !label.is_empty()
                    && !seen.insert(label)
                    && !matches!(outcome.key, DraftKey::Saved(_))
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
