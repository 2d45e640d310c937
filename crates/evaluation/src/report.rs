//! What people read about a figure, said once: sentences and tables whose cells keep their exact
//! values. The terminal and the app only draw them: a share has three decimals in one and is a
//! percentage with a bar in the other, an outcome is a key in one and a label in the other.
//!
//! This module knows neither text layout nor HTML.

mod answers;
pub mod automation_plan;

use std::borrow::Cow;
use std::cmp::Reverse;

use refract_domain::key::OutcomeKey;

use crate::marked::MarkedAnswers;
use crate::measures::{ConfusionCell, Interval, Proportion, QuestionMeasures};

pub use self::automation_plan::{
    AutomationPlan, AutomationRow, COUNT_HEADINGS, GUARANTEE, RowBasis, RowCutoffs, TWO_FIGURES,
    others,
};

/// Sentences and tables, in the order in which they are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report<'a> {
    /// The sentences and tables.
    pub parts: Vec<ReportPart<'a>>,
}

/// A sentence or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportPart<'a> {
    /// A sentence, in pieces.
    Sentence(Weight, Vec<Cell<'a>>),
    /// A table.
    Table(ReportTable<'a>),
}

/// How much a sentence matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As much as others.
    Plain,
    /// What is to be remembered.
    Strong,
    /// What speaks against relying on the figures.
    Warning,
}

/// A table; the first cell of a row names it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportTable<'a> {
    /// What the table is about.
    pub caption: &'static str,
    /// The name of each column.
    pub headings: &'static [&'static str],
    /// The rows, with a cell for each heading.
    pub rows: Vec<Vec<Cell<'a>>>,
}

/// A cell of a table, or a piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Words.
    Words(Cow<'static, str>),
    /// A count.
    Count(u64),
    /// A count with its noun in the singular.
    Counted(u64, &'static str),
    /// An outcome; `None` if nothing is predicted.
    Outcome(Option<&'a OutcomeKey>),
    /// A share, 0 to 1.
    Share(NamedFigure),
    /// A difference of two shares, -1 to 1.
    Difference(NamedFigure),
    /// A number on a scale of its own.
    Number(NamedFigure),
}

/// The exact value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedFigure {
    /// The name in the question's JSON object; `None` if it is not there by itself.
    pub name: Option<&'static str>,
    /// The value; `None` if it is not defined.
    pub value: Option<f64>,
    /// The 95 % interval; `None` if there is none.
    pub interval: Option<Interval>,
}

impl<'a> Report<'a> {
    fn say(&mut self, weight: Weight, sentence: Vec<Cell<'a>>) {
        self.parts.push(ReportPart::Sentence(weight, sentence));
    }
}

impl Cell<'_> {
    /// Whether the cell is a bare number, which stands at the right of its column.
    pub fn is_number(&self) -> bool {
        match self {
            Self::Count(_) | Self::Number(_) => true,
            Self::Share(figure) => figure.interval.is_none(),
            Self::Words(_) | Self::Counted(..) | Self::Outcome(_) | Self::Difference(_) => false,
        }
    }

    /// A share with its interval.
    fn share(name: Option<&'static str>, share: Proportion) -> Self {
        Self::Share(NamedFigure {
            name,
            value: share.value(),
            interval: share.interval(),
        })
    }

    /// A share without an interval.
    fn bare_share(name: Option<&'static str>, value: Option<f64>) -> Self {
        Self::Share(NamedFigure {
            name,
            value,
            interval: None,
        })
    }

    fn number(name: &'static str, value: Option<f64>) -> Self {
        Self::Number(NamedFigure {
            name: Some(name),
            value,
            interval: None,
        })
    }

    fn counted(number: usize, noun: &'static str) -> Self {
        Self::Counted(u64::try_from(number).unwrap_or(u64::MAX), noun)
    }
}

impl From<&'static str> for Cell<'_> {
    fn from(words: &'static str) -> Self {
        Self::Words(Cow::Borrowed(words))
    }
}

/// A measure with three decimals; a dash if undefined.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// A measure with its interval: `0.913 (0.871 to 0.942)`.
pub fn range(value: Option<f64>, interval: Option<Interval>) -> String {
    let value = number(value);
    match interval {
        Some(Interval { low, high }) => format!("{value} ({low:.3} to {high:.3})"),
        None => value,
    }
}

/// A difference with its sign and interval: `+0.042 (-0.010 to +0.095)`.
pub fn signed(difference: Option<f64>, interval: Option<Interval>) -> String {
    match (difference, interval) {
        (Some(difference), Some(Interval { low, high })) => {
            format!("{difference:+.3} ({low:+.3} to {high:+.3})")
        }
        (Some(_) | None, _) => "–".to_owned(),
    }
}

/// The accuracies for which a confidence is found.
const WANTED: [f64; 3] = [0.90, 0.95, 0.99];

