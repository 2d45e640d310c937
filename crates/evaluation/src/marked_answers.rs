//! The marked answers of one question, and everything that is measured of them.

use indexmap::IndexSet;
use refract_domain::answer::Answer;
use refract_domain::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::key::OutcomeKey;
use refract_domain::probability::{ONE, Probability};
use refract_domain::question::{Question, QuestionType};

use crate::automation::{self, AutomationAdvice};
use crate::coverage;
use crate::cutoff_advice::{self, CutoffAdvice, CutoffGoal};
use crate::folds::Folds;
use crate::forecast::Forecast;
use crate::marked_answer::{MarkedAnswer, NotComparable};
use crate::measures::QuestionMeasures;
use crate::outcome_measures::{Confusion, MacroAverage};
use crate::prediction::{no, yes};
use crate::proportion::Proportion;
use crate::reliability::{bins, expected_calibration_error};
use crate::scale_measures::LevelTable;
use crate::scores::Scores;

/// Collects the marked answers of one question, in the order of the result ids.
///
/// A row takes 12 bytes whatever the number of outcomes: distributions are summed up as they come.
#[derive(Clone, Debug)]
pub struct MarkedAnswers {
    question_type: QuestionType,
    cutoffs: Cutoffs,
    outcomes: IndexSet<OutcomeKey>,
    rows: Vec<Row>,
    scores: Scores,
    levels: LevelTable,
}

/// Index of yes among the outcomes of a Yes / No question.
const YES: u16 = 0;
/// Index of no among the outcomes of a Yes / No question.
const NO: u16 = 1;

/// What is kept of a marked answer. Outcomes are indexes of the interned keys.
#[derive(Clone, Copy, Debug)]
struct Row {
    marked: u16,
    predicted: Option<u16>,
    /// Probability of yes for Yes / No, otherwise of the predicted outcome.
    probability: Probability,
}

impl Row {
    fn is_right(self) -> bool {
        self.predicted == Some(self.marked)
    }
}

impl MarkedAnswers {
    /// No answers yet, of a question of this type. The cutoffs decide what a Yes / No predicts; for
    /// other types they have no meaning.
    pub fn new(question_type: QuestionType, cutoffs: Cutoffs) -> Self {
        let outcomes = match question_type {
            QuestionType::YesNo => [yes(), no()].into_iter().collect(),
            QuestionType::Choice | QuestionType::Scale => IndexSet::new(),
        };
        Self {
            question_type,
            cutoffs,
            outcomes,
            rows: Vec::new(),
            scores: Scores::default(),
            levels: LevelTable::default(),
        }
    }

    /// Lists the outcomes of a question before those that only added answers have. It is called
    /// with the latest version's question before the first answer is added.
    ///
    /// # Errors
    /// There are more outcomes than can be told apart.
    pub fn expect_outcomes(&mut self, question: &Question) -> Result<(), NotComparable> {
        for outcome in question.outcomes() {
            if let Ok(key) = OutcomeKey::parse(outcome.key) {
                self.index_of(&key)?;
            }
        }
        Ok(())
    }

    /// Adds a marked answer. Answers are added in the order of the result ids, which decides between
    /// equal probabilities and about folds.
    ///
    /// # Errors
    /// The question or the answer is of another type, or the version that answered lacks the marked
    /// or the answered outcome. The answer is then not added.
    pub fn add(&mut self, marked: &MarkedAnswer<'_>) -> Result<(), NotComparable> {
        let MarkedAnswer {
            question,
            answer,
            mark,
        } = *marked;
        for found in [question.question_type(), answer.question_type()] {
            if found != self.question_type {
                return Err(NotComparable::Type {
                    expected: self.question_type.name(),
                    found: found.name(),
                });
            }
        }
        match answer {
            Answer::Choice {
                value,
                probabilities,
                confidence: _,
            } => {
                position(question, mark, NotComparable::mark)?;
                if let Some(value) = value {
                    position(question, value, NotComparable::answer)?;
                }
                self.add_outcome(mark, value.as_ref(), probabilities)
            }
            Answer::Scale {
                level,
                probabilities,
            } => {
                let of_mark = position(question, mark, NotComparable::mark)?;
                let of_level = position(question, level, NotComparable::answer)?;
                self.add_outcome(mark, Some(level), probabilities)?;
                self.levels.add(of_mark, of_level);
                Ok(())
            }
            Answer::YesNo { probability } => {
                let index = self.outcomes.get_index_of(mark);
                let index = index.ok_or_else(|| NotComparable::mark(question, mark))?;
                self.add_yes_no(index == usize::from(YES), *probability);
                Ok(())
            }
        }
    }

