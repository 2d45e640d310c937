use proptest::prelude::*;
use refract_domain::answer::probability::{ONE, Probability};

use super::*;
use crate::counting::lens_preview::tests::{Sample, column};

#[test]
fn a_probability_at_a_cutoff_is_not_below_it() {
    let mut histogram = PercentHistogram::default();
    for probability in [0.399_999, 0.4, 0.409_999, 0.41, 1.0] {
        histogram.add(Probability::from_f64(probability).unwrap());
    }
    let counts = histogram.counts();
    assert_eq!(
        (counts[39], counts[40], counts[41], counts[100]),
        (1, 2, 1, 1)
    );
    let labels = |no_below, yes_from| {
        let cutoffs = PercentCutoffs::new(no_below, yes_from).unwrap();
        let LabelCounts { yes, unsure, no } = histogram.labels(cutoffs);
        (yes, unsure, no)
    };
    assert_eq!(labels(40, 40), (4, 0, 1));
    assert_eq!(labels(41, 41), (2, 0, 3));
    assert_eq!(labels(40, 41), (2, 2, 1));
    assert_eq!(labels(40, 100), (1, 3, 1));
}

proptest! {
    #[test]
    fn labels_by_percent_are_the_labels_of_the_probabilities(
        probabilities in prop::collection::vec(0..=ONE, 0..60),
        no_below in 1_u8..100,
        band in 0_u8..100,
    ) {
        let yes_from = no_below.saturating_add(band).min(100);
        let cutoffs = PercentCutoffs::new(no_below, yes_from).unwrap();
        let mut histogram = PercentHistogram::default();
        let mut expected = LabelCounts::default();
        for probability in probabilities {
            let probability = Probability::from_millionths(probability).unwrap();
            histogram.add(probability);
            expected.add(cutoffs.cutoffs().label(probability), 1);
        }
        prop_assert_eq!(histogram.labels(cutoffs), expected);
    }
}

#[test]
fn only_cutoffs_in_the_range_of_a_lens_are_made() {
    for (no_below, yes_from) in [(0, 50), (100, 100), (60, 59), (50, 101)] {
        assert_eq!(PercentCutoffs::new(no_below, yes_from), None);
    }
    let widest = PercentCutoffs::new(1, 100).unwrap();
    assert_eq!((widest.no_below(), widest.yes_from()), (1, 100));
}

#[test]
fn a_cutoff_between_two_percents_has_a_nearest_one_only() {
    let cutoffs = Cutoffs::new(Some(0.455), Some(0.7)).unwrap();
    assert_eq!(PercentCutoffs::of(cutoffs), None);
    assert_eq!(
        PercentCutoffs::nearest(cutoffs),
        PercentCutoffs::new(46, 70).unwrap()
    );
    let tiny = Cutoffs::new(Some(0.000_1), None).unwrap();
    assert_eq!(
        PercentCutoffs::nearest(tiny),
        PercentCutoffs::new(1, 1).unwrap()
    );
    assert_eq!(
        PercentCutoffs::of(Cutoffs::AUTOMATIC),
        PercentCutoffs::new(50, 50)
    );
    let only_yes = Cutoffs::new(None, Some(0.8)).unwrap();
    assert_eq!(PercentCutoffs::of(only_yes), PercentCutoffs::new(50, 80));
}

proptest! {
    #[test]
    fn percents_are_what_a_person_would_write_and_label_alike(
        no_below in 1_u8..100, band in 0_u8..100, probability in 0..=ONE,
    ) {
        let yes_from = no_below.saturating_add(band).min(100);
        let percents = PercentCutoffs::new(no_below, yes_from).unwrap();
        let written = |percent: u8| format!("{}.{:02}", percent / 100, percent % 100);
        let number = |percent| written(percent).parse::<f64>().unwrap();
        let expected = Cutoffs::new(
            Some(number(no_below)),
            (yes_from > no_below).then(|| number(yes_from)),
        );
        prop_assert_eq!(percents.cutoffs(), expected.unwrap());
        prop_assert_eq!(PercentCutoffs::of(percents.cutoffs()), Some(percents));
        let probability = Probability::from_millionths(probability).unwrap();
        let label = percents.cutoffs().label(probability);
        prop_assert_eq!(percents.label(probability.percent()), label);
    }
}

fn counted(output: &str, probabilities: &[f64]) -> CutoffSteps {
    let sample = Sample::new();
    let mut steps = CutoffSteps::of(&column("angry", output));
    for probability in probabilities {
        let answers = Sample::answers("billing", *probability, "low");
        steps.add(sample.view(&answers).answers());
    }
    steps
}

#[test]
fn each_step_shows_what_a_cutoff_there_would_answer() {
    let probabilities = [0.0, 0.004, 0.29, 0.299_999, 0.3, 0.5, 0.999_999, 1.0];
    let steps = counted("label", &probabilities);
    assert_eq!(steps.results(), 8);
    let every = steps.steps(1);
    assert_eq!(every.len(), 101);
    let at = |percent: usize| {
        let step = every[percent];
        assert_eq!(usize::try_from(step.percent).unwrap(), percent);
        (step.results, step.no, step.yes)
    };
    assert_eq!(at(0), (2, 0, 8));
    assert_eq!(at(1), (0, 2, 6));
    assert_eq!(at(29), (2, 2, 6));
    assert_eq!(at(30), (1, 4, 4), "a cutoff is reached at itself");
    assert_eq!(at(99), (1, 6, 2));
    assert_eq!(at(100), (1, 7, 1));
    let coarse = steps.steps(5);
    assert_eq!(coarse.len(), 21);
    assert_eq!((coarse[6].percent, coarse[6].no, coarse[6].yes), (30, 4, 4));
    assert_eq!((coarse[5].results, coarse[20].results), (2, 1));
}

#[test]
fn what_the_column_shows_now_is_counted_by_its_own_cutoffs() {
    let (cutoffs, labels) = counted("label", &[0.1, 0.499_999, 0.5, 0.9]).now().unwrap();
    assert_eq!(cutoffs, Cutoffs::default());
    let expected = LabelCounts {
        yes: 2,
        unsure: 0,
        no: 2,
    };
    assert_eq!(labels, expected);
    assert!(counted("probability", &[0.1]).now().is_none());
}

#[test]
fn a_choice_or_scale_shows_the_probabilities_of_its_answers() {
    let sample = Sample::new();
    for (question, output) in [("topic", "top"), ("urgency", "number")] {
        let mut steps = CutoffSteps::of(&column(question, output));
        let answers = Sample::answers("billing", 0.5, "low");
        steps.add(sample.view(&answers).answers());
        assert_eq!((steps.results(), steps.now().is_none()), (1, true));
    }
}

#[test]
fn a_version_without_the_question_does_not_count() {
    let sample = Sample::new();
    let other = Column {
        question: QuestionKey::parse("happy").unwrap(),
        ..column("angry", "label")
    };
    let mut steps = CutoffSteps::of(&other);
    steps.add(
        sample
            .view(&Sample::answers("billing", 0.5, "low"))
            .answers(),
    );
    assert_eq!(steps.results(), 0);
}
