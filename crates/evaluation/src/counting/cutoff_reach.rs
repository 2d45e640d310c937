//! Cutoffs that no stored probability reaches, since the model's server clips its probabilities.

use refract_domain::answer::probability::{ONE, PERCENT, Probability};
use refract_domain::key::ColumnName;
use refract_domain::lens::{Column, Cutoff, Cutoffs, Output, Value};
use refract_domain::result::AnswersView;

/// The fewest answers that show a bound.
pub const BOUND_ANSWERS: u64 = 100;

/// The fewest answers exactly at a bound.
pub const ANSWERS_AT_BOUND: u64 = 10;

/// The most that a bound is away from 0 or 1.
const CLIPPED: u32 = 5 * PERCENT;

/// The probabilities of yes behind the label columns of a lens, in the answers of the present model.
///
/// Some servers clip the probability of yes, mostly to 0.01 and 0.99, so that a cutoff beyond these
/// bounds decides nothing. The highest stored probability is taken for a bound after
/// [`BOUND_ANSWERS`] answers if it is 0.95 or more and [`ANSWERS_AT_BOUND`] of them lie exactly on
/// it: unclipped probabilities thin out towards their highest one, and reach it once or twice. The
/// lowest one, 0.05 or less, is a bound by the same rule. Bounds of 0 and 1 exclude no cutoff.
pub struct CutoffReach {
    /// The model of the first result that was added; empty if its server reported none.
    model: Option<String>,
    columns: Vec<LabelColumn>,
}

/// A label column with the probabilities behind it.
struct LabelColumn {
    name: ColumnName,
    cutoffs: Cutoffs,
    /// The column with the question's probability.
    probability: Column,
    range: YesRange,
}

/// The ends of a range of probabilities.
#[derive(Default)]
struct YesRange {
    answers: u64,
    lowest: Option<RangeEnd>,
    highest: Option<RangeEnd>,
}

/// A probability, and the number of answers that have exactly this one.
#[derive(Clone, Copy)]
struct RangeEnd {
    probability: Probability,
    answers: u64,
}

/// A cutoff of a label column beyond the bound of the stored probabilities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnreachableCutoff {
    /// The label column.
    pub column: ColumnName,
    /// Which cutoff of the column it is.
    pub name: CutoffName,
    /// The cutoff.
    pub cutoff: Cutoff,
    /// The bound that the probabilities keep.
    pub bound: ProbabilityBound,
    /// The number of answers in which the bound was seen.
    pub answers: u64,
}

/// The name of a cutoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutoffName {
    /// `no_below`.
    NoBelow,
    /// `yes_from`.
    YesFrom,
}

/// A bound of stored probabilities of yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbabilityBound {
    /// The lowest probability, which is not below the cutoff.
    Lowest(Probability),
    /// The highest probability, which does not reach the cutoff.
    Highest(Probability),
}

impl CutoffName {
    /// The name in lens files.
    pub fn key(self) -> &'static str {
        match self {
            Self::NoBelow => "no_below",
            Self::YesFrom => "yes_from",
        }
    }
}

impl ProbabilityBound {
    /// The probability.
    pub fn probability(self) -> Probability {
        match self {
            Self::Lowest(probability) | Self::Highest(probability) => probability,
        }
    }
}

impl UnreachableCutoff {
    /// One sentence, without a full stop, on what the cutoff does instead of parting answers.
    /// `cutoff` and `bound` are written as the reader knows them, such as `yes_from 0.995` and
    /// `0.99`.
    pub fn describe(&self, cutoff: &str, bound: &str) -> String {
        let Self {
            column, answers, ..
        } = self;
        let (relation, end) = match self.bound {
            ProbabilityBound::Highest(_) => ("above", "highest"),
            ProbabilityBound::Lowest(_) => ("not above", "lowest"),
        };
        let effect = match (self.name, self.bound) {
            (CutoffName::NoBelow, ProbabilityBound::Highest(_)) => "always No",
            (CutoffName::YesFrom, ProbabilityBound::Highest(_)) => "never Yes",
            (CutoffName::NoBelow, ProbabilityBound::Lowest(_)) => "never No",
            (CutoffName::YesFrom, ProbabilityBound::Lowest(_)) => "always Yes",
        };
        format!(
            "{column} is {effect}: {cutoff} is {relation} {bound}, the {end} probability of yes in \
             {answers} answers of the present model"
        )
    }
}

