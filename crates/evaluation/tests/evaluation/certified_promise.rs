//! The promise of certified cutoffs, by simulation: marks are drawn again and again from populations
//! whose true error is known at every cutoff, and a certificate is broken if the true error of its
//! cutoffs is above the goal.
//!
//! `make check-certified` makes all draws of the whole grid and prints a line for each population.

use std::env;

use refract_domain::answer::Answer;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::cutoffs::{CertifiedCutoffs, CertifiedGoal, CutoffGoal};
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers};
use refract_evaluation::measures::Proportion;
use refract_evaluation::report;

use crate::material::{choice, choice_question, key, yes_no, yes_no_question};
use crate::numbers::Numbers;

/// The variable that asks for all draws.
const FULL: &str = "REFRACT_TEST_CERTIFIED";
/// One draw in this many is also advised plainly, for comparison: that takes longer.
const ONE_PLAIN_IN: u32 = 20;

/// How the confidence of answers is distributed.
#[derive(Clone, Copy, Debug)]
enum Scores {
    /// Every percent equally often, with six decimals.
    Even,
    /// Mostly near 1, rounded to two decimals.
    SureRounded,
    /// Six values only.
    Tied,
}

/// How often answers are wrong, by their confidence.
#[derive(Clone, Copy, Debug)]
enum Errors {
    /// Slightly more often than the goal everywhere: every certificate is a broken promise.
    JustAbove,
    /// Less often the surer they are, as a calibrated model.
    Falling,
    /// Rarely above a confidence, and often below it.
    Cliff,
    /// More often the surer they are.
    Rising,
    /// By turns rarely and often.
    Waves,
}

/// What is asked, and how often the answer is yes.
#[derive(Clone, Copy, Debug)]
enum Asked {
    Choice,
    YesInHalf,
    YesInTwelve,
}

/// Answers with one confidence and, for a Yes / No, one side.
struct Cell {
    /// The share of all answers up to and with this cell.
    up_to: f64,
    mass: f64,
    error: f64,
    /// The confidence, or the probability of yes, in whole percents.
    percent: u32,
    /// Answers within the percent.
    answers: Vec<Answer>,
    is_yes: bool,
}

/// A population of answers.
struct Population {
    question: Question,
    cells: Vec<Cell>,
}

/// What came of the draws of a population.
#[derive(Default)]
struct Draws {
    broken: Proportion,
    certified: Proportion,
    coverage: f64,
    plain_broken: Proportion,
    plain_coverage: f64,
}

impl Scores {
    const ALL: [Self; 3] = [Self::Even, Self::SureRounded, Self::Tied];

    fn mass(self, percent: u32) -> f64 {
        match self {
            Self::Even => 1.0,
            Self::SureRounded => (f64::from(percent) / 100.0).powi(5),
            Self::Tied => f64::from(u8::from([10, 40, 70, 86, 94, 98].contains(&percent))),
        }
    }

    fn has_decimals(self) -> bool {
        match self {
            Self::Even => true,
            Self::SureRounded | Self::Tied => false,
        }
    }
}

impl Errors {
    const ALL: [Self; 5] = [
        Self::JustAbove,
        Self::Falling,
        Self::Cliff,
        Self::Rising,
        Self::Waves,
    ];

    fn at(self, percent: u32, goal: f64) -> f64 {
        let confidence = f64::from(percent) / 100.0;
        match self {
            Self::JustAbove => goal * 1.000_1,
            Self::Falling => 0.6 * (1.0 - confidence) + goal / 10.0,
            Self::Cliff if percent >= 60 => goal / 4.0,
            Self::Cliff => 0.45,
            Self::Rising => goal * (0.4 + 1.3 * confidence * confidence),
            Self::Waves if (percent / 6).is_multiple_of(2) => goal * 1.9,
            Self::Waves => goal * 0.15,
        }
    }
}

impl Asked {
    const ALL: [Self; 3] = [Self::Choice, Self::YesInHalf, Self::YesInTwelve];
}

