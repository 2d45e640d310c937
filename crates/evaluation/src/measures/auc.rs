//! The area under the ROC curve: whether probabilities rank rows, wherever cutoffs lie.

use indexmap::IndexMap;
use refract_domain::answer::probability::Probability;
use refract_domain::key::OutcomeKey;

use crate::measures::count::to_f64;
use crate::measures::forecast::Forecast;

/// The probability of each outcome in each row: 4 bytes each.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutcomeColumns {
    rows: usize,
    /// By outcome, also those that nobody predicted or marked yet. A column ends at the last row
    /// that lists the outcome.
    columns: IndexMap<OutcomeKey, Vec<Probability>>,
}

impl OutcomeColumns {
    /// Adds the distribution of a row.
    pub(crate) fn add(&mut self, probabilities: &[(OutcomeKey, Probability)]) {
        for (place, (key, probability)) in probabilities.iter().enumerate() {
            // most rows list their outcomes as the first one does: that saves a hash of each key
            let in_place = self.columns.get_index(place);
            let is_in_place = in_place.is_some_and(|(known, _)| known == key);
            let index = if is_in_place {
                place
            } else if let Some(index) = self.columns.get_index_of(key) {
                index
            } else {
                self.columns.insert_full(key.clone(), Vec::new()).0
            };
            if let Some((_, column)) = self.columns.get_index_mut(index) {
                column.resize(self.rows, Probability::ZERO);
                column.push(*probability);
            }
        }
        self.rows += 1;
    }

    /// The area for one outcome against all others; `is_marked` has a value for each row. `None`
    /// when all rows are marked with the outcome, or none is.
    pub(crate) fn area(
        &self,
        outcome: &OutcomeKey,
        is_marked: impl Iterator<Item = bool>,
    ) -> Option<f64> {
        let column = self.columns.get(outcome).map_or(&[][..], Vec::as_slice);
        let column = column.iter().copied();
        let forecast = |(probability, came_true)| Forecast {
            probability,
            came_true,
        };
        let column = column.chain(std::iter::repeat(Probability::ZERO));
        area(column.zip(is_marked).map(forecast).collect())
    }
}

/// The share of pairs of a forecast that came true and one that did not in which the first is the
/// higher one; equal ones count half (mid-ranks). `None` without such pairs.
///
/// Source: J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating
/// characteristic (ROC) curve", Radiology 143 (1982).
pub(crate) fn area(mut forecasts: Vec<Forecast>) -> Option<f64> {
    forecasts.sort_unstable_by_key(|forecast| forecast.probability);
    let (mut all_true, mut all_false, mut half_pairs) = (0_u64, 0_u64, 0_u64);
    for tied in forecasts.chunk_by(|a, b| a.probability == b.probability) {
        let (mut came_true, mut others) = (0, 0);
        for forecast in tied {
            came_true += u64::from(forecast.came_true);
            others += u64::from(!forecast.came_true);
        }
        half_pairs += came_true * (2 * all_false + others);
        all_true += came_true;
        all_false += others;
    }
    let pairs = all_true * all_false;
    (pairs > 0).then(|| to_f64(half_pairs) / (2.0 * to_f64(pairs)))
}
