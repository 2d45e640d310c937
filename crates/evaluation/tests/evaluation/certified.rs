//! Certified cutoffs over answers that can be counted manually.

use proptest::prelude::*;
use refract_domain::answer::Answer;
use refract_domain::lens::YesNoLabel;
use refract_evaluation::cutoffs::{
    Certificate, Certification, CertifiedCutoffs, CertifiedGoal, CertifiedRegion,
    probability_of_at_most,
};
use refract_evaluation::measures::Proportion;

use crate::material::{choice, choice_question, is_close, marked, p, yes_no_answers};

/// Certifies cutoffs of a Yes / No: each row is a number of answers, their probability of yes, and
/// how many of them are marked yes.
fn certify(rows: &[(usize, f64, usize)], error: f64, sure: f64) -> Certificate {
    let answers = rows
        .iter()
        .flat_map(|&(of, probability, yes)| (0..of).map(move |number| (probability, number < yes)));
    let answers: Vec<(f64, bool)> = answers.collect();
    yes_no_answers(&answers).certify(CertifiedGoal::new(error, sure).unwrap())
}

fn region(certificate: &Certificate) -> CertifiedRegion {
    certificate.certified().unwrap()
}

#[test]
fn answers_that_are_all_right_are_certified_whole() {
    let certificate = certify(&[(40, 0.1, 0), (40, 0.9, 40)], 0.05, 0.95);
    let region = region(&certificate);
    let middle = CertifiedCutoffs::YesNo {
        no_below: 50,
        yes_from: 50,
    };
    assert_eq!(region.cutoffs, middle);
    assert_eq!(region.wrong, Proportion { count: 0, of: 80 });
    assert_eq!(certificate.coverage(), Proportion { count: 80, of: 80 });
    // 80 right answers show the error at a third of the level: 0.95^80 = 0.0165
    let bound = 1.0 - (0.05_f64 / 3.0).powf(1.0 / 80.0);
    assert!(is_close(region.error_at_most, bound), "{region:?}");
}

#[test]
fn fifty_nine_right_answers_certify_and_one_fewer_does_not() {
    let enough = certify(&[(59, 0.9, 59)], 0.05, 0.95);
    assert_eq!(region(&enough).wrong, Proportion { count: 0, of: 59 });
    let too_few = certify(&[(58, 0.9, 58)], 0.05, 0.95);
    assert_eq!(too_few.certification, Certification::MoreMarks(10));
    let none = certify(&[], 0.05, 0.95);
    assert_eq!(none.certification, Certification::MoreMarks(59));
}

#[test]
fn the_side_that_is_wrong_more_often_is_cut_further() {
    // no is always right, and yes is right above 0.8 alone
    let rows = [(300, 0.3, 0), (60, 0.6, 20), (60, 0.75, 30), (80, 0.9, 79)];
    let found = region(&certify(&rows, 0.05, 0.95));
    let CertifiedCutoffs::YesNo { no_below, yes_from } = found.cutoffs else {
        panic!("{found:?}");
    };
    assert!(no_below > 30 && (76..=90).contains(&yes_from), "{found:?}");
    assert_eq!(found.wrong, Proportion { count: 1, of: 380 });
    assert!(found.error_at_most <= 0.05, "{found:?}");
}

#[test]
fn marks_that_are_needed_would_do_if_the_shares_stay() {
    let rows = [(30, 0.2, 1), (30, 0.9, 29)];
    let certificate = certify(&rows, 0.1, 0.95);
    let Certification::MoreMarks(more) = certificate.certification else {
        panic!("{certificate:?}");
    };
    // the smallest number of tens: 60 marks with 2 wrong ones become 60 + more with more wrong
    let scaled = |total: usize| {
        let wrong = (2 * total).div_ceil(60);
        certify(&[(total, 0.9, total - wrong)], 0.1, 0.95)
    };
    let total = 60 + usize::try_from(more).unwrap();
    assert!(scaled(total).certified().is_some(), "{more}");
    assert!(scaled(total - 10).certified().is_none(), "{more}");
    assert_eq!(certificate.coverage(), Proportion { count: 0, of: 60 });
}

