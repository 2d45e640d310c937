//! Counts of the answers at or above each whole percent, over stored probabilities: of yes, or of the
//! answer to a choice or scale.

use refract_domain::key::QuestionKey;
use refract_domain::lens::{Column, Cutoffs, Output, Value};
use refract_domain::prism::QuestionType;
use refract_domain::result::AnswersView;
use serde::Serialize;

use crate::counting::percent_histogram::{LabelCounts, PercentHistogram};

/// A histogram of the probabilities of yes to one question, or of its answers, in bins of one percent.
pub struct CutoffSteps {
    /// The column with the question's probability, whatever output the chosen column shows.
    probability: Column,
    /// The cutoffs of the chosen column, if it shows labels.
    cutoffs: Option<Cutoffs>,
    histogram: PercentHistogram,
    labels: LabelCounts,
}

/// Counts of yes and no at one cutoff, without a band of `unsure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CutoffStep {
    /// The cutoff in percent, from 0 to 100.
    pub percent: u32,
    /// Results with a probability at or above this cutoff and below the next step's.
    pub results: u64,
    /// Results below this cutoff.
    pub no: u64,
    /// Results at or above this cutoff.
    pub yes: u64,
}

impl CutoffSteps {
    /// An empty histogram for a column.
    pub fn of(column: &Column) -> Self {
        let output = match column.output.question_type() {
            QuestionType::YesNo => Output::YesProbability,
            QuestionType::Choice => Output::TopProbability,
            QuestionType::Scale => Output::LevelProbability,
        };
        Self {
            probability: Column {
                output,
                ..column.clone()
            },
            cutoffs: column.output.cutoffs(),
            histogram: PercentHistogram::default(),
            labels: LabelCounts::default(),
        }
    }

    /// The type of the question.
    pub fn question_type(&self) -> QuestionType {
        self.probability.output.question_type()
    }

    /// Counts a result, unless the version that answered lacks the question.
    pub fn add(&mut self, result: AnswersView<'_>) {
        let mut values = result.values(std::slice::from_ref(&self.probability));
        let Some(Value::Probability(probability)) = values.next() else {
            return;
        };
        self.histogram.add(probability);
        if let Some(cutoffs) = self.cutoffs {
            self.labels.add(cutoffs.label(probability), 1);
        }
    }

    /// The question whose probabilities are counted.
    pub fn question(&self) -> &QuestionKey {
        &self.probability.question
    }

    /// The column's current cutoffs and the labels they give; `None` for a column of probabilities.
    pub fn now(&self) -> Option<(Cutoffs, LabelCounts)> {
        Some((self.cutoffs?, self.labels))
    }

    /// Number of counted results.
    pub fn results(&self) -> u64 {
        self.histogram.results()
    }

    /// The counts at each cutoff from 0 to 100 percent, in steps of `every` percent.
    pub fn steps(&self, every: usize) -> Vec<CutoffStep> {
        let mut no = 0;
        let mut percent = 0;
        let mut steps = Vec::new();
        for counts in self.histogram.counts().chunks(every.max(1)) {
            let results: u64 = counts.iter().sum();
            let yes = self.results() - no;
            steps.push(CutoffStep {
                percent,
                results,
                no,
                yes,
            });
            no += results;
            percent += u32::try_from(every.max(1)).unwrap_or(u32::MAX);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counting::lens_preview::tests::{Sample, column};

    fn counted(output: &str, probabilities: &[f64]) -> CutoffSteps {
        let sample = Sample::new();
        let mut steps = CutoffSteps::of(&column("angry", output));
        for probability in probabilities {
            let answers = Sample::answers("billing", *probability, "low");
            steps.add(sample.view(&answers).answers());
        }
        steps
    }

    #[test]
    fn each_step_shows_what_a_cutoff_there_would_answer() {
        let probabilities = [0.0, 0.004, 0.29, 0.299_999, 0.3, 0.5, 0.999_999, 1.0];
        let steps = counted("label", &probabilities);
        assert_eq!(steps.results(), 8);
        let every = steps.steps(1);
        assert_eq!(every.len(), 101);
        let at = |percent: usize| {
            let step = every[percent];
            assert_eq!(usize::try_from(step.percent).unwrap(), percent);
            (step.results, step.no, step.yes)
        };
        assert_eq!(at(0), (2, 0, 8));
        assert_eq!(at(1), (0, 2, 6));
        assert_eq!(at(29), (2, 2, 6));
        assert_eq!(at(30), (1, 4, 4), "a cutoff is reached at itself");
        assert_eq!(at(99), (1, 6, 2));
        assert_eq!(at(100), (1, 7, 1));
        let coarse = steps.steps(5);
        assert_eq!(coarse.len(), 21);
        assert_eq!((coarse[6].percent, coarse[6].no, coarse[6].yes), (30, 4, 4));
        assert_eq!((coarse[5].results, coarse[20].results), (2, 1));
    }

    #[test]
    fn what_the_column_shows_now_is_counted_by_its_own_cutoffs() {
        let (cutoffs, labels) = counted("label", &[0.1, 0.499_999, 0.5, 0.9]).now().unwrap();
        assert_eq!(cutoffs, Cutoffs::default());
        let expected = LabelCounts {
            yes: 2,
            unsure: 0,
            no: 2,
        };
        assert_eq!(labels, expected);
        assert!(counted("probability", &[0.1]).now().is_none());
    }

    #[test]
    fn a_choice_or_scale_shows_the_probabilities_of_its_answers() {
        let sample = Sample::new();
        for (question, output) in [("topic", "top"), ("urgency", "number")] {
            let mut steps = CutoffSteps::of(&column(question, output));
            let answers = Sample::answers("billing", 0.5, "low");
            steps.add(sample.view(&answers).answers());
            assert_eq!((steps.results(), steps.now().is_none()), (1, true));
        }
    }

    #[test]
    fn a_version_without_the_question_does_not_count() {
        let sample = Sample::new();
        let other = Column {
            question: QuestionKey::parse("happy").unwrap(),
            ..column("angry", "label")
        };
        let mut steps = CutoffSteps::of(&other);
        steps.add(
            sample
                .view(&Sample::answers("billing", 0.5, "low"))
                .answers(),
        );
        assert_eq!(steps.results(), 0);
    }
}