impl Population {
    fn new(asked: Asked, scores: Scores, errors: Errors, goal: f64) -> Self {
        let (question, yes) = match asked {
            Asked::Choice => (choice_question(&["a", "b"]), None),
            Asked::YesInHalf => (yes_no_question(), Some(0.5)),
            Asked::YesInTwelve => (yes_no_question(), Some(1.0 / 12.0)),
        };
        let all: f64 = (0..100).map(|percent| scores.mass(percent)).sum();
        let mut cells = Vec::new();
        for percent in 0..100 {
            let mass = scores.mass(percent) / all;
            let error = errors.at(percent, goal);
            match yes {
                None => cells.push(Cell::of_choice(percent, mass, error, scores)),
                Some(yes) => {
                    let half = percent / 2;
                    cells.push(Cell::of_yes_no(50 + half, mass * yes, error, scores));
                    cells.push(Cell::of_yes_no(
                        49 - half,
                        mass * (1.0 - yes),
                        error,
                        scores,
                    ));
                }
            }
        }
        cells.retain(|cell| cell.mass > 0.0);
        let mut sum = 0.0;
        for cell in &mut cells {
            sum += cell.mass;
            cell.up_to = sum;
        }
        Self { question, cells }
    }

    fn draw(&self, marks: u32, numbers: &mut Numbers) -> MarkedAnswers {
        let mut answers = MarkedAnswers::new(self.question.question_type(), Cutoffs::AUTOMATIC);
        let outcomes = ["a", "b", "yes", "no"].map(key);
        for _ in 0..marks {
            let share = numbers.share();
            let place = self.cells.partition_point(|cell| cell.up_to <= share);
            let cell = &self.cells[place.min(self.cells.len() - 1)];
            let is_wrong = numbers.share() < cell.error;
            let answer = &cell.answers[numbers.below(cell.answers.len())];
            answers
                .add(&MarkedAnswer {
                    question: &self.question,
                    answer,
                    mark: cell.mark(is_wrong, &outcomes),
                    model: None,
                })
                .unwrap();
        }
        answers
    }

    /// The true error and coverage of cutoffs: of no answers, both are 0.
    fn truth(&self, is_automatic: impl Fn(&Cell) -> bool) -> (f64, f64) {
        let automatic = self.cells.iter().filter(|cell| is_automatic(cell));
        let (wrong, mass) = automatic.fold((0.0, 0.0), |(wrong, mass), cell| {
            (wrong + cell.mass * cell.error, mass + cell.mass)
        });
        (if mass > 0.0 { wrong / mass } else { 0.0 }, mass)
    }

    fn simulate(&self, goal: CertifiedGoal, marks: u32, draws: u32, seed: u64) -> Draws {
        let mut numbers = Numbers(seed);
        let mut all = Draws::default();
        for draw in 0..draws {
            let answers = self.draw(marks, &mut numbers);
            let certified = answers.certified_region(goal);
            let (error, coverage) = certified.map_or((0.0, 0.0), |region| {
                self.truth(|cell| cell.is_within(region.cutoffs))
            });
            all.broken.count += u64::from(error > goal.error());
            all.certified.count += u64::from(certified.is_some());
            all.coverage += coverage / f64::from(draws);
            if draw % ONE_PLAIN_IN == 0 {
                let (error, coverage) = self.plain(&answers, goal);
                all.plain_broken.count += u64::from(error > goal.error());
                all.plain_broken.of += 1;
                all.plain_coverage += coverage * f64::from(ONE_PLAIN_IN) / f64::from(draws);
            }
        }
        all.broken.of = draws.into();
        all.certified.of = draws.into();
        all
    }

    /// The true error and coverage of what is advised without a certificate.
    fn plain(&self, answers: &MarkedAnswers, goal: CertifiedGoal) -> (f64, f64) {
        let right = 1.0 - goal.error();
        match answers.advise_cutoffs(CutoffGoal::Precision(right)) {
            Some(advice) => self.truth(|cell| {
                let share = f64::from(cell.percent) / 100.0;
                advice.yes_from.is_some_and(|from| share >= from)
                    || advice.no_below.is_some_and(|below| share < below)
            }),
            None => answers.coverage_for(right).map_or((0.0, 0.0), |advice| {
                self.truth(|cell| f64::from(cell.percent) / 100.0 + 1e-9 >= advice.confidence)
            }),
        }
    }
}

impl Cell {
    fn of_choice(percent: u32, mass: f64, error: f64, scores: Scores) -> Self {
        // of four outcomes, a probability of 0.25 is a confidence of 0
        let answer = |within: f64| {
            let confidence = f64::from(percent) / 100.0 + within;
            choice(Some("a"), &[("a", 0.25 + 0.75 * confidence)])
        };
        Self {
            up_to: 0.0,
            mass,
            error,
            percent,
            answers: within(scores).into_iter().map(answer).collect(),
            is_yes: false,
        }
    }

