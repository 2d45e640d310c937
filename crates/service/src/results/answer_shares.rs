//! What the questions of a prism were answered with lately.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_domain::key::QuestionKey;
use refract_domain::lens::Column;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_evaluation::counting::column_tally::ColumnTally;

use crate::InternalError;
use crate::lenses::prism_lens::PrismLens;
use crate::prisms::versions::find_saved_version;
use crate::results::Results;
use crate::results::column_value::answer_column;

/// Most results that are counted, newest first.
const MOST: usize = 5_000;

/// The answers of a prism's newest `ok` results.
pub struct AnswerShares {
    /// Each question of the latest version, in its order.
    pub questions: Vec<QuestionShares>,
    /// Number of results that were counted.
    pub results: usize,
    /// Whether there are older results in the period.
    pub has_older: bool,
}

/// The answers to one question.
pub struct QuestionShares {
    /// How often each outcome was the answer: by the cutoffs of the lens for a Yes / No.
    pub tally: ColumnTally,
    /// Number of results with a mark on this question, whenever they were made.
    pub marked: u64,
}

impl Results<'_> {
    /// Counts what each question of a prism was answered with from a moment on, over the newest
    /// 5,000 `ok` results.
    ///
    /// # Errors
    /// When the database fails, or a version that a result names is missing.
    pub async fn answer_shares(
        self,
        lens: &PrismLens,
        since: DateTime<Utc>,
    ) -> Result<AnswerShares, InternalError> {
        let database = &self.refract.database;
        let prism = &lens.prism;
        let marked = database.count_marks(prism.id).await?;
        let mut shares = AnswerShares::none(lens, &marked);
        let mut pages = database.answer_pages_since(prism.account, prism.id, Some(since));
        let mut answering: Option<(VersionNumber, Arc<PrismVersion>)> = None;
        while shares.results < MOST {
            let page = pages.next(MOST - shares.results).await?;
            if page.is_empty() {
                return Ok(shares);
            }
            for result in page {
                // most results have the same version as the result before
                let version = match answering.take() {
                    Some((number, version)) if number == result.version => version,
                    Some(_) | None => {
                        find_saved_version(database, prism.id, result.version).await?
                    }
                };
                for counted in &mut shares.questions {
                    let column: &Column = &counted.tally.column;
                    let question = version.question(&column.question);
                    let answer = result.answers.get(&column.question);
                    let value = column.value(question, answer);
                    counted.tally.add(value);
                }
                shares.results += 1;
                answering = Some((result.version, version));
            }
        }
        shares.has_older = !pages.next(1).await?.is_empty();
        Ok(shares)
    }
}

impl AnswerShares {
    fn none(lens: &PrismLens, marked: &HashMap<QuestionKey, u64>) -> Self {
        let questions = lens.latest.questions().iter();
        let questions = questions.filter_map(|question| {
            let column = answer_column(lens, question)?;
            Some(QuestionShares {
                tally: ColumnTally::new(&column, Some(question)),
                marked: marked.get(&question.key).copied().unwrap_or_default(),
            })
        });
        Self {
            questions: questions.collect(),
            results: 0,
            has_older: false,
        }
    }
}
