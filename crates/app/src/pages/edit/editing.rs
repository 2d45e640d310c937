//! A draft with the prism that it belongs to, and what its rules say about it.

use refract_answering::PrismRow;
use refract_answering::prisms::{self, PrismRefusal, VersionDraft};
use refract_domain::budget;
use refract_domain::prism::VersionNumber;
use refract_domain::prism_file::PrismFile;
use refract_domain::problem::{Problem, Problems};
use refract_domain::wording::{WordingWarning, lint};

use super::draft::EditDraft;
use super::draft_form;
use crate::components::prism_tabs::prism_address;
use crate::page_refusal::PageRefusal;
use crate::visit::Visit;

/// A draft and where it is saved.
pub(crate) struct Editing {
    pub(crate) draft: EditDraft,
    /// `None` for a prism that is not saved yet.
    pub(crate) prism: Option<PrismRow>,
    /// The version that the draft was made from.
    pub(crate) based_on: Option<VersionNumber>,
    /// Whether something may have been typed that is not saved.
    pub(crate) is_touched: bool,
}

/// What the rules say about a draft.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<WordingWarning>,
    /// Estimated tokens that the prism takes of every call; `None` while there are problems.
    pub(crate) size: Option<usize>,
    /// Whether somebody wants to go on, so that problems are told loudly.
    pub(crate) is_asked: bool,
}

impl Editing {
    /// A prism that is not saved yet.
    pub(crate) fn new_prism(draft: EditDraft) -> Self {
        Self {
            draft,
            prism: None,
            based_on: None,
            is_touched: false,
        }
    }

    /// The latest version of the prism that the address names.
    pub(crate) async fn of_latest(visit: &Visit) -> Result<Self, PageRefusal> {
        let database = visit.answering.database();
        let prism = prisms::find(database, visit.account(), &visit.prism()?).await?;
        let latest = prisms::find_version(database, &prism, prism.latest_version).await?;
        Ok(Self {
            draft: EditDraft::of(&prism.name, &latest),
            based_on: Some(prism.latest_version),
            prism: Some(prism),
            is_touched: false,
        })
    }

    /// What a form of the page holds.
    pub(crate) async fn of_form(visit: &Visit) -> Result<Self, PageRefusal> {
        let form = &visit.sent.form;
        let draft = draft_form::read(form)?;
        let mut editing = Self::new_prism(draft);
        editing.is_touched = true;
        // the address of a new prism names none
        if !visit.sent.values.get("slug").is_empty() {
            let database = visit.answering.database();
            let prism = prisms::find(database, visit.account(), &visit.prism()?).await?;
            let number = form.get("based_on").parse().ok();
            editing.based_on = number.and_then(VersionNumber::new);
            if editing.based_on.is_none() {
                return Err(PageRefusal::NoForm);
            }
            editing.prism = Some(prism);
        }
        Ok(editing)
    }

    /// The address of the form.
    pub(crate) fn address(&self) -> String {
        let prism = self.prism.as_ref().map(prism_address);
        format!("{}/edit", prism.unwrap_or_else(|| "/prisms/new".to_owned()))
    }

    /// Reads the draft by the rules of saving it. Nothing is saved.
    pub(crate) async fn check(&self, visit: &Visit) -> Result<Checked, PageRefusal> {
        let file = self.draft.file();
        let read = if self.prism.is_none() {
            PrismFile::read(&file, None)
        } else {
            let database = visit.answering.database();
            let selector = visit.prism()?;
            let read = VersionDraft::read(database, visit.account(), &selector, &file);
            match read.await {
                Ok(draft) => Ok(draft.file),
                Err(PrismRefusal::Invalid(problems)) => Err(problems),
                Err(refusal) => return Err(refusal.into()),
            }
        };
        Ok(Checked::of(read))
    }
}

impl Checked {
    fn of(read: Result<PrismFile, Problems>) -> Self {
        match read {
            Ok(PrismFile { version, name: _ }) => Self {
                warnings: lint(&version),
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
        let here = self.problems.iter().filter(|problem| problem.path == path);
        let words: Vec<_> = here.map(|problem| problem.fault.to_string()).collect();
        words.join("; ")
    }
}
