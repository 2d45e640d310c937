//! Reliability: how often probabilities come true, in bins of equal count, and in equal steps of
//! probability.

use refract_domain::answer::probability::{ONE, Probability};
use serde::Serialize;

use crate::measures::proportion::{Interval, Proportion, to_f64, wilson};

/// Number of bins of equal count.
const BINS: usize = 15;

/// Rows of neighbouring probabilities, and the share in which the outcome was the marked one.
///
/// For choices and scales the probability is that of the predicted outcome, over the answered rows;
/// for Yes / No that of yes, over all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReliabilityBin {
    /// The lowest probability in the bin.
    pub from: Probability,
    /// The highest probability in the bin.
    pub to: Probability,
    /// Number of rows, at least 1.
    pub count: u64,
    /// Mean of the rows' probabilities.
    pub mean_probability: f64,
    /// Share of rows in which the outcome was the marked one.
    pub share_right: f64,
}

impl ReliabilityBin {
    /// The 95 % interval of the share ([`Proportion::interval`](super::proportion::Proportion)).
    pub fn interval(&self) -> Interval {
        wilson(self.share_right, to_f64(self.count))
    }
}

/// Up to 15 bins of about equal count over the forecasts, sorted by probability.
///
/// Forecasts of one probability stay in one bin, so that no order of rows changes a figure: a bin
/// ends at the first change of probability at or after its share of the rows.
pub(crate) fn bins(mut forecasts: Vec<Forecast>) -> Vec<ReliabilityBin> {
    forecasts.sort_by_key(|forecast| forecast.probability);
    let (size, remainder) = (forecasts.len() / BINS, forecasts.len() % BINS);
    let mut rest = forecasts.as_slice();
    let mut bins = Vec::with_capacity(BINS);
    for number in 1..=BINS {
        let share = number * size + number.min(remainder);
        let taken = forecasts.len() - rest.len();
        let (of_bin, after) = part_at_change(rest, share.saturating_sub(taken));
        bins.extend(bin(of_bin));
        rest = after;
    }
    bins
}

/// Splits sorted forecasts at the first change of probability at or after `least` of them.
fn part_at_change(forecasts: &[Forecast], least: usize) -> (&[Forecast], &[Forecast]) {
    let (within, after) = forecasts
        .split_at_checked(least)
        .unwrap_or((forecasts, &[]));
    let Some(end) = within.last() else {
        return (within, after);
    };
    let alike = after.partition_point(|next| next.probability == end.probability);
    forecasts
        .split_at_checked(least + alike)
        .unwrap_or((forecasts, &[]))
}

/// The bin of forecasts sorted by probability; `None` for no forecasts.
fn bin(forecasts: &[Forecast]) -> Option<ReliabilityBin> {
    let (first, last) = (forecasts.first()?, forecasts.last()?);
    let mut count = 0;
    let mut came_true = 0;
    for forecast in forecasts {
        count += 1;
        came_true += u64::from(forecast.came_true);
    }
    let millionths: u64 = forecasts.iter().map(|forecast| forecast.probability).sum();
    Some(ReliabilityBin {
        from: first.probability,
        to: last.probability,
        count,
        mean_probability: to_f64(millionths) / f64::from(ONE) / to_f64(count),
        share_right: to_f64(came_true) / to_f64(count),
    })
}

/// Expected calibration error: the mean of the bins' absolute differences of mean probability and
/// share, weighted by count. `None` without bins.
///
/// Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities
/// using Bayesian binning", AAAI 2015; bins of equal count are those of K. Nguyen, B. O'Connor,
/// EMNLP 2015.
pub(crate) fn expected_calibration_error(bins: &[ReliabilityBin]) -> Option<f64> {
    let mut rows = 0;
    let mut sum = 0.0;
    for bin in bins {
        rows += bin.count;
        sum += to_f64(bin.count) * (bin.mean_probability - bin.share_right).abs();
    }
    (rows > 0).then(|| sum / to_f64(rows))
}

/// A model's probability of an outcome, and whether that outcome was marked. Where rows are ordered
/// by confidence, the confidence that follows from the probability is in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The model's probability, or the confidence.
    pub(crate) probability: Probability,
    /// Whether the outcome is the marked one.
    pub(crate) came_true: bool,
}

/// Percent of probability in a bar.
pub const STEP: u32 = 5;
/// Number of bars.
const BARS: u32 = 100 / STEP;

/// The rows whose probability is in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistogramBar {
    /// The lowest percent of the step.
    pub from: u32,
    /// The rows, and those of them that came true.
    pub came_true: Proportion,
}

/// A bar for each step from 0 to 100 percent; the last one includes 100.
pub(crate) fn bars(forecasts: Vec<Forecast>) -> Vec<HistogramBar> {
    let bar = |number| HistogramBar {
        from: number * STEP,
        came_true: Proportion::default(),
    };
    let mut bars: Vec<_> = (0..BARS).map(bar).collect();
    for forecast in forecasts {
        let number = forecast.probability.millionths() / (ONE / BARS);
        let place = usize::try_from(number.min(BARS - 1));
        if let Some(bar) = place.ok().and_then(|place| bars.get_mut(place)) {
            bar.came_true.add(forecast.came_true);
        }
    }
    bars
}
