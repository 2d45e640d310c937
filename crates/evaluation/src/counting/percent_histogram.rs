//! A histogram of probabilities by whole percent, which gives exact counts for every cutoff at a
//! whole percent; and such cutoffs, as the sliders of a lens set them (spec 2.5). And counts of the
//! answers at or above each whole percent.

use refract_domain::answer::probability::{PERCENT, Probability};
use refract_domain::key::QuestionKey;
use refract_domain::lens::{Column, Cutoff, Cutoffs, Output, Value, YesNoLabel};
use refract_domain::prism::QuestionType;
use refract_domain::result::AnswersView;
use serde::Serialize;

/// Number of bins: one for each percent from 0 to 100.
pub const PERCENTS: usize = 101;

/// Number of probabilities in each whole percent, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PercentHistogram {
    counts: [u64; PERCENTS],
}

/// Number of results with each label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LabelCounts {
    /// Results that are `yes`.
    pub yes: u64,
    /// Results that are `unsure`.
    pub unsure: u64,
    /// Results that are `no`.
    pub no: u64,
}

impl Default for PercentHistogram {
    fn default() -> Self {
        Self {
            counts: [0; PERCENTS],
        }
    }
}

impl PercentHistogram {
    /// Counts a probability.
    pub fn add(&mut self, probability: Probability) {
        self.add_percent(probability.percent(), 1);
    }

    /// Counts `results` probabilities of this whole percent.
    pub(crate) fn add_percent(&mut self, percent: u8, results: u64) {
        if let Some(count) = self.counts.get_mut(usize::from(percent)) {
            *count += results;
        }
    }

    /// The counts by percent: index 40 counts probabilities from 0.4 to below 0.41, index 100 only
    /// probability 1.
    pub fn counts(&self) -> &[u64; PERCENTS] {
        &self.counts
    }

    /// Number of counted probabilities.
    pub fn results(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Number of probabilities with each label at these cutoffs.
    pub fn labels(&self, cutoffs: PercentCutoffs) -> LabelCounts {
        let mut labels = LabelCounts::default();
        for (percent, count) in (0_u8..).zip(self.counts) {
            labels.add(cutoffs.label(percent), count);
        }
        labels
    }
}

impl LabelCounts {
    /// Adds `results` results with a label.
    pub fn add(&mut self, label: YesNoLabel, results: u64) {
        match label {
            YesNoLabel::Yes => self.yes += results,
            YesNoLabel::Unsure => self.unsure += results,
            YesNoLabel::No => self.no += results,
        }
    }

    /// Number of results with another label than this one.
    pub fn others(self, label: YesNoLabel) -> u64 {
        match label {
            YesNoLabel::Yes => self.unsure + self.no,
            YesNoLabel::Unsure => self.yes + self.no,
            YesNoLabel::No => self.yes + self.unsure,
        }
    }
}

/// The cutoffs of a `label` at whole percents: `no` below `no_below`, `yes` from `yes_from` on. If
/// both are equal, there is no `unsure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentCutoffs {
    no_below: u8,
    yes_from: u8,
}

impl PercentCutoffs {
    /// Cutoffs with `no_below` from 1 to 99 and `yes_from` from `no_below` to 100; `None`
    /// otherwise.
    pub fn new(no_below: u8, yes_from: u8) -> Option<Self> {
        let is_valid = (1..100).contains(&no_below) && (no_below..=100).contains(&yes_from);
        is_valid.then_some(Self { no_below, yes_from })
    }

    /// The whole percents that give the same labels as these cutoffs; `None` when a cutoff lies
    /// between two percents.
    pub fn of(cutoffs: Cutoffs) -> Option<Self> {
        let nearest = Self::nearest(cutoffs);
        let is_at =
            |cutoff: Cutoff, percent: u8| cutoff.millionths() == u32::from(percent) * PERCENT;
        let (no_ends_at, yes_begins_at) = ends(cutoffs);
        let is_exact =
            is_at(no_ends_at, nearest.no_below) && is_at(yes_begins_at, nearest.yes_from);
        is_exact.then_some(nearest)
    }

    /// The whole percents nearest to these cutoffs.
    pub fn nearest(cutoffs: Cutoffs) -> Self {
        let nearest = |cutoff: Cutoff| {
            let percent = (cutoff.millionths() + PERCENT / 2) / PERCENT;
            u8::try_from(percent).unwrap_or(u8::MAX)
        };
        let (no_ends_at, yes_begins_at) = ends(cutoffs);
        let no_below = nearest(no_ends_at).clamp(1, 99);
        Self {
            no_below,
            yes_from: nearest(yes_begins_at).clamp(no_below, 100),
        }
    }

    /// The percent below which the label is `no`.
    pub fn no_below(self) -> u8 {
        self.no_below
    }

    /// The percent from which the label is `yes`.
    pub fn yes_from(self) -> u8 {
        self.yes_from
    }

    /// The cutoffs for a lens; without a band of `unsure` they have no `yes_from`.
    pub fn cutoffs(self) -> Cutoffs {
        let number = |percent: u8| f64::from(percent) / 100.0;
        let yes_from = (self.yes_from > self.no_below).then(|| number(self.yes_from));
        // percents of this type are in the range of cutoffs
        Cutoffs::new(Some(number(self.no_below)), yes_from).unwrap_or_default()
    }

    /// The label of all probabilities at or above this percent and below the next.
    pub fn label(self, percent: u8) -> YesNoLabel {
        if percent < self.no_below {
            YesNoLabel::No
        } else if percent < self.yes_from {
            YesNoLabel::Unsure
        } else {
            YesNoLabel::Yes
        }
    }
}

/// The cutoff below which the label is `no`, and the one from which it is `yes`.
fn ends(cutoffs: Cutoffs) -> (Cutoff, Cutoff) {
    (cutoffs.no_ends_at(), cutoffs.yes_begins_at())
}

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
mod tests;
