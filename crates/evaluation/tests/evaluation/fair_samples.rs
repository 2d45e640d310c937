//! Marks of results that somebody chose mislead, and marks of a random draw do not.
//!
//! In a population of answers a fifth is unsure, and unsure answers are wrong twice as often as the
//! others. People mark a random sample and as many of the least sure answers, a thousand times.

use refract_domain::result::mark::{MarkSource, MarksFrom};
use refract_evaluation::marked::MarkedAnswers;

use crate::material::yes_no_answers;
use crate::numbers::Numbers;

/// Answers of the population.
const ANSWERS: usize = 5_000;
/// One answer in this many is unsure.
const ONE_UNSURE_IN: usize = 5;
/// Marks of each kind in a draw.
const MARKS: usize = 200;
const DRAWS: u32 = 1_000;

/// An answer: the probability of yes, and whether yes is right.
type Answered = (f64, bool);

/// Of each ten sure answers one is wrong, of each ten unsure ones two are.
fn population() -> Vec<Answered> {
    let answer = |number: usize| {
        let is_unsure = number.is_multiple_of(ONE_UNSURE_IN);
        let one_in = if is_unsure { 5 } else { 10 };
        let is_right = !(number / ONE_UNSURE_IN).is_multiple_of(one_in);
        (if is_unsure { 0.55 } else { 0.9 }, is_right)
    };
    (0..ANSWERS).map(answer).collect()
}

/// `MARKS` answers of a list, each at most once.
fn draw(numbers: &mut Numbers, answers: &[Answered]) -> Vec<Answered> {
    let mut places: Vec<usize> = (0..answers.len()).collect();
    for place in 0..MARKS {
        let other = place + numbers.below(places.len() - place);
        places.swap(place, other);
    }
    places[..MARKS]
        .iter()
        .map(|place| answers[*place])
        .collect()
}

/// The marked answers that a choice of marks counts.
fn counted(from: MarksFrom, marks: &[(MarkSource, Vec<Answered>)]) -> MarkedAnswers {
    let counted = marks
        .iter()
        .filter(|(source, _)| from.counts(Some(*source)));
    let answers: Vec<Answered> = counted.flat_map(|(_, answers)| answers.clone()).collect();
    yes_no_answers(&answers)
}

#[test]
fn the_default_measure_is_within_its_interval_of_the_truth_and_that_of_all_marks_is_not() {
    let population = population();
    let right = population.iter().filter(|(_, is_right)| *is_right).count();
    let [right, all] = [right, ANSWERS].map(|count| f64::from(u32::try_from(count).unwrap()));
    let truth = right / all;
    assert!((truth - 0.88).abs() < 1e-9, "{truth}");
    let unsure: Vec<_> = population
        .iter()
        .copied()
        .filter(|(p, _)| *p < 0.6)
        .collect();
    let mut numbers = Numbers(34);
    let mut covered = [0_u32; 2];
    for _ in 0..DRAWS {
        let marks = [
            (MarkSource::Random, draw(&mut numbers, &population)),
            (MarkSource::LeastSure, draw(&mut numbers, &unsure)),
        ];
        for (covered, from) in covered.iter_mut().zip(MarksFrom::ALL) {
            let accuracy = counted(from, &marks).measures().accuracy;
            let interval = accuracy.interval().unwrap();
            *covered += u32::from(interval.low <= truth && truth <= interval.high);
        }
    }
    // 95 % less four standard errors of a proportion of 0.95 in 1,000 draws, 2.8 points
    let [random, all] = covered;
    assert!(random >= 922, "{random} of {DRAWS}");
    assert!(all < 600, "{all} of {DRAWS}");
}
