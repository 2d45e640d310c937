//! Rules that hold for all sets of answers, and a second, plain computation of the sums.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use refract_domain::answer::Answer;
use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::lens::Cutoffs;
use refract_evaluation::comparison::PairedAnswers;
use refract_evaluation::cutoffs::{CertifiedGoal, CutoffGoal};
use refract_evaluation::flips::AnswerSensitivity;
use refract_evaluation::marked::MarkedAnswers;

use crate::material::{choice_question, is_close, key, marked, marked_with, yes_no_question};

const OUTCOMES: [&str; 4] = ["a", "b", "other", "insufficient_information"];
/// The outcomes of `OUTCOMES` under other names.
const RENAMED: [&str; 4] = ["b", "a", "insufficient_information", "other"];

/// One answer to a choice: weights of the outcomes, the index of the answer (4 for none) and of the
/// mark.
type Drawn = ([u32; 4], usize, usize);

fn a_row() -> impl Strategy<Value = Drawn> {
    ([0..=20_u32, 0..=20, 0..=20, 1..=20], 0..5_usize, 0..4_usize)
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    vec(a_row(), 0..60)
}

/// Millionths that are proportional to the weights and sum to 1.
fn shares(weights: [u32; 4]) -> [u32; 4] {
    let sum: u32 = weights.iter().sum();
    let mut shares = weights.map(|weight| ONE / sum * weight);
    shares[3] += ONE - shares.iter().sum::<u32>();
    shares
}

fn answer(outcomes: [&str; 4], (weights, named, _): Drawn) -> Answer {
    let probability = |millionths| Probability::from_millionths(millionths).unwrap();
    let shares = outcomes.iter().zip(shares(weights));
    Answer::Choice {
        value: outcomes.get(named).copied().map(key),
        probabilities: shares
            .map(|(name, share)| (key(name), probability(share)))
            .collect(),
        confidence: Probability::ZERO,
    }
}

fn measured(names: [&str; 4], rows: &[Drawn]) -> MarkedAnswers {
    let row = |row: &Drawn| (answer(names, *row), names[row.2]);
    let rows: Vec<_> = rows.iter().map(row).collect();
    marked(&choice_question(&["a", "b"]), &rows)
}

/// Probabilities of yes in millionths, and whether yes is marked; some probabilities are frequent.
fn yes_no_rows() -> impl Strategy<Value = Vec<(u32, bool)>> {
    let probability = prop_oneof![0..=ONE, (0..=20_u32).prop_map(|step| step * (ONE / 20))];
    vec((probability, any::<bool>()), 0..80)
}

fn yes_no_answers(rows: &[(u32, bool)]) -> MarkedAnswers {
    yes_no_answers_with(Cutoffs::default(), rows)
}

fn yes_no_answers_with(cutoffs: Cutoffs, rows: &[(u32, bool)]) -> MarkedAnswers {
    let row = |&(millionths, is_yes): &(u32, bool)| {
        let probability = Probability::from_millionths(millionths).unwrap();
        let mark = if is_yes { "yes" } else { "no" };
        (Answer::YesNo { probability }, mark)
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    marked_with(&yes_no_question(), cutoffs, &rows)
}

/// Rows as models that round give them: most probabilities are frequent, with gaps between them.
fn rounded_rows() -> impl Strategy<Value = Vec<(u32, bool)>> {
    let rounded = prop_oneof![0..=ONE, (0..=100_u32).prop_map(|step| step * (ONE / 100))];
    vec(rounded, 1..8).prop_flat_map(|probabilities| {
        vec((prop::sample::select(probabilities), any::<bool>()), 0..80)
    })
}

/// Of the rows that a cutoff selects, how many are marked so.
fn found(
    rows: &[(u32, bool)],
    is_selected: impl Fn(&(u32, bool)) -> bool,
    marked: bool,
) -> (usize, usize) {
    let selected: Vec<_> = rows.iter().filter(|row| is_selected(row)).collect();
    let right = selected.iter().filter(|row| row.1 == marked).count();
    (right, selected.len())
}

/// Whether one cutoff has at least the precision and the recall of another, one of them greater.
fn is_better(one: (usize, usize), other: (usize, usize)) -> bool {
    let (precise, less) = (one.0 * other.1, other.0 * one.1);
    one.1 > 0
        && other.1 > 0
        && one.0 >= other.0
        && precise >= less
        && (one.0 > other.0 || precise > less)
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).unwrap();
    (count > 0).then(|| values.iter().sum::<f64>() / f64::from(count))
}

