//! What the marks of a fair sample measure, read anew for each text, since other people and imports
//! mark too.

use refract_boxed_futures::boxed;
use refract_domain::key::QuestionKey;
use refract_domain::lens::cutoffs_of;
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::marked::predicted;
use refract_evaluation::measures::RightAnswers;
use refract_persistence::ResultFilter;

use super::sitting::Sitting;
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::Marks;
use crate::prisms::find_saved_version;

/// Most marks of a question that are measured between two texts: reading them takes up to 0.1 s. So
/// many know the share of right answers to about one percent, and a few more do not change it.
const MEASURED: u64 = 5_000;

/// The random and imported marks of a question, as they are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// How many of the answers of the queue's version and period are right.
    Measured(RightAnswers),
    /// There are so many marks of the question, of all versions, that none was read.
    TooMany(u64),
}

#[boxed]
impl Marks<'_> {
    /// What the random and imported marks of a question measure now, of the version and the period
    /// of a sitting; `None` for a queue that is no fair sample. The figures are those of
    /// [`Measures::quality`](crate::measures::Measures::quality).
    pub async fn standing(
        self,
        lens: &PrismLens,
        sitting: &Sitting,
        question: &QuestionKey,
    ) -> Result<Option<Standing>, InternalError> {
        let (state, prism) = (&sitting.state, lens.prism.id);
        if !state.is_fair {
            return Ok(None);
        }
        let database = &self.refract.database;
        let from = MarksFrom::Random;
        let marks = database.count_fair_marks(prism, question).await?;
        if marks > MEASURED {
            return Ok(Some(Standing::TooMany(marks)));
        }
        let filter = ResultFilter {
            version: state.version,
            since: state.since,
            until: state.until,
            ..ResultFilter::default()
        };
        let cutoffs = cutoffs_of(lens.columns().lens, question);
        let mut right = RightAnswers::default();
        let mut pages = database.marked_answers(prism, filter, question);
        while let Some(page) = pages.next().await? {
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                let answered = version.question(question).zip(result.answer.as_ref());
                let counting = answered.filter(|_| from.counts(result.source));
                if let Some((question, answer)) = counting {
                    right.add(predicted(question, answer, cutoffs).as_ref(), &result.mark);
                }
            }
        }
        Ok(Some(Standing::Measured(right)))
    }
}
