//! Simulated streams of answers: how often a prism without a change raises an alarm in 30 days of
//! hourly looks, and after how many results a change is found.
//!
//! By default a few streams are looked at seldom, which takes seconds. With
//! `REFRACT_SIMULATED_STREAMS` set to a number, that many streams of each kind are looked at every
//! hour; use a release build.

use std::collections::VecDeque;

use refract_domain::answer::{Answer, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::drift::{
    Alarm, AnswerTally, NEWEST_RESULTS, QuestionDrift, WatchedQuestion, alarms,
};

/// Hours of the window and of the window before it, as `refract watch` has them by default.
const WINDOW: usize = 24;
const BEFORE: usize = 28 * 24;
/// The hours of the largest window, where a day has fewer than 500 results.
const LARGEST_WINDOW: usize = 7 * 24;
const LOOKS: usize = 30 * 24;

/// A generator of numbers that look random (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn of(seed: u64) -> Self {
        let mut numbers = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..20).for_each(|_| {
            numbers.next();
        });
        numbers
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11;
        f64::from(u32::try_from(bits >> 21).unwrap()) / f64::from(u32::MAX)
    }
}

/// A prism with Yes / No questions of these shares of yes, and choices of four options.
#[derive(Clone)]
struct Stream {
    yes: Vec<f64>,
    choices: usize,
    /// Results in an hour.
    pace: usize,
    /// Whether the cutoffs leave a band of unsure.
    has_unsure: bool,
}