impl QuestionMeasures {
    /// The measures beside the accuracy, each with its meaning.
    #[rustfmt::skip]
    pub fn figures(&self) -> ReportTable<'static> {
        let row = |label: &'static str, figure, meaning: &'static str| vec![label.into(), figure, meaning.into()];
        let share = |name, value| Cell::bare_share(Some(name), value);
        let number = Cell::number;
        let means = &self.macro_average;
        let mut rows = vec![
            row("Majority", share("majority_accuracy", self.majority.value()), "right if the most frequent mark were always the answer"),
            row("AUC", number("auc", self.auc), "how well probabilities order results; 0.5 is guessing, 1 is full order"),
            row("Macro precision", share("macro_precision", means.precision), "the outcomes' mean share of right answers among those given"),
            row("Macro recall", share("macro_recall", means.recall), "the outcomes' mean share of right answers among those marked"),
            row("Macro F1", number("macro_f1", means.f1), "the outcomes' mean of both; 1 is best"),
            row("Brier score", number("brier", self.brier), "mean squared distance of the probabilities from the marks; 0 is best"),
            row("Log loss", number("log_loss", self.log_loss), "how surprising the marks are to the probabilities; 0 is best"),
            row("ECE", number("ece", self.ece), "calibration error: mean gap between probabilities and shares; 0 is best"),
            row("Coverage area", number("coverage_area", self.coverage.area), "mean accuracy over all coverages; 1 is best"),
        ];
        if let Some(scale) = &self.scale {
            rows.extend([
                row("Mean absolute error", number("mean_absolute_error", scale.mean_absolute_error), "mean distance in levels"),
                row("Within one level", share("within_one", scale.within_one), "at most one level off"),
                row("Quadratic kappa", number("quadratic_kappa", scale.quadratic_kappa), "agreement beyond chance; 1 is full"),
            ]);
        }
        ReportTable { caption: "All figures", headings: &["Figure", "Value", "Meaning"], rows }
    }

    /// The log loss with what a probability of 0 stands for; `None` if that makes no difference.
    pub fn log_loss_of_zero(&self) -> Option<String> {
        let floored = self
            .floored_log_loss
            .filter(|_| self.floored_log_loss != self.log_loss)?;
        let zero = match self.log_loss_floor {
            Some(floor) => format!("{floor}, half of the server's rounding step"),
            None => "half of each server's rounding step".to_owned(),
        };
        Some(format!("Log loss with 0 as {zero}: {floored:.3}."))
    }

    /// The `most` outcomes that are most often marked or predicted, in the question's order.
    pub fn by_outcome(&self, most: usize) -> Report<'_> {
        let mut shown: Vec<_> = self.outcomes.iter().enumerate().collect();
        shown.sort_by_key(|(_, outcome)| Reverse(outcome.marked + outcome.predicted));
        let rest = shown.split_off(shown.len().min(most));
        shown.sort_by_key(|(place, _)| *place);
        let rows = shown.into_iter().map(|(_, outcome)| {
            vec![
                Cell::Outcome(Some(&outcome.key)),
                Cell::Count(outcome.marked),
                Cell::Count(outcome.predicted),
                Cell::bare_share(Some("precision"), outcome.precision),
                Cell::bare_share(Some("recall"), outcome.recall),
                Cell::number("f1", outcome.f1),
            ]
        });
        let mut report = Report::default();
        report.parts.push(ReportPart::Table(ReportTable {
            caption: "Measures by outcome",
            headings: &["Outcome", "Marked", "Answered", "Precision", "Recall", "F1"],
            rows: rows.collect(),
        }));
        if !rest.is_empty() {
            let marked = rest.iter().map(|(_, outcome)| outcome.marked).sum();
            report.say(
                Weight::Plain,
                vec![
                    "and ".into(),
                    Cell::counted(rest.len(), "more outcome"),
                    ", marked ".into(),
                    Cell::Counted(marked, "time"),
                    " together".into(),
                ],
            );
        }
        report
    }

    /// The pairs of a marked and another predicted outcome, the most frequent first.
    pub fn mistakes(&self) -> Vec<&ConfusionCell> {
        let cells = self.confusion.iter();
        let mut wrong: Vec<_> = cells.filter(|cell| cell.marked != cell.predicted).collect();
        wrong.sort_by_key(|cell| Reverse(cell.count));
        wrong
    }
}

impl MarkedAnswers {
    /// From which confidence on answers need no person, for some wanted accuracies.
    pub fn automation(&self) -> Report<'static> {
        let (mut rows, mut missed) = (Vec::new(), Vec::new());
        for wanted in WANTED {
            let share = Cell::bare_share(None, Some(wanted));
            let Some(advice) = self.coverage_for(wanted) else {
                let sentence = vec![
                    "No confidence reaches ".into(),
                    share,
                    " on held-out marks.".into(),
                ];
                missed.push(ReportPart::Sentence(Weight::Plain, sentence));
                continue;
            };
            rows.push(vec![
                share,
                Cell::Words(format!("{:.2}", advice.confidence).into()),
                Cell::bare_share(None, advice.all.accuracy.value()),
                Cell::bare_share(None, advice.all.coverage.value()),
                Cell::share(None, advice.held_out.accuracy),
            ]);
        }
        let table = (!rows.is_empty()).then_some(ReportPart::Table(ReportTable {
            caption: "The confidence for a wanted accuracy",
            headings: &[
                "Wanted",
                "From confidence",
                "Right",
                "Answered",
                "Right on held-out marks",
            ],
            rows,
        }));
        Report {
            parts: table.into_iter().chain(missed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_that_is_not_defined_is_a_dash() {
        assert_eq!(number(Some(0.912_6)), "0.913");
        assert_eq!(number(None), "–");
        let interval = Interval {
            low: 0.8,
            high: 1.0,
        };
        assert_eq!(range(Some(0.9), Some(interval)), "0.900 (0.800 to 1.000)");
        assert_eq!(range(None, None), "–");
        assert_eq!(
            signed(Some(0.9), Some(interval)),
            "+0.900 (+0.800 to +1.000)"
        );
        assert_eq!(signed(Some(0.9), None), "–");
    }
}
