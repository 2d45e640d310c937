//! How many rows have which probability, and how many of these came true.

use refract_domain::answer::probability::ONE;

use crate::measures::forecast::Forecast;
use crate::measures::proportion::Proportion;

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
