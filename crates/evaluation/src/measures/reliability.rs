//! Reliability: probabilities against the share of rows in which they came true.

use refract_domain::answer::probability::{ONE, Probability};
use serde::Serialize;

use crate::measures::count::to_f64;
use crate::measures::forecast::Forecast;
use crate::measures::proportion::{Interval, wilson};

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
