//! The step to which a model's server rounds its probabilities, seen from stored answers.

use refract_domain::answer::probability::{ONE, Probability};

/// The fewest answers that show a step.
pub const ROUNDED_ANSWERS: u64 = 30;

/// The fewest different probabilities between 0 and 1 that show a step.
pub const ROUNDED_VALUES: usize = 5;

/// The coarsest step, in millionths: one decimal.
const COARSEST: u32 = ONE / 10;

/// The probabilities of one model's answers, as far as they show how its server rounds.
///
/// The step is the largest power of ten, from 0.1 down to 0.00001, of which every probability is a
/// multiple. It is only believed after [`ROUNDED_ANSWERS`] answers with [`ROUNDED_VALUES`] different
/// probabilities between 0 and 1. A server that rounds to one more decimal writes a zero there in
/// about one probability of ten, so five of them look coarser by chance in one case of 100,000.
/// Answers of 0 and 1 alone, or of a few frequent probabilities, show no step.
#[derive(Clone, Debug)]
pub struct RoundedProbabilities {
    answers: u64,
    /// The largest power of ten that divides all probabilities so far, in millionths.
    step: u32,
    /// Different probabilities between 0 and 1 in millionths, no more than are needed.
    values: Vec<u32>,
}

impl Default for RoundedProbabilities {
    fn default() -> Self {
        Self {
            answers: 0,
            step: COARSEST,
            values: Vec::new(),
        }
    }
}

impl RoundedProbabilities {
    /// Adds the stored probabilities of one answer.
    pub fn add(&mut self, probabilities: impl IntoIterator<Item = Probability>) {
        self.answers += 1;
        for probability in probabilities {
            let millionths = probability.millionths();
            while !millionths.is_multiple_of(self.step) {
                self.step /= 10;
            }
            if self.values.len() < ROUNDED_VALUES
                && (1..ONE).contains(&millionths)
                && !self.values.contains(&millionths)
            {
                self.values.push(millionths);
            }
        }
    }

    /// The step to which the server rounds, such as 0.01; `None` if the answers show none, or show
    /// the millionths in which they are stored.
    pub fn step(&self) -> Option<Probability> {
        let is_shown = self.answers >= ROUNDED_ANSWERS && self.values.len() >= ROUNDED_VALUES;
        let step = (is_shown && self.step > 1).then_some(self.step)?;
        Probability::from_millionths(step)
    }

    /// The probability that stands for a stored 0: half of the step, the most that the server can
    /// have rounded to 0; one millionth without a step.
    pub fn floor(&self) -> Probability {
        let millionths = self.step().map_or(1, |step| step.millionths() / 2);
        Probability::from_millionths(millionths).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn p(millionths: u32) -> Probability {
        Probability::from_millionths(millionths).unwrap()
    }

    /// What answers of one probability each show, in millionths.
    fn step(answers: impl IntoIterator<Item = u32>) -> Option<u32> {
        let mut rounded = RoundedProbabilities::default();
        for millionths in answers {
            rounded.add([p(millionths)]);
        }
        rounded.step().map(Probability::millionths)
    }

    /// As many answers as show a step, with these probabilities in turn.
    fn repeated(values: &[u32]) -> impl Iterator<Item = u32> {
        let answers = usize::try_from(ROUNDED_ANSWERS).unwrap();
        values.iter().copied().cycle().take(answers)
    }

    #[test]
    fn the_step_is_the_coarsest_that_all_probabilities_keep() {
        let percents = [10_000, 20_000, 340_000, 990_000, 970_000, 0, ONE];
        assert_eq!(step(repeated(&percents)), Some(10_000));
        let tenths = [100_000, 200_000, 500_000, 700_000, 900_000];
        assert_eq!(step(repeated(&tenths)), Some(100_000));
        let one_finer = repeated(&percents).chain([123_400]);
        assert_eq!(step(one_finer), Some(100));
        let millionths = repeated(&percents).chain([123_456]);
        assert_eq!(step(millionths), None);
    }

    #[test]
    fn few_answers_or_few_probabilities_show_no_step() {
        let percents = [10_000, 20_000, 340_000, 990_000, 970_000];
        let all_but_one = repeated(&percents).skip(1);
        assert_eq!(step(all_but_one), None);
        let four = [10_000, 20_000, 340_000, 990_000, 0, ONE];
        assert_eq!(step(repeated(&four).chain(repeated(&four))), None);
        assert_eq!(step(repeated(&[0, ONE])), None);
        assert_eq!(step([]), None);
    }

    #[test]
    fn all_probabilities_of_an_answer_count_but_it_is_one_answer() {
        let mut rounded = RoundedProbabilities::default();
        for _ in 1..ROUNDED_ANSWERS {
            rounded.add([500_000, 200_000, 120_000, 100_000, 80_000].map(p));
        }
        assert_eq!((rounded.step(), rounded.floor()), (None, p(1)));
        rounded.add([p(ONE)]);
        assert_eq!(
            (rounded.step(), rounded.floor()),
            (Some(p(10_000)), p(5_000))
        );
    }

    proptest! {
        #[test]
        fn a_server_that_rounds_is_never_taken_for_a_finer_one(
            decimals in 1..=5_u32, answers in vec(0..=ONE, 0..90),
        ) {
            let step_of_server = ONE / 10_u32.pow(decimals);
            let rounded = answers.iter().map(|it| it / step_of_server * step_of_server);
            if let Some(found) = step(rounded) {
                prop_assert!(found.is_multiple_of(step_of_server), "{found}");
            }
        }

        #[test]
        fn a_step_divides_every_probability_and_is_shown_by_enough_of_them(
            decimals in 1..=6_u32, answers in vec(0..=ONE, 0..90), common in 0..=ONE,
        ) {
            let step_of_server = ONE / 10_u32.pow(decimals);
            let rounded = |it: &u32| it / step_of_server * step_of_server;
            let common = rounded(&common);
            let mut answers: Vec<u32> = answers.iter().map(rounded).collect();
            // one probability is more frequent than all others
            answers.extend([common; 40]);
            let different: std::collections::BTreeSet<u32> =
                answers.iter().copied().filter(|it| (1..ONE).contains(it)).collect();
            let found = step(answers.iter().copied());
            prop_assert!(found.is_none() || different.len() >= ROUNDED_VALUES);
            if let Some(found) = found {
                prop_assert!(answers.iter().all(|it| it.is_multiple_of(found)));
            }
        }

        #[test]
        fn the_floor_lies_below_every_probability_that_is_not_0(answers in vec(0..=ONE, 0..90)) {
            let mut rounded = RoundedProbabilities::default();
            for answer in &answers {
                rounded.add([p(*answer)]);
            }
            let floor = rounded.floor().millionths();
            prop_assert!(floor >= 1);
            prop_assert!(answers.iter().all(|it| *it == 0 || *it >= floor));
        }
    }
}