fn questions(stream: &Stream) -> Vec<Question> {
    let yes_no = (0..stream.yes.len())
        .map(|place| format!(r#"{{"key": "q{place}", "type": "yes_no", "text": "Is it?"}}"#));
    let choices = (0..stream.choices).map(|place| {
        let options =
            ["a", "b", "c", "d"].map(|key| format!(r#"{{"key": "{key}", "label": "{key}"}}"#));
        let options = options.join(",");
        format!(
            r#"{{"key": "c{place}", "type": "choice", "text": "Which?", "options": [{options}]}}"#
        )
    });
    let all = yes_no.chain(choices);
    all.map(|json| serde_json::from_str(&json).unwrap())
        .collect()
}

/// An answer that is yes with this probability. The probabilities are uniform on either side of the
/// cutoff.
fn yes_no(share: f64, numbers: &mut Numbers) -> Answer {
    let is_yes = numbers.next() < share;
    let half = numbers.next() / 2.0;
    let probability = if is_yes { 0.5 + half } else { half * 0.999 };
    Answer::YesNo {
        probability: Probability::from_f64(probability).unwrap(),
    }
}

/// An answer to a choice of four outcomes.
fn choice(numbers: &mut Numbers) -> Answer {
    let chosen = match numbers.next() {
        it if it < 0.5 => "a",
        it if it < 0.8 => "b",
        it if it < 0.98 => "c",
        _ => "other",
    };
    let chosen = OutcomeKey::parse(chosen).unwrap();
    let probability = Probability::from_f64(0.3 + 0.7 * numbers.next()).unwrap();
    Answer::Choice {
        value: Some(chosen.clone()),
        probabilities: vec![(chosen, probability)],
        confidence: probability,
    }
}

/// The answers of an hour, one tally for each question.
fn hour(stream: &Stream, numbers: &mut Numbers) -> Vec<AnswerTally> {
    let mut tallies = vec![AnswerTally::default(); stream.yes.len() + stream.choices];
    for _ in 0..stream.pace {
        for (place, tally) in tallies.iter_mut().enumerate() {
            let answer = if let Some(share) = stream.yes.get(place) {
                yes_no(*share, numbers)
            } else {
                choice(numbers)
            };
            tally.add(&answer);
        }
    }
    tallies
}

/// The newest hours of a stream, with sums that make a look cheap.
struct Hours {
    hours: VecDeque<Vec<AnswerTally>>,
    /// The sums of 24 hours from each hour on.
    days: VecDeque<Vec<AnswerTally>>,
}

impl Hours {
    /// The hours before the first look.
    fn filled(stream: &Stream, numbers: &mut Numbers) -> Self {
        let mut hours = Self {
            hours: VecDeque::new(),
            days: VecDeque::new(),
        };
        for _ in 0..BEFORE + LARGEST_WINDOW {
            hours.push(hour(stream, numbers));
        }
        hours
    }

    fn push(&mut self, hour: Vec<AnswerTally>) {
        if self.hours.len() == BEFORE + LARGEST_WINDOW {
            self.hours.pop_front();
            self.days.pop_front();
        }
        let questions = hour.len();
        self.hours.push_back(hour);
        if self.hours.len() >= WINDOW {
            let from = self.hours.len() - WINDOW;
            let sums = (0..questions).map(|question| self.sum(question, from));
            self.days.push_back(sums.collect());
        }
    }

    fn results(&self, from: usize) -> u64 {
        let hours = self.hours.range(from..);
        hours.map(|hour| hour[0].answers()).sum()
    }

    fn sum(&self, question: usize, from: usize) -> AnswerTally {
        let mut sum = AnswerTally::default();
        for hour in self.hours.range(from..) {
            sum += &hour[question];
        }
        sum
    }

    /// The sum of the 28 days before an hour.
    fn before(&self, question: usize, hour: usize) -> AnswerTally {
        let mut sum = AnswerTally::default();
        for day in self.days.range(hour - BEFORE..hour).step_by(WINDOW) {
            sum += &day[question];
        }
        sum
    }

    /// The alarms of a look at the hours so far, with windows as `refract watch` chooses them.
    fn look(&self, questions: &[Question], cutoffs: Cutoffs) -> Vec<Option<Alarm>> {
        let end = self.hours.len();
        let mut from = end - WINDOW;
        while self.results(from) < NEWEST_RESULTS && end - from < LARGEST_WINDOW {
            from -= 1;
        }
        let mut hours = (from..end).rev();
        let newest = hours.find(|hour| self.results(*hour) >= NEWEST_RESULTS);
        let newest = newest.filter(|newest| 2 * self.results(*newest) <= self.results(from));
        let watched = questions.iter().enumerate().map(|(place, question)| {
            let before = self.before(place, from);
            let drift = |from: usize| {
                QuestionDrift::between(question, cutoffs, &self.sum(place, from), &before)
            };
            WatchedQuestion {
                window: drift(from),
                newest: newest.map(drift),
            }
        });
        alarms(&watched.collect::<Vec<_>>())
    }
}

/// The number of streams of each kind, and the hours between two looks.
fn extent(few: u64) -> (u64, usize) {
    match std::env::var("REFRACT_SIMULATED_STREAMS") {
        Ok(set) => (set.parse().unwrap(), 1),
        Err(_) => (few, 24),
    }
}

fn cutoffs(stream: &Stream) -> Cutoffs {
    let yes_from = stream.has_unsure.then_some(0.6);
    Cutoffs::new(Some(if stream.has_unsure { 0.4 } else { 0.5 }), yes_from).unwrap()
}

/// The number of alarms in 30 days. Those within a day of each other are one, as they are for the
/// alert rule.
fn false_alarms(stream: &Stream, between_looks: usize, seed: u64) -> u32 {
    let mut numbers = Numbers::of(seed);
    let (questions, cutoffs) = (questions(stream), cutoffs(stream));
    let mut hours = Hours::filled(stream, &mut numbers);
    let (mut begun, mut last) = (0, None::<usize>);
    for at in 0..LOOKS {
        hours.push(hour(stream, &mut numbers));
        if !at.is_multiple_of(between_looks) {
            continue;
        }
        if hours.look(&questions, cutoffs).iter().any(Option::is_some) {
            begun += u32::from(last.is_none_or(|last| at - last > 24));
            last = Some(at);
        }
    }
    begun
}

/// The number of results after a shift of the share of yes until the first question has an alarm,
/// looked for up to 500 results.
fn found_after(stream: &Stream, between_looks: usize, seed: u64) -> Option<usize> {
    let mut numbers = Numbers::of(seed);
    let (questions, cutoffs) = (questions(stream), cutoffs(stream));
    let mut hours = Hours::filled(stream, &mut numbers);
    let mut shifted = stream.clone();
    // a fifth of the answers that mean yes are unsure, where there is a band of that
    shifted.yes[0] += if stream.has_unsure { 0.125 } else { 0.1 };
    let last = 500 / stream.pace;
    (1..=last).find_map(|after| {
        hours.push(hour(&shifted, &mut numbers));
        let is_look = after == last || after.is_multiple_of(between_looks);
        let is_found = is_look && hours.look(&questions, cutoffs)[0].is_some();
        is_found.then_some(after * stream.pace)
    })
}

fn kinds() -> [(&'static str, Stream); 4] {
    let one = |yes: f64, pace| Stream {
        yes: vec![yes],
        choices: 0,
        pace,
        has_unsure: false,
    };
    [
        ("one question, 20 an hour", one(0.3, 20)),
        ("one question, 5 an hour", one(0.5, 5)),
        ("one question, 100 an hour", one(0.3, 100)),
        (
            "three Yes / No with unsure and two choices, 20 an hour",
            Stream {
                yes: vec![0.3, 0.05, 0.6],
                choices: 2,
                pace: 20,
                has_unsure: true,
            },
        ),
    ]
}

#[test]
fn a_stream_without_a_change_raises_at_most_one_alarm_in_30_days() {
    let (number, between_looks) = extent(1);
    for (kind, stream) in kinds() {
        let months = (1..=number).map(|seed| false_alarms(&stream, between_looks, seed));
        let months: Vec<u32> = months.collect();
        let all: u32 = months.iter().sum();
        let more = months.iter().filter(|alarms| **alarms > 1).count();
        println!("{kind}: {all} alarms in {number} months, {more} of them with more than one");
        assert!(u64::from(all) <= number, "{kind}: {months:?}");
    }
}

#[test]
fn a_shift_of_ten_points_of_yes_is_found_within_500_results() {
    let (number, between_looks) = extent(5);
    for (kind, stream) in kinds() {
        let found = (1..=number).map(|seed| found_after(&stream, between_looks, seed));
        let mut found: Vec<usize> = found.flatten().collect();
        found.sort_unstable();
        let median = found.get(found.len() / 2);
        println!(
            "{kind}: found in {} of {number} streams, in half of them after {median:?} results",
            found.len()
        );
        let found = u64::try_from(found.len()).unwrap();
        assert!(found * 10 >= number * 8, "{kind}: {found}");
    }
}
