//! The shares of a question's outcomes in two windows.

use std::collections::BTreeMap;

use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::prism::question::{Question, QuestionType};

use crate::counting::percent_cutoffs::PercentCutoffs;
use crate::drift::answer_tally::AnswerTally;
use crate::drift::share_change::ShareChange;
use crate::measures::proportion::Proportion;

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