fn are_close(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_close(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

proptest! {
    #[test]
    fn sums_over_rows_are_those_of_a_plain_loop(rows in drawn()) {
        let measures = measured(OUTCOMES, &rows).measures();
        let mut right = Vec::new();
        let mut brier = Vec::new();
        let mut log_loss = Vec::new();
        for &(weights, named, mark) in &rows {
            let shares = shares(weights).map(|share| f64::from(share) / f64::from(ONE));
            if named < 4 {
                right.push(f64::from(u8::from(named == mark)));
            }
            let differences = shares.iter().enumerate().map(|(place, share)| {
                share - f64::from(u8::from(place == mark))
            });
            brier.push(differences.map(|difference| difference * difference).sum());
            log_loss.push(-shares[mark].max(1e-6).ln());
        }
        prop_assert!(are_close(measures.accuracy.value(), mean(&right)));
        prop_assert!(are_close(measures.brier, mean(&brier)));
        prop_assert!(are_close(measures.log_loss, mean(&log_loss)));
        prop_assert_eq!(usize::try_from(measures.marks).unwrap(), rows.len());
        let cells: u64 = measures.confusion.iter().map(|cell| cell.count).sum();
        prop_assert_eq!(cells, measures.answered);
    }

    #[test]
    fn other_names_of_the_outcomes_change_no_measure(rows in drawn()) {
        let (one, other) = (measured(OUTCOMES, &rows), measured(RENAMED, &rows));
        let (one_advice, other_advice) = (one.coverage_for(0.7), other.coverage_for(0.7));
        let (one, other) = (one.measures(), other.measures());
        prop_assert_eq!(one.accuracy, other.accuracy);
        prop_assert_eq!((one.brier, one.log_loss, one.ece), (other.brier, other.log_loss, other.ece));
        prop_assert!(are_close(one.macro_average.f1, other.macro_average.f1));
        prop_assert!(are_close(one.macro_average.recall, other.macro_average.recall));
        prop_assert!(are_close(one.auc, other.auc));
        prop_assert_eq!(one.coverage, other.coverage);
        prop_assert_eq!(one_advice, other_advice);
    }

    #[test]
    fn the_area_under_the_roc_curve_is_the_share_of_ordered_pairs(rows in drawn()) {
        let measures = measured(OUTCOMES, &rows).measures();
        let mut areas = Vec::new();
        for outcome in 0..4 {
            let (marked, others): (Vec<Drawn>, Vec<Drawn>) =
                rows.iter().copied().partition(|row| row.2 == outcome);
            let mut ordered = Vec::new();
            for marked in &marked {
                for other in &others {
                    let (marked, other) = (shares(marked.0)[outcome], shares(other.0)[outcome]);
                    let tied = f64::from(u8::from(marked == other));
                    ordered.push(f64::from(u8::from(marked > other)) + tied / 2.0);
                }
            }
            areas.extend(mean(&ordered));
        }
        prop_assert!(are_close(measures.auc, mean(&areas)));
        let marked = (0..4).map(|outcome| rows.iter().filter(move |row| row.1 < 4 && row.2 == outcome));
        let most = marked.map(Iterator::count).max();
        prop_assert_eq!(usize::try_from(measures.majority.count).ok(), most);
        prop_assert_eq!(measures.majority.of, measures.answered);
    }

    #[test]
    fn the_area_of_a_yes_no_depends_on_the_order_of_its_rows_alone(rows in yes_no_rows()) {
        let even: Vec<_> = rows.iter().map(|(it, is_yes)| (it / 2 * 2, *is_yes)).collect();
        let halved: Vec<_> = even.iter().map(|(it, is_yes)| (it / 2, *is_yes)).collect();
        let area = |rows: &[(u32, bool)]| yes_no_answers(rows).measures().auc;
        prop_assert_eq!(area(&even), area(&halved));
        let other_way: Vec<_> = even.iter().map(|(it, is_yes)| (ONE - it, *is_yes)).collect();
        let sum = area(&even).zip(area(&other_way)).map(|(one, other)| one + other);
        prop_assert!(sum.is_none_or(|sum| is_close(sum, 1.0)));
    }

    #[test]
    fn bins_share_all_rows_and_part_no_probability(rows in yes_no_rows()) {
        let measures = yes_no_answers(&rows).measures();
        let bins = &measures.reliability;
        let counts: Vec<u64> = bins.iter().map(|bin| bin.count).collect();
        prop_assert_eq!(counts.iter().sum::<u64>(), measures.marks);
        let probabilities: BTreeSet<u32> = rows.iter().map(|row| row.0).collect();
        prop_assert!(bins.len() <= probabilities.len().min(15));
        if probabilities.len() == rows.len() {
            prop_assert_eq!(bins.len(), rows.len().min(15));
            prop_assert!(counts.is_sorted_by(|a, b| a >= b));
            prop_assert!(counts.first().unwrap_or(&0) - counts.last().unwrap_or(&0) <= 1);
        }
        prop_assert!(bins.is_sorted_by(|a, b| a.to < b.from));
        for bin in bins {
            let mean = bin.mean_probability;
            let rounding = 1e-12;
            prop_assert!(bin.from.to_f64() <= mean + rounding && mean <= bin.to.to_f64() + rounding);
        }
        prop_assert!(measures.ece.is_none_or(|ece| (0.0..=1.0).contains(&ece)));
    }

    #[test]
    fn coverage_falls_with_confidence_from_all_that_is_answered(rows in drawn()) {
        let measures = measured(OUTCOMES, &rows).measures();
        let points = &measures.coverage.points;
        prop_assert!(points.is_sorted_by(|a, b| a.confidence < b.confidence));
        prop_assert!(points.is_sorted_by(|a, b| a.coverage > b.coverage));
        let all = points.first().map(|point| (point.confidence, point.coverage, point.accuracy));
        let answered = mean(&rows.iter().map(|row| f64::from(u8::from(row.1 < 4))).collect::<Vec<_>>());
        let accuracy = measures.accuracy.value();
        prop_assert_eq!(all, accuracy.map(|accuracy| (0.0, answered.unwrap(), accuracy)));
        prop_assert!(measures.coverage.area.is_none_or(|area| (0.0..=1.0).contains(&area)));
    }

    #[test]
    fn where_every_answer_is_right_every_measure_of_rightness_is_1(rows in drawn()) {
        let right = rows.iter().map(|&(weights, _, mark)| (weights, mark, mark));
        let measures = measured(OUTCOMES, &right.collect::<Vec<_>>()).measures();
        let expected = (!rows.is_empty()).then_some(1.0);
        prop_assert_eq!(measures.accuracy.value(), expected);
        prop_assert_eq!(measures.macro_average.precision, expected);
        prop_assert_eq!(measures.macro_average.f1, expected);
        prop_assert_eq!(measures.coverage.area, expected);
    }

    #[test]
    fn an_advised_confidence_holds_on_all_and_on_held_out_rows(
        rows in drawn(), percent in 0..=100_u32,
    ) {
        let wanted = f64::from(percent) / 100.0;
        if let Some(advice) = measured(OUTCOMES, &rows).coverage_for(wanted) {
            prop_assert!(advice.all.accuracy.value() >= Some(wanted));
            prop_assert!(advice.held_out.accuracy.value() >= Some(wanted));
            let marks = u64::try_from(rows.len()).unwrap();
            prop_assert_eq!((advice.all.coverage.of, advice.held_out.coverage.of), (marks, marks));
        }
    }

    #[test]
    fn advised_cutoffs_are_in_order_and_hold_on_held_out_rows(
        rows in yes_no_rows(), percent in 0..=100_u32,
    ) {
        let wanted = f64::from(percent) / 100.0;
        let answers = yes_no_answers(&rows);
        let precision = answers.advise_cutoffs(CutoffGoal::Precision(wanted)).unwrap();
        if let Some(yes_from) = precision.yes_from {
            prop_assert!((0.01..=1.0).contains(&yes_from));
            prop_assert!(precision.no_below.is_none_or(|no_below| no_below <= yes_from));
            prop_assert!(precision.held_out.precision.value() >= Some(wanted));
        }
        if let Some(no_below) = precision.no_below {
            prop_assert!((0.01..=0.99).contains(&no_below));
            prop_assert!(precision.held_out.no_precision.value() >= Some(wanted));
        }
        let recall = answers.advise_cutoffs(CutoffGoal::Recall(wanted)).unwrap();
        prop_assert_eq!(recall.no_below, recall.yes_from);
        if recall.yes_from.is_some() {
            prop_assert!(recall.held_out.recall.value() >= Some(wanted));
        }
    }

    #[test]
    fn two_sets_of_answers_compare_the_same_from_both_sides(
        pairs in vec(any::<(bool, bool)>(), 0..200),
    ) {
        let mut there = PairedAnswers::default();
        let mut back = PairedAnswers::default();
        for (a, b) in pairs {
            there.add(a, b);
            back.add(b, a);
        }
        let (there, back) = (there.compare(), back.compare());
        prop_assert_eq!((there.a, there.b), (back.b, back.a));
        prop_assert_eq!(there.difference.map(|difference| -difference), back.difference);
        prop_assert!(is_close(there.mcnemar_p, back.mcnemar_p));
        prop_assert!((0.0..=1.0).contains(&there.mcnemar_p));
        if let (Some(interval), Some(difference)) = (there.interval, there.difference) {
            prop_assert!(-1.0 <= interval.low && interval.high <= 1.0);
            prop_assert!((interval.low..=interval.high).contains(&difference));
        }
    }

    #[test]
    fn total_variation_is_a_distance_from_0_to_1(one in drawn(), other in drawn()) {
        let mut there = AnswerSensitivity::default();
        let mut back = AnswerSensitivity::default();
        for (one, other) in one.iter().zip(&other) {
            let (one, other) = (answer(OUTCOMES, *one), answer(RENAMED, *other));
            there.add(&one, &other).unwrap();
            back.add(&other, &one).unwrap();
        }
        let there = there.measures();
        prop_assert_eq!(there, back.measures());
        let (mean, largest) = (there.mean_total_variation, there.largest_total_variation);
        prop_assert!(mean <= largest && largest.is_none_or(|largest| largest <= 1.0));
    }
}

// what people act on is tried more often
proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_other_cutoff_is_better_than_an_advised_one(
        rows in rounded_rows(), percent in 0..=100_u32, now in (1..ONE, 0..ONE),
    ) {
        let share = |millionths: u32| f64::from(millionths) / f64::from(ONE);
        let (no_now, yes_now) = (share(now.0), share(now.0.saturating_add(now.1).min(ONE)));
        let wider = (yes_now > no_now).then_some(yes_now);
        let cutoffs = Cutoffs::new(Some(no_now), wider).unwrap();
        let answers = yes_no_answers_with(cutoffs, &rows);
        let percents = || (1..=100).map(|percent| f64::from(percent) / 100.0);
        let yes_at = |cutoff: f64| found(&rows, |row| share(row.0) >= cutoff, true);
        let no_at = |cutoff: f64| found(&rows, |row| share(row.0) < cutoff, false);
        let wanted = f64::from(percent) / 100.0;
        let precision = answers.advise_cutoffs(CutoffGoal::Precision(wanted)).unwrap();
        if let Some(yes_from) = precision.yes_from {
            for other in percents().chain([yes_now]) {
                prop_assert!(!is_better(yes_at(other), yes_at(yes_from)), "yes {yes_from} {other}");
            }
            for gap in precision.yes_gap.into_iter().flat_map(|gap| [gap.0, gap.1]) {
                prop_assert_eq!(yes_at(gap), yes_at(yes_from));
            }
        }
        if let Some(no_below) = precision.no_below {
            let highest = precision.yes_from.unwrap_or(1.0);
            let allowed = percents().chain([no_now]).filter(|other| *other <= highest && *other < 1.0);
            for other in allowed {
                prop_assert!(!is_better(no_at(other), no_at(no_below)), "no {no_below} {other}");
            }
        }
        let recall = answers.advise_cutoffs(CutoffGoal::Recall(wanted)).unwrap();
        if let Some(yes_from) = recall.yes_from {
            for other in percents().filter(|other| *other < 1.0).chain([yes_now]) {
                prop_assert!(!is_better(yes_at(other), yes_at(yes_from)), "recall {yes_from} {other}");
            }
        }
    }

    #[test]
    fn no_order_of_answers_changes_a_measure(
        (rows, shuffled) in vec(a_row(), 0..30).prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        (yes_no, other) in rounded_rows()
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let promise = CertifiedGoal::new(0.2, 0.9).unwrap();
        let exact = |answers: MarkedAnswers| {
            let advised = answers.advise_cutoffs(CutoffGoal::Precision(0.7));
            let automatic = (answers.coverage_for(0.7), answers.certified_region(promise));
            format!("{:?} {advised:?} {automatic:?}", answers.measures())
        };
        prop_assert_eq!(exact(measured(OUTCOMES, &rows)), exact(measured(OUTCOMES, &shuffled)));
        prop_assert_eq!(exact(yes_no_answers(&yes_no)), exact(yes_no_answers(&other)));
    }
}