impl CutoffReach {
    /// No answers yet, for the label columns of a lens.
    pub fn new(lens: &[Column]) -> Self {
        let column = |column: &Column| {
            Some(LabelColumn {
                name: column.name.clone(),
                cutoffs: column.output.cutoffs()?,
                probability: Column {
                    output: Output::YesProbability,
                    ..column.clone()
                },
                range: YesRange::default(),
            })
        };
        Self {
            model: None,
            columns: lens.iter().filter_map(column).collect(),
        }
    }

    /// Whether the lens has no label column, so that no answer needs to be added.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds the answers of a result, the newest result first: the present model is the one that
    /// answered it. Answers of other models are ignored.
    pub fn add(&mut self, result: AnswersView<'_>, model: Option<&str>) {
        let model = model.unwrap_or_default();
        let present = self.model.get_or_insert_with(|| model.to_owned());
        if present.as_str() != model {
            return;
        }
        for column in &mut self.columns {
            let mut values = result.values(std::slice::from_ref(&column.probability));
            if let Some(Value::Probability(probability)) = values.next() {
                column.range.add(probability);
            }
        }
    }

    /// The cutoffs that no stored probability reaches, at most one for each bound of a column.
    pub fn unreachable(&self) -> Vec<UnreachableCutoff> {
        let columns = self.columns.iter();
        columns.flat_map(LabelColumn::unreachable).collect()
    }
}

impl LabelColumn {
    fn unreachable(&self) -> impl Iterator<Item = UnreachableCutoff> {
        let no_below = (CutoffName::NoBelow, self.cutoffs.no_ends_at());
        let yes_from = self.cutoffs.yes_from();
        let yes_from = yes_from.map(|cutoff| (CutoffName::YesFrom, cutoff));
        // beyond a bound, the inner cutoff decides: above the highest probability the lower one,
        // which makes every answer no, and not below the lowest one the higher
        let above = self.range.highest().and_then(|highest| {
            let mut cutoffs = [Some(no_below), yes_from].into_iter().flatten();
            let beyond = cutoffs.find(|(_, cutoff)| highest.millionths() < cutoff.millionths());
            Some((beyond?, ProbabilityBound::Highest(highest)))
        });
        let below = self.range.lowest().and_then(|lowest| {
            let mut cutoffs = [yes_from, Some(no_below)].into_iter().flatten();
            let beyond = cutoffs.find(|(_, cutoff)| cutoff.millionths() <= lowest.millionths());
            Some((beyond?, ProbabilityBound::Lowest(lowest)))
        });
        let found = [above, below].into_iter().flatten();
        found.map(|((name, cutoff), bound)| UnreachableCutoff {
            column: self.name.clone(),
            name,
            cutoff,
            bound,
            answers: self.range.answers,
        })
    }
}

impl YesRange {
    fn add(&mut self, probability: Probability) {
        self.answers += 1;
        let is_lower = |end: RangeEnd| probability < end.probability;
        let is_higher = |end: RangeEnd| probability > end.probability;
        self.lowest = Some(moved(self.lowest, probability, is_lower));
        self.highest = Some(moved(self.highest, probability, is_higher));
    }

    /// The lowest probability, if it is a bound.
    fn lowest(&self) -> Option<Probability> {
        let lowest = self.bound(self.lowest)?;
        (lowest.millionths() <= CLIPPED).then_some(lowest)
    }

    /// The highest probability, if it is a bound.
    fn highest(&self) -> Option<Probability> {
        let highest = self.bound(self.highest)?;
        (highest.millionths() >= ONE - CLIPPED).then_some(highest)
    }

    /// The probability at an end that enough answers share.
    fn bound(&self, end: Option<RangeEnd>) -> Option<Probability> {
        let end = end.filter(|end| end.answers >= ANSWERS_AT_BOUND)?;
        (self.answers >= BOUND_ANSWERS).then_some(end.probability)
    }
}

/// The end of a range after another probability.
fn moved(
    end: Option<RangeEnd>,
    probability: Probability,
    is_beyond: impl Fn(RangeEnd) -> bool,
) -> RangeEnd {
    match end {
        Some(end) if end.probability == probability => RangeEnd {
            answers: end.answers + 1,
            ..end
        },
        Some(end) if !is_beyond(end) => end,
        Some(_) | None => RangeEnd {
            probability,
            answers: 1,
        },
    }
}

#[cfg(test)]
mod tests;
