//! The measures of a question in tables and sentences.

use std::cmp::Reverse;

use super::{Cell, Report, ReportPart, ReportTable, Weight};
use crate::marked::MarkedAnswers;
use crate::measures::{ConfusionCell, QuestionMeasures};

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
