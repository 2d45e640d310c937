//! The drift of one question's answers: the shares of its outcomes in two windows, and the differences
//! between them.

use std::collections::BTreeMap;

use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::prism::question::{Question, QuestionType};

use crate::counting::percent_histogram::PercentCutoffs;
use crate::drift::answer_tally::AnswerTally;
use crate::drift::exact_test::exact_p;
use crate::drift::probability_drift::ProbabilityDrift;
use crate::measures::proportion::{Interval, Proportion};

/// The answers to one question in a window, compared with those in another window.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionDrift {
    /// Number of answers in the window.
    pub now: u64,
    /// Number of answers in the window that it is compared with.
    pub before: u64,
    /// The share of each outcome, in the question's order. Choices of an unknown option count in no
    /// share, but among the answers.
    pub shares: Vec<OutcomeShare>,
    /// The distribution of probabilities; `None` if a window has no answers.
    pub probabilities: Option<ProbabilityDrift>,
}

impl QuestionDrift {
    /// Compares the answers of two windows. The cutoffs label the answers to a Yes / No in both.
    pub fn between(
        question: &Question,
        cutoffs: Cutoffs,
        now: &AnswerTally,
        before: &AnswerTally,
    ) -> Self {
        let is_percent = question.question_type() == QuestionType::YesNo;
        Self {
            now: now.answers(),
            before: before.answers(),
            shares: outcome_shares(question, cutoffs, now, before),
            probabilities: ProbabilityDrift::between(now, before, is_percent),
        }
    }

    /// Whether both windows have answers.
    pub fn is_comparable(&self) -> bool {
        self.now > 0 && self.before > 0
    }
}

/// An outcome's share of the answers in two windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeShare {
    /// The outcome: an option, a level, `yes`, `no`, or `unsure` between the cutoffs.
    pub outcome: OutcomeKey,
    /// The share in both windows.
    pub change: ShareChange,
}

/// The shares of all outcomes of a question, in its order: those of a Yes / No as its cutoffs label
/// them, `unsure` only if there is a band of it. Cutoffs between two percents count as the nearest
/// percent.
pub(crate) fn outcome_shares(
    question: &Question,
    cutoffs: Cutoffs,
    now: &AnswerTally,
    before: &AnswerTally,
) -> Vec<OutcomeShare> {
    let (of_now, of_before) = (now.answers(), before.answers());
    let share = |(outcome, count, count_before)| OutcomeShare {
        outcome,
        change: ShareChange {
            now: Proportion { count, of: of_now },
            before: Proportion {
                count: count_before,
                of: of_before,
            },
        },
    };
    let counts = match question.question_type() {
        QuestionType::YesNo => label_counts(PercentCutoffs::nearest(cutoffs), now, before),
        QuestionType::Choice | QuestionType::Scale => {
            let (now, before) = (now.by_outcome(), before.by_outcome());
            let count = |counts: &BTreeMap<Option<&OutcomeKey>, u64>, key: &OutcomeKey| {
                counts.get(&Some(key)).copied().unwrap_or_default()
            };
            let outcomes = question.outcomes();
            let keys = outcomes.filter_map(|outcome| OutcomeKey::parse(outcome.key).ok());
            keys.map(|key| (key.clone(), count(&now, &key), count(&before, &key)))
                .collect()
        }
    };
    counts.into_iter().map(share).collect()
}

fn label_counts(
    cutoffs: PercentCutoffs,
    now: &AnswerTally,
    before: &AnswerTally,
) -> Vec<(OutcomeKey, u64, u64)> {
    let (now, before) = (
        now.percents().labels(cutoffs),
        before.percents().labels(cutoffs),
    );
    let labels = [
        (YesNoLabel::Yes, now.yes, before.yes),
        (YesNoLabel::Unsure, now.unsure, before.unsure),
        (YesNoLabel::No, now.no, before.no),
    ];
    let has_unsure = cutoffs.yes_from() > cutoffs.no_below();
    labels
        .into_iter()
        .filter(|(label, _, _)| has_unsure || *label != YesNoLabel::Unsure)
        .filter_map(|(label, now, before)| {
            Some((OutcomeKey::parse(label.key()).ok()?, now, before))
        })
        .collect()
}

/// A share of results in a window and in the window that it is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareChange {
    /// The share in the window.
    pub now: Proportion,
    /// The share in the window that it is compared with.
    pub before: Proportion,
}

impl ShareChange {
    /// The share now minus the one before, -1 to 1; `None` if a window has no results.
    pub fn difference(self) -> Option<f64> {
        Some(self.now.value()? - self.before.value()?)
    }

    /// The 95 % interval of the difference: Newcombe's, from Wilson's intervals of both shares;
    /// `None` if a window has no results.
    ///
    /// Source: R. G. Newcombe, "Interval estimation for the difference between independent
    /// proportions", Statistics in Medicine 17 (1998), method 10.
    pub fn interval(self) -> Option<Interval> {
        let (now, before) = (self.now.value()?, self.before.value()?);
        let (of_now, of_before) = (self.now.interval()?, self.before.interval()?);
        let difference = now - before;
        Some(Interval {
            low: difference - (now - of_now.low).hypot(of_before.high - before),
            high: difference + (of_now.high - now).hypot(before - of_before.low),
        })
    }

    /// The two-sided p-value of Fisher's exact test: how often chance alone makes such a
    /// difference; 1 if a window has no results.
    pub fn p(self) -> f64 {
        exact_p(self.now, self.before)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_interval_is_that_of_the_paper() {
        // Newcombe 1998, table II, case a, method 10: 56/70 against 48/80
        let change = ShareChange {
            now: Proportion { count: 56, of: 70 },
            before: Proportion { count: 48, of: 80 },
        };
        let Interval { low, high } = change.interval().unwrap();
        assert_eq!(
            format!("{:.4} {low:.4} {high:.4}", change.difference().unwrap()),
            "0.2000 0.0524 0.3339"
        );
        assert_eq!(ShareChange::default().interval(), None);
    }

    proptest! {
        #[test]
        fn the_difference_is_inside_its_interval(
            now in 1_u64..500, before in 1_u64..500, count in 0_u64..500, count_before in 0_u64..500,
        ) {
            let change = ShareChange {
                now: Proportion { count: count.min(now), of: now },
                before: Proportion { count: count_before.min(before), of: before },
            };
            let (difference, interval) = (change.difference().unwrap(), change.interval().unwrap());
            prop_assert!(interval.low <= difference && difference <= interval.high);
            prop_assert!(interval.low >= -1.0 - 1e-12 && interval.high <= 1.0 + 1e-12);
        }
    }
}
