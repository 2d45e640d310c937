//! The measures that a requirement can name.

use crate::flips::SensitivityMeasures;
use crate::measures::QuestionMeasures;
use crate::measures::outcome::{OutcomeMeasures, ScaleMeasures};
use crate::measures::proportion::ratio;

/// A measure of a whole question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Accuracy,
    AccuracyLow,
    AccuracyHigh,
    Auc,
    Answered,
    MacroF1,
    MacroPrecision,
    MacroRecall,
    Brier,
    LogLoss,
    Ece,
    CoverageArea,
    MeanAbsoluteError,
    WithinOne,
    QuadraticKappa,
}

/// A measure of one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutcomeMeasure {
    Precision,
    Recall,
    F1,
}

/// A measure of the answers under perturbations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RobustnessMeasure {
    FlipRate,
    FlipRateLow,
    FlipRateHigh,
    Movement,
    LargestMovement,
}

/// A measure over level numbers was named for a question that is not a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAScale;

impl Measure {
    const ALL: [Self; 15] = [
        Self::Accuracy,
        Self::AccuracyLow,
        Self::AccuracyHigh,
        Self::Auc,
        Self::Answered,
        Self::MacroF1,
        Self::MacroPrecision,
        Self::MacroRecall,
        Self::Brier,
        Self::LogLoss,
        Self::Ece,
        Self::CoverageArea,
        Self::MeanAbsoluteError,
        Self::WithinOne,
        Self::QuadraticKappa,
    ];

    /// The measure with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut measures = Self::ALL.into_iter();
        measures.find(|measure| measure.name() == name)
    }

    /// All names, separated by commas.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The measure's name in a requirement.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::AccuracyLow => "accuracy_low",
            Self::AccuracyHigh => "accuracy_high",
            Self::Auc => "auc",
            Self::Answered => "answered",
            Self::MacroF1 => "macro_f1",
            Self::MacroPrecision => "macro_precision",
            Self::MacroRecall => "macro_recall",
            Self::Brier => "brier",
            Self::LogLoss => "log_loss",
            Self::Ece => "ece",
            Self::CoverageArea => "coverage_area",
            Self::MeanAbsoluteError => "mean_absolute_error",
            Self::WithinOne => "within_one",
            Self::QuadraticKappa => "quadratic_kappa",
        }
    }

    /// The measure's value; `None` when it is undefined.
    pub(super) fn value(self, measures: &QuestionMeasures) -> Result<Option<f64>, NotAScale> {
        let of_scale = |value: fn(&ScaleMeasures) -> Option<f64>| {
            measures.scale.as_ref().map(value).ok_or(NotAScale)
        };
        let interval = || measures.accuracy.interval();
        Ok(match self {
            Self::Accuracy => measures.accuracy.value(),
            Self::AccuracyLow => interval().map(|interval| interval.low),
            Self::AccuracyHigh => interval().map(|interval| interval.high),
            Self::Auc => measures.auc,
            Self::Answered => ratio(measures.answered, measures.marks),
            Self::MacroF1 => measures.macro_average.f1,
            Self::MacroPrecision => measures.macro_average.precision,
            Self::MacroRecall => measures.macro_average.recall,
            Self::Brier => measures.brier,
            Self::LogLoss => measures.log_loss,
            Self::Ece => measures.ece,
            Self::CoverageArea => measures.coverage.area,
            Self::MeanAbsoluteError => of_scale(|scale| scale.mean_absolute_error)?,
            Self::WithinOne => of_scale(|scale| scale.within_one)?,
            Self::QuadraticKappa => of_scale(|scale| scale.quadratic_kappa)?,
        })
    }
}

impl OutcomeMeasure {
    const ALL: [Self; 3] = [Self::Precision, Self::Recall, Self::F1];

    /// The measure with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut measures = Self::ALL.into_iter();
        measures.find(|measure| measure.name() == name)
    }

    /// All names, separated by commas.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The measure's name in a requirement.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Precision => "precision",
            Self::Recall => "recall",
            Self::F1 => "f1",
        }
    }

    /// The measure's value; `None` when it is undefined.
    pub(super) fn value(self, outcome: &OutcomeMeasures) -> Option<f64> {
        match self {
            Self::Precision => outcome.precision,
            Self::Recall => outcome.recall,
            Self::F1 => outcome.f1,
        }
    }
}

impl RobustnessMeasure {
    const ALL: [Self; 5] = [
        Self::FlipRate,
        Self::FlipRateLow,
        Self::FlipRateHigh,
        Self::Movement,
        Self::LargestMovement,
    ];

    /// The measure with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut measures = Self::ALL.into_iter();
        measures.find(|measure| measure.name() == name)
    }

    /// All names, separated by commas.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The measure's name in a requirement.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FlipRate => "flip_rate",
            Self::FlipRateLow => "flip_rate_low",
            Self::FlipRateHigh => "flip_rate_high",
            Self::Movement => "movement",
            Self::LargestMovement => "largest_movement",
        }
    }

    /// The measure's value; `None` when it is undefined.
    pub(super) fn value(self, measures: &SensitivityMeasures) -> Option<f64> {
        let interval = measures.flip_rate.interval();
        match self {
            Self::FlipRate => measures.flip_rate.value(),
            Self::FlipRateLow => interval.map(|interval| interval.low),
            Self::FlipRateHigh => interval.map(|interval| interval.high),
            Self::Movement => measures.mean_total_variation,
            Self::LargestMovement => measures.largest_total_variation,
        }
    }
}
