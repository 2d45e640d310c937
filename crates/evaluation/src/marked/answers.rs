//! The marked answers of one question, and all measures over them.

use indexmap::IndexSet;
use refract_domain::answer::{Answer, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::{Cutoffs, YesNoLabel};
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark;

use crate::cutoffs::advice::{self, CutoffAdvice, CutoffGoal, CutoffsInForce};
use crate::cutoffs::certificate::{self, Certificate, CertifiedRegion};
use crate::cutoffs::{
    CertifiedGoal, CutoffMeasures, Folds, PercentMeasures, by_confidence, by_probability,
};
use crate::marked::{MarkedAnswer, MarkedRow, NotComparable, PlacedOutcome, outcome_of, predicted};
use crate::measures::coverage::{self, AutomationAdvice};
use crate::measures::proportion::{self, Forecast, HistogramBar, bins, expected_calibration_error};
use crate::measures::scores::{self, LogLosses, OutcomeColumns, SquaredErrors};
use crate::measures::{Confusion, LevelTable, MacroAverage, Proportion, QuestionMeasures, mean};

/// Collects the marked answers of one question. No order of them changes a figure.
///
/// A row takes 12 bytes, and 4 for each outcome of a choice or scale.
#[derive(Clone, Debug)]
pub struct MarkedAnswers {
    question_type: QuestionType,
    cutoffs: Cutoffs,
    outcomes: IndexSet<OutcomeKey>,
    rows: Vec<MarkedRow>,
    squared_errors: SquaredErrors,
    log_losses: LogLosses,
    /// The distributions of choices and scales.
    columns: OutcomeColumns,
    /// Counts of answered rows by level, for scales.
    levels: Option<LevelTable>,
}

impl MarkedAnswers {
    /// An empty collection for a question of this type. The cutoffs determine the prediction of a
    /// Yes / No; other types ignore them.
    pub fn new(question_type: QuestionType, cutoffs: Cutoffs) -> Self {
        let outcomes = match question_type {
            QuestionType::YesNo => [YesNoLabel::Yes, YesNoLabel::No]
                .into_iter()
                .filter_map(outcome_of)
                .collect(),
            QuestionType::Choice | QuestionType::Scale => IndexSet::new(),
        };
        Self {
            question_type,
            cutoffs,
            outcomes,
            rows: Vec::new(),
            squared_errors: SquaredErrors::default(),
            log_losses: LogLosses::default(),
            columns: OutcomeColumns::default(),
            levels: (question_type == QuestionType::Scale).then(LevelTable::default),
        }
    }

    /// Puts a question's outcomes before those that occur only in added answers. Call it with the
    /// latest version's question before adding the first answer.
    ///
    /// # Errors
    /// The question is of another type, or there are more outcomes than an index can number.
    pub fn expect_outcomes(&mut self, question: &Question) -> Result<(), NotComparable> {
        self.require_type(question.question_type())?;
        for outcome in mark::outcomes(question) {
            if let Ok(key) = OutcomeKey::parse(outcome.key) {
                self.index_of(&key)?;
            }
        }
        Ok(())
    }

    /// Adds a marked answer.
    ///
    /// # Errors
    /// The question or the answer is of another type, or the version that answered lacks the marked
    /// or the answered outcome. The answer is then not added.
    pub fn add(&mut self, marked: &MarkedAnswer<'_>) -> Result<(), NotComparable> {
        let MarkedAnswer {
            question,
            answer,
            mark,
            model,
        } = *marked;
        self.require_type(question.question_type())?;
        self.require_type(answer.question_type())?;
        let mark = PlacedOutcome::find(question, mark)
            .ok_or_else(|| NotComparable::mark(question, mark))?;
        let predicted = predicted(question, answer, self.cutoffs);
        let predicted = predicted
            .as_ref()
            .map(|key| {
                PlacedOutcome::find(question, key)
                    .ok_or_else(|| NotComparable::answer(question, key))
            })
            .transpose()?;
        let marked = self.index_of(mark.key)?;
        let index = predicted.map(|outcome| self.index_of(outcome.key));
        let index = index.transpose()?;
        let probability = match answer {
            Answer::YesNo { probability } => {
                let of_mark = answer.probability_of(mark.key).unwrap_or_default();
                self.squared_errors.add_yes_no(of_mark);
                self.log_losses.add(model, [*probability], of_mark);
                *probability
            }
            Answer::Choice { probabilities, .. } | Answer::Scale { probabilities, .. } => {
                let of_mark = mark.probability(probabilities);
                let of_all = probabilities.iter().map(|(_, probability)| *probability);
                self.squared_errors.add_outcomes(probabilities, of_mark);
                self.log_losses.add(model, of_all, of_mark);
                self.columns.add(probabilities);
                predicted.map_or(Probability::ZERO, |outcome| {
                    outcome.probability(probabilities)
                })
            }
        };
        if let (Some(levels), Some(predicted)) = (&mut self.levels, predicted) {
            levels.add(mark.place, predicted.place);
        }
        self.rows.push(MarkedRow {
            marked,
            predicted: index,
            outcomes: u16::try_from(mark::outcomes(question).count()).unwrap_or(u16::MAX),
            probability,
        });
        Ok(())
    }

    fn require_type(&self, found: QuestionType) -> Result<(), NotComparable> {
        if found == self.question_type {
            return Ok(());
        }
        Err(NotComparable::Type {
            expected: self.question_type.name(),
            found: found.name(),
        })
    }

    /// The index of an outcome; a new outcome gets the next one.
    fn index_of(&mut self, key: &OutcomeKey) -> Result<u16, NotComparable> {
        let known = self.outcomes.get_index_of(key);
        let index = u16::try_from(known.unwrap_or(self.outcomes.len()));
        let index = index.map_err(|_| NotComparable::TooManyOutcomes)?;
        if known.is_none() {
            self.outcomes.insert(key.clone());
        }
        Ok(index)
    }

    /// Number of marked answers.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no answer was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All measures over the added answers.
    pub fn measures(&self) -> QuestionMeasures {
        let mut accuracy = Proportion::default();
        for row in &self.rows {
            if row.predicted.is_some() {
                accuracy.add(row.is_right());
            }
        }
        let pairs = self.rows.iter();
        let pairs = pairs.filter_map(|row| Some((row.marked, row.predicted?)));
        let confusion = Confusion::new(pairs);
        let outcomes = confusion.outcomes(self.outcomes.iter());
        let reliability = bins(self.forecasts());
        let most_marked = outcomes.iter().map(|outcome| outcome.marked).max();
        QuestionMeasures {
            marks: count(&self.rows),
            answered: accuracy.of,
            accuracy,
            majority: Proportion {
                count: most_marked.unwrap_or(0),
                of: accuracy.of,
            },
            auc: self.auc(),
            brier: self.squared_errors.mean(),
            log_loss: self.log_losses.mean(),
            floored_log_loss: self.log_losses.floored_mean(),
            log_loss_floor: self.log_losses.floor(),
            ece: expected_calibration_error(&reliability),
            macro_average: MacroAverage::new(&outcomes),
            outcomes,
            confusion: confusion.cells(|index| self.outcomes.get_index(usize::from(index))),
            reliability,
            coverage: coverage::curve(
                &Folds::new(self.confidences()).all(),
                self.confidences().flatten().collect(),
            ),
            scale: self.levels.as_ref().map(LevelTable::measures),
        }
    }

    /// The smallest confidence that reaches an accuracy, 0 to 1, on held-out rows; `None` when no
    /// confidence does.
    pub fn coverage_for(&self, wanted: f64) -> Option<AutomationAdvice> {
        coverage::advise(&Folds::new(self.confidences()), wanted)
    }

    /// The cutoffs of a Yes / No question for a goal; `None` for other types.
    pub fn advise_cutoffs(&self, goal: CutoffGoal) -> Option<CutoffAdvice> {
        match self.question_type {
            QuestionType::Choice | QuestionType::Scale => None,
            QuestionType::YesNo => {
                let rows = self.rows.iter().map(|row| Some(row.of_yes()));
                let now = self.found_by(self.cutoffs);
                Some(advice::advise(&Folds::new(rows), goal, now))
            }
        }
    }

    /// The cutoffs in force: those that the answers are predicted by.
    pub fn cutoffs_in_force(&self) -> Cutoffs {
        self.cutoffs
    }

    /// The type of the question.
    pub fn question_type(&self) -> QuestionType {
        self.question_type
    }

    /// The quality of the cutoffs in force on all added answers to a Yes / No question; `None` for
    /// other types. Unlike those of an [advice](CutoffAdvice), no mark chose them, as long as they
    /// were not chosen by these marks before.
    pub fn measures_in_force(&self) -> Option<CutoffMeasures> {
        self.measures_at(self.cutoffs)
    }

    /// The quality of cutoffs on all added answers to a Yes / No question; `None` for other types.
    pub fn measures_at(&self, cutoffs: Cutoffs) -> Option<CutoffMeasures> {
        match self.question_type {
            QuestionType::Choice | QuestionType::Scale => None,
            QuestionType::YesNo => {
                let CutoffsInForce { yes, no, .. } = self.found_by(cutoffs);
                let marked_yes = self.rows.iter().filter(|row| row.of_yes().came_true);
                let marked_yes = u64::try_from(marked_yes.count()).unwrap_or(u64::MAX);
                Some(CutoffMeasures::of_answers(
                    yes,
                    no,
                    marked_yes,
                    count(&self.rows),
                ))
            }
        }
    }

    /// What cutoffs find.
    fn found_by(&self, cutoffs: Cutoffs) -> CutoffsInForce {
        let mut found = CutoffsInForce {
            cutoffs,
            yes: Proportion::default(),
            no: Proportion::default(),
        };
        for forecast in self.rows.iter().map(MarkedRow::of_yes) {
            match cutoffs.label(forecast.probability) {
                YesNoLabel::Yes => found.yes.add(forecast.came_true),
                YesNoLabel::No => found.no.add(!forecast.came_true),
                YesNoLabel::Unsure => {}
            }
        }
        found
    }

    /// Certified cutoffs: for a Yes / No of its probability, for a choice or scale of the
    /// confidence. The promise holds only if the added answers are a random sample.
    pub fn certify(&self, goal: CertifiedGoal) -> Certificate {
        match self.question_type {
            QuestionType::YesNo => {
                let rows = self.rows.iter().map(|row| Some(row.of_yes()));
                certificate::of_yes_no(&Folds::new(rows), goal)
            }
            QuestionType::Choice | QuestionType::Scale => {
                certificate::of_confidence(&Folds::new(self.confidences()), goal)
            }
        }
    }

    /// The cutoffs of [`certify`](Self::certify) alone: without them, it is not asked how many more
    /// marks would do, which takes a hundred times as long.
    pub fn certified_region(&self, goal: CertifiedGoal) -> Option<CertifiedRegion> {
        let regions = match self.question_type {
            QuestionType::YesNo => {
                let rows = self.rows.iter().map(|row| Some(row.of_yes()));
                by_probability(&Folds::new(rows).all())
            }
            QuestionType::Choice | QuestionType::Scale => {
                by_confidence(&Folds::new(self.confidences()).all())
            }
        };
        certificate::certified(&regions, goal)
    }

    /// The quality of a Yes / No question's cutoffs at every whole percent; `None` for other types.
    pub fn percent_measures(&self) -> Option<PercentMeasures> {
        match self.question_type {
            QuestionType::Choice | QuestionType::Scale => None,
            QuestionType::YesNo => {
                let rows = self.rows.iter().map(|row| Some(row.of_yes()));
                Some(PercentMeasures::of(&Folds::new(rows)))
            }
        }
    }

    /// The probabilities whose reliability is measured, by steps of [`STEP`](crate::measures::proportion::STEP)
    /// percent.
    pub fn histogram(&self) -> Vec<HistogramBar> {
        proportion::bars(self.forecasts())
    }

    /// The probabilities whose reliability is measured, in the order of the rows.
    fn forecasts(&self) -> Vec<Forecast> {
        match self.question_type {
            QuestionType::YesNo => self.rows.iter().map(MarkedRow::of_yes).collect(),
            QuestionType::Choice | QuestionType::Scale => {
                self.rows.iter().filter_map(MarkedRow::prediction).collect()
            }
        }
    }

    /// The confidence in each row's predicted outcome. `None` for a row that is not answered.
    fn confidences(&self) -> impl Iterator<Item = Option<Forecast>> {
        self.rows.iter().map(|row| match self.question_type {
            QuestionType::YesNo => row.confident_yes_or_no(),
            QuestionType::Choice | QuestionType::Scale => row.confident_prediction(),
        })
    }

    /// The area under the ROC curve; for choices and scales the mean over outcomes.
    fn auc(&self) -> Option<f64> {
        match self.question_type {
            QuestionType::YesNo => scores::area(self.forecasts()),
            QuestionType::Choice | QuestionType::Scale => {
                let marks = || self.rows.iter().map(|row| row.marked);
                let areas = (0..=u16::MAX)
                    .zip(&self.outcomes)
                    .filter_map(|(index, key)| {
                        let is_marked = marks().map(|marked| marked == index);
                        self.columns.area(key, is_marked)
                    });
                mean(areas)
            }
        }
    }
}

fn count(rows: &[MarkedRow]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}
