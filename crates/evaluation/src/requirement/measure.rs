//! The measures that a requirement can name.

use crate::flips::SensitivityMeasures;
use crate::measures::{OutcomeMeasures, QuestionMeasures, ScaleMeasures, ratio};

/// A measure by its name in a requirement, which no other measure of its kind has.
#[derive(Debug)]
pub(crate) struct NamedMeasure<F> {
    pub(crate) name: &'static str,
    /// Returns the measure's value; `None` when it is undefined.
    pub(crate) value: F,
}

/// A measure over level numbers was named for a question that is not a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAScale;

/// A measure of a whole question.
pub(super) type QuestionMeasure =
    NamedMeasure<fn(&QuestionMeasures) -> Result<Option<f64>, NotAScale>>;
/// A measure of one outcome.
pub(super) type OutcomeMeasure = NamedMeasure<fn(&OutcomeMeasures) -> Option<f64>>;
/// A measure of the answers under perturbations.
pub(super) type RobustnessMeasure = NamedMeasure<fn(&SensitivityMeasures) -> Option<f64>>;

pub(super) static OF_QUESTION: [QuestionMeasure; 15] = [
    NamedMeasure::new("accuracy", |of| Ok(of.accuracy.value())),
    NamedMeasure::new("accuracy_low", |of| {
        Ok(of.accuracy.interval().map(|interval| interval.low))
    }),
    NamedMeasure::new("accuracy_high", |of| {
        Ok(of.accuracy.interval().map(|interval| interval.high))
    }),
    NamedMeasure::new("auc", |of| Ok(of.auc)),
    NamedMeasure::new("answered", |of| Ok(ratio(of.answered, of.marks))),
    NamedMeasure::new("macro_f1", |of| Ok(of.macro_average.f1)),
    NamedMeasure::new("macro_precision", |of| Ok(of.macro_average.precision)),
    NamedMeasure::new("macro_recall", |of| Ok(of.macro_average.recall)),
    NamedMeasure::new("brier", |of| Ok(of.brier)),
    NamedMeasure::new("log_loss", |of| Ok(of.log_loss)),
    NamedMeasure::new("ece", |of| Ok(of.ece)),
    NamedMeasure::new("coverage_area", |of| Ok(of.coverage.area)),
    NamedMeasure::new("mean_absolute_error", |of| {
        Ok(scale(of)?.mean_absolute_error)
    }),
    NamedMeasure::new("within_one", |of| Ok(scale(of)?.within_one)),
    NamedMeasure::new("quadratic_kappa", |of| Ok(scale(of)?.quadratic_kappa)),
];

pub(super) static OF_OUTCOME: [OutcomeMeasure; 3] = [
    NamedMeasure::new("precision", |of| of.precision),
    NamedMeasure::new("recall", |of| of.recall),
    NamedMeasure::new("f1", |of| of.f1),
];

pub(super) static OF_ROBUSTNESS: [RobustnessMeasure; 5] = [
    NamedMeasure::new("flip_rate", |of| of.flip_rate.value()),
    NamedMeasure::new("flip_rate_low", |of| {
        of.flip_rate.interval().map(|interval| interval.low)
    }),
    NamedMeasure::new("flip_rate_high", |of| {
        of.flip_rate.interval().map(|interval| interval.high)
    }),
    NamedMeasure::new("movement", |of| of.mean_total_variation),
    NamedMeasure::new("largest_movement", |of| of.largest_total_variation),
];

fn scale(measures: &QuestionMeasures) -> Result<&ScaleMeasures, NotAScale> {
    measures.scale.as_ref().ok_or(NotAScale)
}

impl<F> NamedMeasure<F> {
    pub(crate) const fn new(name: &'static str, value: F) -> Self {
        Self { name, value }
    }

    /// The measure with this name.
    pub(crate) fn find<'m>(measures: &'m [Self], name: &str) -> Option<&'m Self> {
        measures.iter().find(|measure| measure.name == name)
    }

    /// All names, separated by commas.
    pub(crate) fn names(measures: &[Self]) -> String {
        let names: Vec<_> = measures.iter().map(|measure| measure.name).collect();
        names.join(", ")
    }
}

impl<F> PartialEq for NamedMeasure<F> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<F> Eq for NamedMeasure<F> {}