    fn add_outcome(
        &mut self,
        mark: &OutcomeKey,
        value: Option<&OutcomeKey>,
        probabilities: &[(OutcomeKey, Probability)],
    ) -> Result<(), NotComparable> {
        let marked = self.index_of(mark)?;
        let predicted = value.map(|value| self.index_of(value)).transpose()?;
        let of_value = probabilities.iter().find(|(key, _)| Some(key) == value);
        self.scores.add_outcomes(probabilities, mark);
        self.rows.push(Row {
            marked,
            predicted,
            probability: of_value.map_or(Probability::ZERO, |(_, probability)| *probability),
        });
        Ok(())
    }

    fn add_yes_no(&mut self, is_yes: bool, probability: Probability) {
        let predicted = match self.cutoffs.label(probability) {
            YesNoLabel::Yes => Some(YES),
            YesNoLabel::No => Some(NO),
            YesNoLabel::Unsure => None,
        };
        self.scores.add_yes_no(probability, is_yes);
        self.rows.push(Row {
            marked: if is_yes { YES } else { NO },
            predicted,
            probability,
        });
    }

    /// The index of an outcome, which is interned when it is new.
    fn index_of(&mut self, key: &OutcomeKey) -> Result<u16, NotComparable> {
        let index = match self.outcomes.get_index_of(key) {
            Some(index) => index,
            None => self.outcomes.insert_full(key.clone()).0,
        };
        u16::try_from(index).map_err(|_| NotComparable::TooManyOutcomes)
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
        let predictions = || self.predictions();
        QuestionMeasures {
            marks: count(&self.rows),
            answered: accuracy.of,
            accuracy,
            brier: self.scores.brier(),
            log_loss: self.scores.log_loss(),
            ece: expected_calibration_error(&reliability),
            macro_average: MacroAverage::new(&outcomes),
            outcomes,
            confusion: confusion.cells(|index| self.outcomes.get_index(usize::from(index))),
            reliability,
            coverage: coverage::curve(
                &Folds::new(predictions()).all(),
                predictions().flatten().collect(),
            ),
            scale: match self.question_type {
                QuestionType::Scale => Some(self.levels.measures()),
                QuestionType::Choice | QuestionType::YesNo => None,
            },
        }
    }

    /// The smallest confidence at which a wanted accuracy, 0 to 1, holds on held-out rows; `None`
    /// where it holds at none.
    pub fn coverage_for(&self, wanted: f64) -> Option<AutomationAdvice> {
        automation::advise(&Folds::new(self.predictions()), wanted)
    }

    /// The cutoffs of a Yes / No question for a goal; `None` for other types.
    pub fn advise_cutoffs(&self, goal: CutoffGoal) -> Option<CutoffAdvice> {
        match self.question_type {
            QuestionType::Choice | QuestionType::Scale => None,
            QuestionType::YesNo => {
                let rows = self.rows.iter().map(|row| Some(of_yes(*row)));
                Some(cutoff_advice::advise(&Folds::new(rows), goal))
            }
        }
    }

    /// The probabilities that reliability is about, in the order of the rows.
    fn forecasts(&self) -> Vec<Forecast> {
        match self.question_type {
            QuestionType::YesNo => self.rows.iter().map(|row| of_yes(*row)).collect(),
            QuestionType::Choice | QuestionType::Scale => self.predictions().flatten().collect(),
        }
    }

    /// The probability of each row's predicted outcome, which is the confidence in it; `None` for a
    /// row that is not answered.
    fn predictions(&self) -> impl Iterator<Item = Option<Forecast>> {
        let is_yes_no = self.question_type == QuestionType::YesNo;
        self.rows.iter().map(move |row| {
            let predicted = row.predicted?;
            let probability = if is_yes_no && predicted == NO {
                complement(row.probability)
            } else {
                row.probability
            };
            Some(Forecast {
                probability,
                came_true: row.is_right(),
            })
        })
    }
}

/// The probability of yes beside whether yes was marked.
fn of_yes(row: Row) -> Forecast {
    Forecast {
        probability: row.probability,
        came_true: row.marked == YES,
    }
}

fn complement(probability: Probability) -> Probability {
    Probability::from_millionths(ONE - probability.millionths()).unwrap_or_default()
}

/// The position of an outcome in the version that answered.
fn position(
    question: &Question,
    key: &OutcomeKey,
    error: fn(&Question, &OutcomeKey) -> NotComparable,
) -> Result<usize, NotComparable> {
    let mut outcomes = question.outcomes();
    outcomes
        .position(|outcome| outcome.key == key.as_str())
        .ok_or_else(|| error(question, key))
}

fn count(rows: &[Row]) -> u64 {
    u64::try_from(rows.len()).unwrap_or(u64::MAX)
}
