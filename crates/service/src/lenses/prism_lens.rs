//! A prism with its lens, both from one moment, and how lenses and cutoffs turn the answers of saved
//! results into values.

use refract_boxed_futures::boxed;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::lens::{Column, Lens};
use refract_domain::prism::{PrismSelector, PrismVersion, VersionNumber};
use refract_domain::result::{AnswersView, RowColumns};
use refract_evaluation::counting::{CutoffSteps, LensPreview};
use refract_persistence::{Database, Prism};

use crate::InternalError;
use crate::lenses::Lenses;
use crate::prisms::{PrismError, find_saved_version};

/// Attempts at reading a lens that is changed while it is read.
const ATTEMPTS: usize = 16;

/// A prism, its lens and its latest version, all from one moment.
#[derive(Clone)]
pub struct PrismLens {
    /// The prism.
    pub prism: Prism,
    /// The prism's lens.
    pub lens: Arc<Lens>,
    /// The prism's latest version, whose questions the automatic lens follows.
    pub latest: Arc<PrismVersion>,
}

impl PrismLens {
    /// The lens of the revision that `prism` names, or the newest lens if that one was replaced.
    /// Lenses and versions mostly come from the cache.
    pub(crate) async fn load(database: &Database, mut prism: Prism) -> Result<Self, InternalError> {
        for _ in 0..ATTEMPTS {
            if let Some(lens) = database.find_lens(prism.id, prism.lens_revision).await? {
                let latest = find_saved_version(database, prism.id, prism.latest_version).await?;
                return Ok(Self {
                    prism,
                    lens,
                    latest,
                });
            }
            let moved = database.find_prism_by_id(prism.id).await?;
            prism = moved.ok_or(InternalError::VersionMissing)?;
        }
        Err(InternalError::LensKeepsMoving)
    }

    /// The columns of the prism's rows.
    pub fn columns(&self) -> RowColumns<'_> {
        RowColumns {
            fields: self.latest.fields(),
            lens: self.latest.columns(&self.lens),
        }
    }
}

#[boxed]
impl Lenses<'_> {
    /// The lens of a prism that was already found.
    pub async fn of(self, prism: Prism) -> Result<PrismLens, InternalError> {
        PrismLens::load(&self.refract.database, prism).await
    }

    /// The lens of a prism.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn find(
        self,
        account: AccountId,
        selector: &PrismSelector,
    ) -> Result<PrismLens, PrismError> {
        let prism = self.refract.prisms().find(account, selector).await?;
        Ok(PrismLens::load(&self.refract.database, prism).await?)
    }
}

/// A stored result that is counted.
pub(crate) struct CountedResult<'a> {
    pub(crate) id: ResultId,
    pub(crate) answers: AnswersView<'a>,
    /// The model that answered; `None` if its server reported none.
    pub(crate) model: Option<&'a str>,
}

impl Lenses<'_> {
    /// Counts what these columns would change, in place of the prism's lens, in its newest `ok`
    /// results, at most `most`. `progress` gets the number of results counted after each page.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn preview(
        self,
        lens: &PrismLens,
        columns: &[Column],
        most: usize,
        progress: impl FnMut(u64),
    ) -> Result<LensPreview, InternalError> {
        let mut preview = LensPreview::new(lens.columns().lens, columns, &lens.latest);
        let add = |counted: CountedResult<'_>| {
            preview.add(counted.answers);
        };
        self.count(lens, most, add, progress).await?;
        Ok(preview)
    }

    /// Counts the stored probabilities of all of a prism's `ok` results into steps that start
    /// empty. `progress` gets the number of results counted after each page.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn cutoffs(
        self,
        lens: &PrismLens,
        mut steps: CutoffSteps,
        progress: impl FnMut(u64),
    ) -> Result<CutoffSteps, InternalError> {
        let add = |counted: CountedResult<'_>| steps.add(counted.answers);
        self.count(lens, usize::MAX, add, progress).await?;
        Ok(steps)
    }

    /// Passes a prism's newest `ok` results, at most `most`, to `add`, the newest first. Returns
    /// whether there are more.
    pub(super) async fn count(
        self,
        lens: &PrismLens,
        most: usize,
        add: impl FnMut(CountedResult<'_>),
        progress: impl FnMut(u64),
    ) -> Result<bool, InternalError> {
        self.count_since(lens, None, most, add, progress).await
    }

    /// As [`count`](Self::count), over the results from a moment on.
    pub(crate) async fn count_since(
        self,
        lens: &PrismLens,
        since: Option<DateTime<Utc>>,
        most: usize,
        mut add: impl FnMut(CountedResult<'_>),
        mut progress: impl FnMut(u64),
    ) -> Result<bool, InternalError> {
        let database = &self.refract.database;
        let prism = &lens.prism;
        let mut pages = database.answer_pages(prism.account, prism.id, since);
        let mut answering: Option<(VersionNumber, Arc<PrismVersion>)> = None;
        let (mut left, mut counted) = (most, 0);
        while left > 0 {
            let page = pages.next(left).await?;
            if page.is_empty() {
                return Ok(false);
            }
            left = left.saturating_sub(page.len());
            for result in page {
                // most results have the same version as the result before
                let version = match answering.take() {
                    Some((number, version)) if number == result.version => version,
                    Some(_) | None => {
                        find_saved_version(database, prism.id, result.version).await?
                    }
                };
                add(CountedResult {
                    id: result.id,
                    answers: AnswersView::new(version.questions(), Some(&result.answers)),
                    model: result.model.as_deref(),
                });
                answering = Some((result.version, version));
                counted += 1;
            }
            progress(counted);
        }
        Ok(!pages.next(1).await?.is_empty())
    }
}
