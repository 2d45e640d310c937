//! What the questions of a prism were answered with lately.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::slice;

use chrono::{DateTime, Utc};
use refract_domain::key::QuestionKey;
use refract_domain::lens::Value;
use refract_evaluation::counting::ColumnTally;

use crate::InternalError;
use crate::lenses::prism_lens::{CountedResult, PrismLens};
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

#[boxed]
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
        let marked = self.refract.database.count_marks(lens.prism.id).await?;
        let mut shares = AnswerShares::none(lens, &marked);
        let (questions, results) = (&mut shares.questions, &mut shares.results);
        let add = |result: CountedResult<'_>| {
            for counted in &mut *questions {
                let column = slice::from_ref(&counted.tally.column);
                let value = result.answers.values(column).next();
                let value = value.unwrap_or(Value::Null);
                counted.tally.add(value);
            }
            *results += 1;
        };
        let lenses = self.refract.lenses();
        let counting = lenses.count_since(lens, Some(since), MOST, add, |_| ());
        shares.has_older = counting.await?;
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
