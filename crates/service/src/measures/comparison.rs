//! Comparison: two versions or models on the texts that both answered, judged by marks.

mod sides;

use refract_boxed_futures::boxed;
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::cutoffs_of;
use refract_domain::prism::{Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::comparison::{Comparison, PairedAnswers};
use refract_evaluation::marked::NotComparable;
use refract_persistence::{PrismHistory, ResultFilter, ResultOrder};

use self::sides::{AskedQuestion, MarkedOutcomes, OutcomeIndex, SideRow, pairs};
use crate::InternalError;
use crate::measures::Measures;
use crate::measures::evaluation::{EvaluationError, questions};
use crate::prisms::find_saved_version;

/// Most differing texts that are listed for each question.
pub const MOST_DIFFERING: usize = 20;

/// Which results are one side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedSide {
    /// Results that this version answered.
    pub version: Option<VersionNumber>,
    /// Results of the model with this name, as its server reports it.
    pub model: Option<String>,
}

/// How two sides answer the texts that both answered.
#[derive(Clone, Debug)]
pub struct ComparedSides {
    /// Number of answered results of each side.
    pub results: [usize; 2],
    /// Number of texts that both sides answered.
    pub texts: usize,
    /// Number of marks of both sides that are left out, since their results are no fair sample.
    pub left_out: u64,
    /// All questions: those of the latest version in its order, then those that only older versions
    /// have.
    pub questions: Vec<ComparedQuestion>,
}

/// How often two sides are right about one question.
#[derive(Clone, Debug)]
pub struct ComparedQuestion {
    /// The question, in the wording of the newest version that has it.
    pub question: Question,
    /// How often each side is right over the marked texts for which both predict an outcome.
    pub comparison: Comparison,
    /// Number of marked texts for which a side predicts nothing, which are not compared.
    pub unanswered: usize,
    /// Number of marked texts to which the sides answer differently.
    pub differing: usize,
    /// Up to [`MOST_DIFFERING`] of these texts; those that one side answers correctly come first.
    pub listed: Vec<DifferingText>,
}

/// A marked text to which two sides answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingText {
    /// Each side's result.
    pub results: [ResultId; 2],
    /// The marked outcome.
    pub mark: OutcomeKey,
    /// The outcome that each side predicts; `None` where it predicts nothing.
    pub predicted: [Option<OutcomeKey>; 2],
}

