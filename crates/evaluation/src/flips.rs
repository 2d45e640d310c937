//! How many answers flip when texts are asked again, towards what, and whether the new answers are
//! better.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use refract_domain::answer::Answer;
use refract_domain::answer::probability::Probability;
use refract_domain::key::OutcomeKey;
use serde::Serialize;

use crate::comparison::{Comparison, PairedAnswers};
use crate::counting::review_order::confidence_of;
use crate::measures::proportion::Proportion;

/// Compares two answers to each text, one before and one after a change: of the model, of the
/// version or of the wording. A flip is a pair that predicts two different outcomes.
#[derive(Clone, Debug, Default)]
pub struct FlipCounts {
    flips: Proportion,
    directions: BTreeMap<FlipEnds, u64>,
    marked: PairedAnswers,
}

/// How many answers flip, and towards what.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlipMeasures {
    /// The pairs that predict two different outcomes.
    pub flip_rate: Proportion,
    /// The flips by their two outcomes, the most frequent first.
    pub towards: Vec<FlipDirection>,
    /// Which of the two answers is right on the marked texts for which both predict an outcome;
    /// `None` without such texts.
    pub marked: Option<Comparison>,
}

/// The flips from one outcome to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlipDirection {
    /// The outcome before; `None` if nothing was predicted: no valid choice, or unsure.
    pub from: Option<OutcomeKey>,
    /// The outcome after.
    pub to: Option<OutcomeKey>,
    /// Number of flips.
    pub count: u64,
}

/// The outcomes before and after.
type FlipEnds = (Option<OutcomeKey>, Option<OutcomeKey>);

impl FlipCounts {
    /// Adds what the two answers to a text predict, with the correct outcome if the text is marked.
    pub fn add(
        &mut self,
        before: Option<&OutcomeKey>,
        after: Option<&OutcomeKey>,
        mark: Option<&OutcomeKey>,
    ) {
        let flips = before != after;
        self.flips.add(flips);
        if flips {
            let ends = (before.cloned(), after.cloned());
            *self.directions.entry(ends).or_default() += 1;
        }
        if let (Some(before), Some(after), Some(mark)) = (before, after, mark) {
            self.marked.add(before == mark, after == mark);
        }
    }

    /// The measures over all pairs.
    pub fn measures(&self) -> FlipMeasures {
        let directions = self.directions.iter();
        let directions = directions.map(|((from, to), count)| FlipDirection {
            from: from.clone(),
            to: to.clone(),
            count: *count,
        });
        let mut towards: Vec<_> = directions.collect();
        // a stable sort: equal counts stay in the order of their outcomes
        towards.sort_by_key(|direction| Reverse(direction.count));
        let marked = self.marked.compare();
        FlipMeasures {
            flip_rate: self.flips,
            towards,
            marked: (marked.rows > 0).then_some(marked),
        }
    }
}

impl FlipMeasures {
    /// McNemar's two-sided p-value; `None` without marked texts.
    pub fn mcnemar_p(&self) -> Option<f64> {
        self.marked.map(|marked| marked.mcnemar_p)
    }
}

/// How sure a flip is: the lower [confidence](confidence_of) of its two answers. A flip between two
/// sure answers comes from what was changed, a flip between unsure ones may be noise.
pub fn sureness(before: &Answer, after: &Answer) -> Probability {
    confidence_of(before).min(confidence_of(after))
}
