//! The quality of a Yes / No question's cutoffs at every whole percent, over its marked answers.

use crate::counting::percent_cutoffs::PercentCutoffs;
use crate::cutoffs::choice::ChosenPercents;
use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::cutoffs::trial::CutoffMeasures;

/// Counts of the marked answers to a Yes / No question by whole percent, which give the exact
/// quality of all cutoffs at whole percents without reading an answer again.
#[derive(Clone, Debug)]
pub struct PercentMeasures {
    counts: PercentCounts,
}

impl PercentMeasures {
    pub(crate) fn of(folds: &Folds) -> Self {
        Self {
            counts: folds.all(),
        }
    }

    /// The quality of these cutoffs.
    pub fn at(&self, cutoffs: PercentCutoffs) -> CutoffMeasures {
        let chosen = ChosenPercents {
            no_below: Some(cutoffs.no_below().into()),
            yes_from: Some(cutoffs.yes_from().into()),
        };
        CutoffMeasures::of(&self.counts, chosen)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use refract_domain::answer::probability::{ONE, Probability};
    use refract_domain::lens::cutoffs::YesNoLabel;

    use super::*;
    use crate::measures::forecast::Forecast;
    use crate::measures::proportion::Proportion;

    proptest! {
        #[test]
        fn measures_at_a_percent_are_those_of_labelling_each_answer(
            rows in prop::collection::vec((0..=ONE, any::<bool>()), 0..60),
            no_below in 1_u8..100,
            band in 0_u8..100,
        ) {
            let cutoffs = PercentCutoffs::new(no_below, no_below.saturating_add(band).min(100));
            let cutoffs = cutoffs.unwrap();
            let forecasts = rows.iter().map(|(millionths, came_true)| Forecast {
                probability: Probability::from_millionths(*millionths).unwrap(),
                came_true: *came_true,
            });
            let forecasts: Vec<_> = forecasts.collect();
            let [mut precision, mut recall, mut no_precision] = [Proportion::default(); 3];
            for forecast in &forecasts {
                let label = cutoffs.cutoffs().label(forecast.probability);
                match label {
                    YesNoLabel::Yes => precision.add(forecast.came_true),
                    YesNoLabel::No => no_precision.add(!forecast.came_true),
                    YesNoLabel::Unsure => {}
                }
                if forecast.came_true {
                    recall.add(label == YesNoLabel::Yes);
                }
            }
            let folds = Folds::new(forecasts.into_iter().map(Some));
            let measures = PercentMeasures::of(&folds).at(cutoffs);
            prop_assert_eq!(
                (measures.precision, measures.recall, measures.no_precision),
                (precision, recall, no_precision)
            );
            prop_assert_eq!(measures.coverage.count, precision.of + no_precision.of);
        }
    }
}