#[boxed]
impl Measures<'_> {
    /// Compares two sides of a prism over all questions, or over `only` one, by the marks that
    /// `from` counts. `progress` gets the number of results read after each page.
    ///
    /// Texts are paired by `ref` if both sides have the `ref`, otherwise by equal fields and
    /// context; of several results of one side the newest counts. A mark of either result is the
    /// correct outcome for both; where the two marks differ, the newer one counts. No text is kept
    /// in memory: a result takes a few bytes.
    ///
    /// # Errors
    /// When the database fails, or a question has more outcomes than can be numbered.
    pub async fn compare(
        self,
        history: &PrismHistory,
        sides: [&ComparedSide; 2],
        only: Option<&QuestionKey>,
        from: MarksFrom,
        mut progress: impl FnMut(usize),
    ) -> Result<ComparedSides, EvaluationError> {
        let latest = history.versions.last();
        let columns = latest.map_or(&[][..], |latest| latest.columns(&history.lens));
        let mut asked: Vec<_> = questions(&history.versions)
            .into_iter()
            .filter(|question| only.is_none_or(|only| question.key == *only))
            .map(|question| AskedQuestion::new(question, cutoffs_of(columns, &question.key)))
            .collect();
        let mut marks = MarkedOutcomes::default();
        let mut left_out = 0;
        for side in sides {
            let database = &self.refract.database;
            let mut pages = database.marked_pages(history.prism.id, side.filter());
            while let Some(page) = pages.next().await? {
                for mark in page.iter().flat_map(|result| &result.marks) {
                    if from.counts(mark.source) {
                        marks.add(&mut asked, mark)?;
                    } else {
                        left_out += 1;
                    }
                }
            }
        }
        let [a, b] = sides;
        let reading = self.read_side(history, a, &mut asked, &mut progress);
        let a = reading.await?;
        let show = |read| progress(a.len() + read);
        let reading = self.read_side(history, b, &mut asked, show);
        let b = reading.await?;
        let pairs = pairs(&a, &b);
        let compared = asked.iter().enumerate();
        let compared = compared.map(|(position, asked)| {
            let marked = pairs.iter().filter_map(|[a, b]| {
                Some(MarkedPair {
                    results: [a.id, b.id],
                    mark: marks.of_either([a.id, b.id], position)?,
                    predicted: [a.predicted(position), b.predicted(position)],
                })
            });
            compared_question(asked, marked)
        });
        Ok(ComparedSides {
            results: [a.len(), b.len()],
            texts: pairs.len(),
            left_out,
            questions: compared.collect(),
        })
    }

    /// Number of answered results of a side, all of which a comparison reads.
    pub async fn results_of(
        self,
        history: &PrismHistory,
        side: &ComparedSide,
    ) -> Result<u64, InternalError> {
        let (account, prism) = (history.prism.account, history.prism.id);
        let database = &self.refract.database;
        Ok(database
            .count_results(account, prism, side.filter())
            .await?)
    }

    /// Reads one side's results, oldest first.
    async fn read_side(
        self,
        history: &PrismHistory,
        side: &ComparedSide,
        asked: &mut [AskedQuestion<'_>],
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<SideRow>, EvaluationError> {
        let database = &self.refract.database;
        let (account, prism) = (history.prism.account, history.prism.id);
        let oldest_first = ResultOrder::OldestFirst;
        let mut pages = database.result_pages(account, prism, side.filter(), oldest_first);
        let mut rows = Vec::new();
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                return Ok(rows);
            }
            for result in &page {
                let version = find_saved_version(database, prism, result.version).await?;
                let predicted = asked.iter_mut().map(|asked| {
                    let question = version.question(&asked.question.key);
                    let answer = result.status.answers();
                    let answer = answer.and_then(|answers| answers.get(&asked.question.key));
                    match (question, answer) {
                        (Some(question), Some(answer)) => asked.predicted(question, answer),
                        (Some(_), None) | (None, _) => Ok(None),
                    }
                });
                let predicted = predicted.collect::<Result<Vec<_>, NotComparable>>()?;
                rows.push(SideRow::new(result, predicted));
            }
            progress(rows.len());
        }
    }
}

/// A text that both sides answered, with the mark of one question.
struct MarkedPair {
    results: [ResultId; 2],
    mark: OutcomeIndex,
    predicted: [Option<OutcomeIndex>; 2],
}

impl ComparedSide {
    fn filter(&self) -> ResultFilter {
        ResultFilter {
            is_ok: Some(true),
            version: self.version,
            model: self.model.clone(),
            ..ResultFilter::default()
        }
    }
}

fn compared_question(
    asked: &AskedQuestion<'_>,
    marked: impl Iterator<Item = MarkedPair>,
) -> ComparedQuestion {
    let mut answers = PairedAnswers::default();
    let (mut decisive, mut undecisive) = (Vec::new(), Vec::new());
    let (mut unanswered, mut differing) = (0, 0);
    for pair in marked {
        let [a, b] = pair.predicted;
        let (a_right, b_right) = (a == Some(pair.mark), b == Some(pair.mark));
        if a.is_some() && b.is_some() {
            answers.add(a_right, b_right);
        } else {
            unanswered += 1;
        }
        if a == b {
            continue;
        }
        differing += 1;
        let list = if a_right || b_right {
            &mut decisive
        } else {
            &mut undecisive
        };
        if list.len() < MOST_DIFFERING {
            list.push(pair);
        }
    }
    let listed = decisive.into_iter().chain(undecisive).take(MOST_DIFFERING);
    ComparedQuestion {
        question: asked.question.clone(),
        comparison: answers.compare(),
        unanswered,
        differing,
        listed: listed
            .filter_map(|pair| differing_text(asked, &pair))
            .collect(),
    }
}

fn differing_text(asked: &AskedQuestion<'_>, pair: &MarkedPair) -> Option<DifferingText> {
    let key = |index: OutcomeIndex| asked.key_of(index).cloned();
    Some(DifferingText {
        results: pair.results,
        mark: key(pair.mark)?,
        predicted: pair.predicted.map(|predicted| predicted.and_then(key)),
    })
}