#[test]
fn answers_that_are_wrong_too_often_everywhere_are_out_of_reach() {
    let certificate = certify(&[(100, 0.1, 20), (100, 0.9, 80)], 0.1, 0.9);
    assert_eq!(certificate.certification, Certification::OutOfReach);
}

#[test]
fn a_choice_is_certified_from_a_confidence_on() {
    let question = choice_question(&["a", "b"]);
    // four outcomes: 0.4 is a confidence of 0.2, 0.85 one of 0.8
    let rows: Vec<(Answer, &str)> = (0..240)
        .map(|number| {
            let is_sure = number % 2 == 0;
            let probability = if is_sure { 0.85 } else { 0.4 };
            let is_wrong = !is_sure && number % 3 == 0;
            (
                choice(Some("a"), &[("a", probability)]),
                if is_wrong { "b" } else { "a" },
            )
        })
        .collect();
    let goal = CertifiedGoal::new(0.05, 0.95).unwrap();
    let certificate = marked(&question, &rows).certify(goal);
    let found = region(&certificate);
    assert_eq!(found.cutoffs, CertifiedCutoffs::Confidence(21));
    assert_eq!(found.wrong, Proportion { count: 0, of: 120 });
    assert_eq!(
        certificate.coverage(),
        Proportion {
            count: 120,
            of: 240
        }
    );
    // 96 right answers of four folds certify too, and hold on the fifth
    let held_out = certificate.held_out;
    assert_eq!(
        held_out.precision,
        Proportion {
            count: 120,
            of: 120
        }
    );
    assert_eq!(
        held_out.coverage,
        Proportion {
            count: 120,
            of: 240
        }
    );
}

#[test]
fn what_is_not_answered_is_never_automatic() {
    let rows = vec![(choice(None, &[("a", 1.0)]), "a"); 300];
    let goal = CertifiedGoal::new(0.05, 0.95).unwrap();
    let certificate = marked(&choice_question(&["a"]), &rows).certify(goal);
    assert_eq!(certificate.certification, Certification::OutOfReach);
    assert_eq!(certificate.marks, 300);
}

#[test]
fn a_promise_is_made_of_two_shares() {
    for (error, sure) in [
        (0.0, 0.95),
        (1.0, 0.95),
        (0.05, 0.0),
        (0.05, 1.0),
        (f64::NAN, 0.5),
    ] {
        assert_eq!(CertifiedGoal::new(error, sure), None, "{error} {sure}");
    }
}

proptest! {
    #[test]
    fn a_certificate_counts_the_answers_that_its_cutoffs_label(
        rows in prop::collection::vec((0..=100_u32, 0.0..1.0_f64), 0..300),
        error in 0.02..0.4_f64,
    ) {
        // the surer an answer, the more often it is right
        let rows: Vec<(f64, bool)> = rows
            .iter()
            .map(|&(percent, drawn)| {
                let probability = f64::from(percent) / 100.0;
                (probability, drawn < (3.0 * probability - 1.0).clamp(0.01, 0.99))
            })
            .collect();
        let answers = yes_no_answers(&rows);
        let goal = CertifiedGoal::new(error, 0.8).unwrap();
        let certified = answers.certify(goal).certified();
        prop_assert_eq!(certified, answers.certified_region(goal));
        if let Some(region) = certified {
            let cutoffs = region.cutoffs.cutoffs().unwrap();
            let mut wrong = Proportion::default();
            for (probability, is_yes) in rows {
                let label = cutoffs.label(p(probability));
                if label != YesNoLabel::Unsure {
                    wrong.of += 1;
                    wrong.count += u64::from((label == YesNoLabel::Yes) != is_yes);
                }
            }
            prop_assert_eq!(region.wrong, wrong);
            prop_assert!(region.error_at_most <= error + 1e-12);
            let spent = 1.0 - goal.sure() + 1e-9;
            let tail = probability_of_at_most(wrong.count, wrong.of, error);
            prop_assert!(tail <= spent, "{} of {}: {}", wrong.count, wrong.of, tail);
        }
    }
}