    fn of_yes_no(percent: u32, mass: f64, error: f64, scores: Scores) -> Self {
        let answer = |within: f64| yes_no(f64::from(percent) / 100.0 + within);
        Self {
            up_to: 0.0,
            mass,
            error,
            percent,
            answers: within(scores).into_iter().map(answer).collect(),
            is_yes: percent >= 50,
        }
    }

    fn mark<'a>(&self, is_wrong: bool, outcomes: &'a [OutcomeKey; 4]) -> &'a OutcomeKey {
        let [a, b, yes, no] = outcomes;
        match self.answers[0] {
            Answer::YesNo { .. } if self.is_yes == is_wrong => no,
            Answer::YesNo { .. } => yes,
            Answer::Choice { .. } | Answer::Scale { .. } if is_wrong => b,
            Answer::Choice { .. } | Answer::Scale { .. } => a,
        }
    }

    fn is_within(&self, cutoffs: CertifiedCutoffs) -> bool {
        match cutoffs {
            CertifiedCutoffs::YesNo { no_below, yes_from } => {
                self.percent < no_below || self.percent >= yes_from
            }
            CertifiedCutoffs::Confidence(from) => self.percent >= from,
        }
    }
}

/// Places within a percent.
fn within(scores: Scores) -> Vec<f64> {
    if scores.has_decimals() {
        vec![0.0, 0.001_7, 0.005, 0.009_9]
    } else {
        vec![0.0]
    }
}

/// Simulates every population of the grid; prints them if all draws are made.
fn simulate(
    goals: &[(f64, f64)],
    sizes: &[u32],
    draws: u32,
    mut check: impl FnMut(&str, &Draws, f64),
) {
    let mut seed = 1;
    for asked in Asked::ALL {
        for scores in Scores::ALL {
            for errors in Errors::ALL {
                for (error, sure) in goals {
                    let goal = CertifiedGoal::new(*error, *sure).unwrap();
                    let population = Population::new(asked, scores, errors, *error);
                    for marks in sizes {
                        seed += 1;
                        let all = population.simulate(goal, *marks, draws, seed);
                        let name = format!(
                            "{asked:?} {scores:?} {errors:?}, error {error}, sure {sure}, {marks} marks"
                        );
                        check(&name, &all, 1.0 - sure);
                    }
                }
            }
        }
    }
}

#[test]
fn the_promise_is_broken_in_at_most_the_allowed_share_of_draws() {
    let is_full = env::var_os(FULL).is_some();
    let (goals, sizes, draws): (&[_], &[_], _) = if is_full {
        (&[(0.05, 0.95), (0.1, 0.9)], &[60, 150, 400], 10_000)
    } else {
        (&[(0.1, 0.9)], &[150], 60)
    };
    let (mut broken, mut most_broken) = (0.0, 0.0);
    simulate(goals, sizes, draws, |name, all, allowed| {
        if is_full {
            println!(
                "{name}: broken {} of {allowed:.2}; certified {}; coverage {:.3}, plain {:.3}, \
                 broken {}",
                report::range(all.broken.value(), all.broken.interval()),
                report::number(all.certified.value()),
                all.coverage,
                all.plain_coverage,
                report::number(all.plain_broken.value()),
            );
        }
        let interval = all.broken.interval().unwrap();
        assert!(interval.low <= allowed, "{name}: {interval:?}");
        broken += f64::from(u32::try_from(all.broken.count).unwrap());
        most_broken += allowed * f64::from(draws);
    });
    assert!(broken <= most_broken, "{broken} of all draws");
}

#[test]
fn good_answers_are_certified_and_plain_advice_breaks_the_promise() {
    let goal = CertifiedGoal::new(0.1, 0.9).unwrap();
    let cliff = Population::new(Asked::YesInTwelve, Scores::Even, Errors::Cliff, 0.1);
    let of_cliff = cliff.simulate(goal, 400, 200, 34);
    let (certified, coverage) = (of_cliff.certified, of_cliff.coverage);
    assert!(
        certified.count >= 170 && coverage > 0.3,
        "{certified:?} {coverage}"
    );
    let above = Population::new(Asked::YesInHalf, Scores::Even, Errors::JustAbove, 0.1);
    let of_above = above.simulate(goal, 150, 400, 35);
    assert!(of_above.broken.count <= 60, "{:?}", of_above.broken);
    // nothing is promised of advice that is only held out
    assert!(
        of_above.plain_broken.count >= 8,
        "{:?}",
        of_above.plain_broken
    );
}
