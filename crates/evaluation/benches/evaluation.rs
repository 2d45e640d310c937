//! Evaluates 1,000,000 marked answers of each question type. Prints the time, and the memory on top
//! of the answers themselves: `make bench-evaluation`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot run fails where it stands, and prints what it measures"
)]

use std::hint::black_box;
use std::time::Instant;

use peak_alloc::PeakAlloc;
use refract_domain::answer::probability::{ONE, Probability};
use refract_domain::answer::{Answer, Distribution};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::{Question, QuestionType};
use refract_domain::result::mark;
use refract_evaluation::cutoffs::CutoffGoal;
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers};
use serde_json::{Value, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Marked answers of each question.
const ROWS: usize = 1_000_000;
/// Different answers of each question, which are repeated. Not a multiple of five, so that each is
/// in every fold.
const ANSWERS: u32 = 10_007;

fn main() {
    let outcomes = ["a", "b", "c", "d", "e"].map(|key| json!({"key": key, "label": key}));
    for question in [
        json!({"key": "q", "type": "choice", "text": "?", "options": outcomes}),
        json!({"key": "q", "type": "yes_no", "text": "?"}),
        json!({"key": "q", "type": "scale", "text": "?", "levels": outcomes}),
    ] {
        evaluate(question);
    }
}

fn evaluate(question: Value) {
    let question: Question = serde_json::from_value(question).unwrap();
    let question_type = question.question_type();
    let material: Vec<_> = (0..ANSWERS)
        .map(|number| marked(&question, number))
        .collect();
    println!("{ROWS} marked answers, {}", question_type.name());

    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let mut answers = MarkedAnswers::new(question_type, Cutoffs::default());
    answers.expect_outcomes(&question).unwrap();
    timed("add", || {
        for (answer, mark) in material.iter().cycle().take(ROWS) {
            let marked = MarkedAnswer {
                question: &question,
                answer,
                mark,
                model: Some("bench"),
            };
            answers.add(&marked).unwrap();
        }
    });
    timed("measures", || answers.measures());
    timed("coverage_for", || answers.coverage_for(0.95));
    timed("advise_cutoffs", || {
        answers.advise_cutoffs(CutoffGoal::Precision(0.95))
    });
    let peak = MEMORY.peak_usage() - before;
    println!("  {:<16} {:>7} KiB", "peak", peak / 1024);
}

fn timed<T>(name: &str, run: impl FnOnce() -> T) {
    let start = Instant::now();
    black_box(run());
    println!("  {name:<16} {:>7.3} s", start.elapsed().as_secs_f64());
}

/// An answer of random probability, and a mark that agrees with it about as often as the
/// probability predicts.
fn marked(question: &Question, number: u32) -> (Answer, OutcomeKey) {
    let outcomes = mark::outcomes(question).map(|outcome| OutcomeKey::parse(outcome.key).unwrap());
    let outcomes: Vec<OutcomeKey> = outcomes.collect();
    let best = usize::try_from(number).unwrap() % outcomes.len();
    let others = u32::try_from(outcomes.len()).unwrap() - 1;
    let each = number * 7_919 % (ONE / 2) / others;
    let probability = |place| {
        let millionths = if place == best {
            ONE - each * others
        } else {
            each
        };
        Probability::from_millionths(millionths).unwrap()
    };
    let probabilities: Distribution = outcomes
        .iter()
        .enumerate()
        .map(|(place, key)| (key.clone(), probability(place)))
        .collect();
    let is_wrong = number * 104_729 % ONE < each * others;
    let mark = outcomes.iter().cycle().nth(best + usize::from(is_wrong));
    let answer = match question.question_type() {
        QuestionType::Choice => Answer::Choice {
            value: outcomes.get(best).cloned(),
            probabilities,
            confidence: Probability::CERTAIN,
        },
        QuestionType::YesNo => Answer::YesNo {
            probability: probability(0),
        },
        QuestionType::Scale => Answer::scale(probabilities).unwrap(),
    };
    (answer, mark.unwrap().clone())
}
