//! Whether the cutoffs of a lens still hold on marks made after they were set.

use chrono::{DateTime, Utc};
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::lens::{Lens, cutoffs_of};
use refract_domain::prism::question::{Question, QuestionType};
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::drift::share_change::ShareChange;
use refract_evaluation::measures::proportion::Proportion;
use refract_evaluation::prediction::predicted;
use refract_persistence::{LensRevision, MarkedResult, PrismHistory, ResultFilter};

use super::MOST_REVISIONS;
use crate::InternalError;
use crate::measures::Measures;
use crate::prisms::versions::find_saved_version;

/// The p-value below which newer marks show that cutoffs no longer hold.
const SIGNIFICANT: f64 = 0.01;

/// How often the labels of a question's cutoffs are right, on marks that were made since the cutoffs
/// were set and on earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CutoffCheck {
    /// The question, a Yes / No.
    pub question: QuestionKey,
    /// The cutoffs, which somebody set.
    pub cutoffs: Cutoffs,
    /// When the cutoffs were set.
    pub since: DateTime<Utc>,
    /// The share of right ones among the labels other than unsure, on newer marks (`now`) and on
    /// earlier ones (`before`).
    pub right: ShareChange,
}

impl CutoffCheck {
    /// Whether newer marks show no loss; `None` without newer or without earlier marks.
    pub fn holds(&self) -> Option<bool> {
        let difference = self.right.difference()?;
        Some(difference >= 0.0 || self.right.p() >= SIGNIFICANT)
    }
}

impl Measures<'_> {
    /// Checks the cutoffs that somebody set in a prism's lens on the marks that are a fair sample.
    pub async fn check_cutoffs(
        self,
        history: &PrismHistory,
    ) -> Result<Vec<CutoffCheck>, InternalError> {
        let database = &self.refract.database;
        let prism = history.prism.id;
        let revisions = database.list_lens_revisions(prism, MOST_REVISIONS).await?;
        let mut checks = set_cutoffs(history, &revisions);
        if checks.is_empty() {
            return Ok(checks);
        }
        let mut pages = database.marked_pages(prism, ResultFilter::default());
        while let Some(page) = pages.next().await? {
            for result in page {
                let version = find_saved_version(database, prism, result.version).await?;
                for check in &mut checks {
                    let question = version.question(&check.question);
                    if let Some(question) = question {
                        check.add(question, &result);
                    }
                }
            }
        }
        Ok(checks)
    }
}

impl CutoffCheck {
    fn add(&mut self, question: &Question, result: &MarkedResult) {
        let mut marks = result.marks.iter();
        let mark = marks.find(|mark| mark.question == self.question);
        let mark = mark.filter(|mark| MarksFrom::Random.counts(mark.source));
        let answer = result.answers.get(&self.question);
        let Some((mark, answer)) = mark.zip(answer) else {
            return;
        };
        if let Some(label) = predicted(question, answer, self.cutoffs) {
            let share = if mark.marked_at > self.since {
                &mut self.right.now
            } else {
                &mut self.right.before
            };
            *share += Proportion {
                count: u64::from(label == mark.outcome),
                of: 1,
            };
        }
    }
}

/// The cutoffs that somebody set in the lens as it is, each with the moment since when it has them.
fn set_cutoffs(history: &PrismHistory, revisions: &[LensRevision]) -> Vec<CutoffCheck> {
    let (Lens::Custom(columns), Some(latest)) = (&history.lens, history.versions.last()) else {
        return Vec::new();
    };
    let questions = latest.questions().iter();
    let yes_no = questions.filter(|it| it.question_type() == QuestionType::YesNo);
    let checks = yes_no.filter_map(|question| {
        let cutoffs = cutoffs_of(columns, &question.key);
        if cutoffs == Cutoffs::AUTOMATIC {
            return None;
        }
        let has_them = |revision: &&LensRevision| match &revision.lens {
            Lens::Custom(columns) => cutoffs_of(columns, &question.key) == cutoffs,
            Lens::Automatic => false,
        };
        let since = revisions.iter().take_while(has_them).last()?;
        Some(CutoffCheck {
            question: question.key.clone(),
            cutoffs,
            since: since.saved.as_ref()?.made_at,
            right: ShareChange::default(),
        })
    });
    checks.collect()
}
