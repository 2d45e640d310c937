//! Measures over level numbers: the distance of a scale's answers from the marks.

use refract_domain::limits;
use serde::Serialize;

use crate::measures::proportion::{ratio, to_f64};

/// The most levels of a scale.
const LEVELS: usize = *limits::LEVELS.end();

/// The distance between the answered and the marked levels of a scale, over the answered rows.
///
/// A level's number is its position in the version that answered, so the distance between two
/// levels is a number of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScaleMeasures {
    /// Mean number of levels between answer and mark; `None` without answered rows.
    pub mean_absolute_error: Option<f64>,
    /// Share of rows whose answer is at most one level from the marked one; `None` without answered
    /// rows.
    pub within_one: Option<f64>,
    /// Cohen's kappa with quadratic weights: 1 is full agreement, 0 is agreement by chance. `None`
    /// when all answers and marks are the same level.
    ///
    /// Source: J. Cohen, "Weighted kappa", Psychological Bulletin 70 (1968).
    pub quadratic_kappa: Option<f64>,
}

/// Counts of rows by the positions of their marked and their predicted level.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelTable([[u64; LEVELS]; LEVELS]);

impl LevelTable {
    /// Counts a row by the positions of its levels, which begin at 0.
    pub(crate) fn add(&mut self, marked: usize, predicted: usize) {
        let cell = self
            .0
            .get_mut(marked)
            .and_then(|row| row.get_mut(predicted));
        if let Some(count) = cell {
            *count += 1;
        }
    }

    /// The measures over the counted rows.
    pub(crate) fn measures(&self) -> ScaleMeasures {
        let (mut rows, mut distances, mut near, mut squares) = (0, 0, 0, 0);
        let mut marked = [0_u64; LEVELS];
        let mut predicted = [0_u64; LEVELS];
        for (of_mark, (row, marked)) in (0_u64..).zip(self.0.iter().zip(&mut marked)) {
            for (of_prediction, (count, predicted)) in (0_u64..).zip(row.iter().zip(&mut predicted))
            {
                let distance = of_mark.abs_diff(of_prediction);
                rows += count;
                distances += count * distance;
                near += if distance <= 1 { *count } else { 0 };
                squares += count * distance * distance;
                *marked += count;
                *predicted += count;
            }
        }
        ScaleMeasures {
            mean_absolute_error: ratio(distances, rows),
            within_one: ratio(near, rows),
            quadratic_kappa: quadratic_kappa(squares, rows, &marked, &predicted),
        }
    }
}

/// One minus the ratio of the observed squared distances to those expected by chance: answers and
/// marks with the same counts of levels, but drawn independently.
fn quadratic_kappa(
    squares: u64,
    rows: u64,
    marked: &[u64; LEVELS],
    predicted: &[u64; LEVELS],
) -> Option<f64> {
    let mut by_chance: u128 = 0;
    for (of_mark, marked) in (0_u64..).zip(marked) {
        for (of_prediction, predicted) in (0_u64..).zip(predicted) {
            let distance = of_mark.abs_diff(of_prediction);
            by_chance += u128::from(*marked) * u128::from(*predicted * distance * distance);
        }
    }
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "the nearest double of the sum is meant"
    )]
    let by_chance = by_chance as f64;
    (by_chance > 0.0).then(|| 1.0 - to_f64(squares) * to_f64(rows) / by_chance)
}
