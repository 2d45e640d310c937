//! The drift of one question's answers: the shares of its outcomes in two windows, and the
//! differences between them; and the distribution of its probabilities: how far apart both are, and
//! how far chance alone moves windows of this size apart.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;

use refract_domain::key::OutcomeKey;
use refract_domain::lens::{Cutoffs, YesNoLabel};
use refract_domain::prism::{Question, QuestionType};

use crate::counting::PercentCutoffs;
use crate::drift::answer_groups::{AnswerGroup, groupings};
use crate::drift::chance::{chi_squared_quantile, chi_squared_tail, exact_p};
use crate::drift::result_tally::AnswerTally;
use crate::measures::{Interval, Proportion, to_f64};

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
    /// The distribution of probabilities; `None` if a window has too few answers.
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

/// Added to each group of each window for the population stability index, which an empty group would
/// make infinite.
const SMOOTHING: f64 = 0.5;
/// The probability with which chance alone exceeds what is reported as its share.
const BEYOND_CHANCE: f64 = 0.05;

/// How far apart the probabilities of two windows are.
///
/// Probabilities are grouped by tenths, those of choices and scales within each outcome. Groups that
/// are too small to be compared are pooled with their neighbours; of the ways to do so, the figures
/// are those of the one that sets the windows further apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbabilityDrift {
    /// The population stability index: the sum over groups of the difference of shares times the
    /// difference of their logarithms, 0 for equal windows. Below 0.1 is commonly called stable,
    /// above 0.25 a shift.
    pub psi: f64,
    /// The Jensen–Shannon distance, 0 for equal windows to 1 for windows without a common group:
    /// the square root of the divergence to base 2.
    pub js: f64,
    /// The index that chance alone exceeds in one of 20 comparisons of windows of this size.
    pub psi_by_chance: f64,
    /// The distance that chance alone exceeds in one of 20 comparisons of windows of this size.
    pub js_by_chance: f64,
    /// The p-value of Pearson's chi-squared test of homogeneity, or of Fisher's exact test of two
    /// groups of which one is small: how often chance alone moves windows of this size so far apart.
    pub p: f64,
}

impl ProbabilityDrift {
    /// Compares two windows; `None` if one has too few answers. `is_percent` tells that the
    /// question is a Yes / No.
    pub(crate) fn between(
        now: &AnswerTally,
        before: &AnswerTally,
        is_percent: bool,
    ) -> Option<Self> {
        let of = AnswerGroup {
            now: now.answers(),
            before: before.answers(),
        };
        if of.now == 0 || of.before == 0 {
            return None;
        }
        let groupings = groupings(now, before, is_percent);
        let ways = to_f64(u64::try_from(groupings.len()).unwrap_or(u64::MAX));
        let drifts = groupings.iter().map(|groups| Self::of(groups, of, ways));
        drifts.max_by(|one, other| one.psi.total_cmp(&other.psi))
    }

    /// Compares windows of `of` answers by their groups, one of so many `ways` to group them, whose
    /// chances are added up (Bonferroni).
    ///
    /// Sources: J. Lin, "Divergence measures based on the Shannon entropy", IEEE Transactions on
    /// Information Theory 37 (1991); B. Yurdakul, "Statistical properties of population stability
    /// index" (2018), for the index without a difference: it is chi-squared with a degree of freedom
    /// fewer than groups, times `1/now + 1/before`.
    fn of(groups: &[AnswerGroup], of: AnswerGroup, ways: f64) -> Self {
        let (of_now, of_before) = (to_f64(of.now), to_f64(of.before));
        let degrees = u64::try_from(groups.len()).unwrap_or(u64::MAX) - 1;
        let all = of_now + of_before;
        let smoothed = SMOOTHING * to_f64(degrees + 1);
        let (mut psi, mut divergence, mut chi_squared) = (0.0, 0.0, 0.0);
        for group in groups {
            let (now, before) = (to_f64(group.now), to_f64(group.before));
            let (p, q) = (
                (now + SMOOTHING) / (of_now + smoothed),
                (before + SMOOTHING) / (of_before + smoothed),
            );
            psi += (p - q) * (p / q).ln();
            let (p, q) = (now / of_now, before / of_before);
            divergence += f64::midpoint(information(p, q), information(q, p));
            let expected = of_now * (now + before) / all;
            chi_squared += (now - expected).powi(2) / expected * all / of_before;
        }
        let p = match groups.iter().find(|group| !group.is_large(of)) {
            Some(small) if degrees > 0 => {
                let share = |count, of| Proportion { count, of };
                exact_p(share(small.now, of.now), share(small.before, of.before))
            }
            _ => chi_squared_tail(chi_squared, degrees),
        };
        let by_chance =
            chi_squared_quantile(BEYOND_CHANCE / ways, degrees) * (1.0 / of_now + 1.0 / of_before);
        Self {
            psi,
            js: (divergence / LN_2).clamp(0.0, 1.0).sqrt(),
            psi_by_chance: by_chance,
            js_by_chance: (by_chance / (8.0 * LN_2)).min(1.0).sqrt(),
            p: (p * ways).min(1.0),
        }
    }
}

/// A term of the divergence of `p` from the middle of both.
fn information(p: f64, q: f64) -> f64 {
    if p > 0.0 {
        p * (2.0 * p / (p + q)).ln()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests;
