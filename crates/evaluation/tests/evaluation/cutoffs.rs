//! Cutoffs of a Yes / No question for a goal.

use refract_domain::answer::Answer;
use refract_domain::lens::Cutoffs;
use refract_evaluation::cutoffs::{CertifiedGoal, CutoffAdvice, CutoffGoal, FEW_MARKS};
use refract_evaluation::measures::Proportion;

use crate::material::{
    assert_close, choice_question, marked, marked_with, yes_no, yes_no_answers, yes_no_question,
};

/// The advice for these rows, each repeated ten times, so that it is in every fold.
fn advice(rows: &[(f64, bool)], goal: CutoffGoal) -> CutoffAdvice {
    let rows: Vec<(f64, bool)> = rows.iter().flat_map(|row| [*row; 10]).collect();
    yes_no_answers(&rows).advise_cutoffs(goal).unwrap()
}

/// The advised cutoffs.
fn cutoffs(advice: &CutoffAdvice) -> (Option<f64>, Option<f64>) {
    (advice.no_below, advice.yes_from)
}

/// Rows between 0.4 and 0.6 are marked yes half of the time.
const MIXED: [(f64, bool); 6] = [
    (0.1, false),
    (0.2, false),
    (0.4, true),
    (0.6, false),
    (0.8, true),
    (0.9, true),
];

#[test]
fn a_precision_parts_yes_unsure_and_no() {
    let advice = advice(&MIXED, CutoffGoal::Precision(1.0));
    assert_eq!(cutoffs(&advice), (Some(0.3), Some(0.7)));
    assert_eq!(
        (advice.marks, advice.marked_yes, advice.behind),
        (60, 30, 20)
    );
    assert!(advice.behind < FEW_MARKS);
    let held_out = advice.held_out;
    assert_eq!(held_out.precision, Proportion { count: 20, of: 20 });
    assert_eq!(held_out.no_precision, Proportion { count: 20, of: 20 });
    assert_eq!(held_out.recall, Proportion { count: 20, of: 30 });
    assert_eq!(held_out.coverage, Proportion { count: 40, of: 60 });
    assert_eq!(held_out.cost, None);
}

#[test]
fn yes_alone_is_right_from_one_cutoff() {
    let advice = advice(&MIXED, CutoffGoal::YesPrecision(0.9));
    assert_eq!(cutoffs(&advice), (Some(0.7), Some(0.7)));
    assert_eq!(advice.behind, 20);
    let held_out = advice.held_out;
    assert_eq!(held_out.precision, Proportion { count: 20, of: 20 });
    // No is not asked about
    assert_eq!(held_out.no_precision, Proportion { count: 30, of: 40 });
    let all = self::advice(&[(0.5, false), (0.5, true)], CutoffGoal::YesPrecision(0.6));
    assert_eq!(cutoffs(&all), (None, None));
}

#[test]
fn where_yes_and_no_are_fully_parted_there_is_no_unsure() {
    let rows = [(0.1, false), (0.3, false), (0.7, true)];
    let advice = advice(&rows, CutoffGoal::Precision(0.99));
    assert_eq!(cutoffs(&advice), (Some(0.5), Some(0.5)));
    assert_eq!(advice.yes_gap, Some((0.31, 0.7)));
    let coverage = advice.held_out.coverage;
    assert_eq!(coverage, Proportion { count: 30, of: 30 });
}

#[test]
fn yes_may_begin_at_1_but_no_ends_below() {
    let rows = [(0.995, false), (1.0, true)];
    let advice = advice(&rows, CutoffGoal::Precision(1.0));
    assert_eq!(cutoffs(&advice), (None, Some(1.0)));
    assert_eq!(advice.held_out.no_precision, Proportion::default());
}

#[test]
fn marks_of_one_answer_give_no_advice() {
    for marked in [true, false] {
        let rows = [0.1, 0.5, 0.9].map(|probability| (probability, marked));
        let costs = CutoffGoal::Costs {
            wrong_yes: 1.0,
            wrong_no: 2.0,
        };
        for goal in [CutoffGoal::Precision(0.9), CutoffGoal::Recall(0.9), costs] {
            let advice = advice(&rows, goal);
            assert_eq!(cutoffs(&advice), (None, None), "{marked} {goal:?}");
            assert!(!advice.has_both_marks());
            assert_eq!((advice.behind, advice.marks), (0, 30));
        }
    }
}

#[test]
fn a_precision_that_holds_only_where_it_was_chosen_is_not_promised() {
    // 8 of 10 are yes: without the fold of a no, more of them
    let rows: Vec<(f64, bool)> = (0..10).map(|number| (0.7, number > 1)).collect();
    let answers = yes_no_answers(&rows);
    let advice = answers.advise_cutoffs(CutoffGoal::Precision(0.8)).unwrap();
    assert_eq!(cutoffs(&advice), (None, None));
    let advice = answers.advise_cutoffs(CutoffGoal::Precision(0.7)).unwrap();
    assert_eq!(advice.yes_from, Some(0.35));
    assert_eq!(advice.held_out.precision, Proportion { count: 8, of: 10 });
}

#[test]
fn a_recall_is_reached_by_the_most_precise_cutoff_that_does() {
    let rows = [(0.2, true), (0.3, false), (0.5, true), (0.9, true)];
    let two_thirds = advice(&rows, CutoffGoal::Recall(0.6));
    assert_eq!(cutoffs(&two_thirds), (Some(0.4), Some(0.4)));
    assert_eq!(two_thirds.behind, 30);
    assert_eq!(two_thirds.held_out.recall, Proportion { count: 20, of: 30 });
    let all = advice(&rows, CutoffGoal::Recall(1.0));
    assert_eq!(cutoffs(&all), (Some(0.1), Some(0.1)));
    // a lower cutoff finds more and is right more often
    let rows = [(0.2, true), (0.5, true), (0.5, false), (0.9, true)];
    let better = advice(&rows, CutoffGoal::Recall(0.6));
    assert_eq!(cutoffs(&better), (Some(0.1), Some(0.1)));
    let none = advice(&[(0.5, false)], CutoffGoal::Recall(0.5));
    assert_eq!(cutoffs(&none), (None, None));
    let too_low = advice(&[(0.009, true)], CutoffGoal::Recall(0.5));
    assert_eq!(cutoffs(&too_low), (None, None));
}

#[test]
fn most_yes_that_are_false_alarms_are_reported() {
    let outlook = |yes: f64| {
        let mut rows = vec![(0.3, false); 190];
        rows.extend(vec![(yes, true); 10]);
        let plan = yes_no_answers(&rows).automation_plan(CutoffGoal::Recall(0.9), None);
        assert_eq!(plan.recommended, Some(1), "{plan:?}");
        plan.outlook()
    };
    let alarms = "Most Yes are then false alarms: let a person check each of them.";
    assert!(outlook(0.3).ends_with(alarms), "{}", outlook(0.3));
    assert!(!outlook(0.4).contains("alarms"), "{}", outlook(0.4));
}

#[test]
fn answers_that_reach_the_goal_only_together_are_kept_with_checks() {
    // of 100 answers 6 are wrong, but of 10 Yes 5 are
    let mut rows = vec![(0.9, true); 5];
    rows.extend(vec![(0.9, false); 5]);
    rows.extend(vec![(0.1, false); 89]);
    rows.push((0.1, true));
    let plan = yes_no_answers(&rows).automation_plan(CutoffGoal::Precision(0.9), None);
    assert_eq!(plan.recommended, None);
    assert_eq!(plan.headline(), "Let people check some of the answers.");
    let outlook = plan.outlook();
    assert!(
        outlook.contains(" Of 1,000 such answers about 60 are wrong, "),
        "{outlook}"
    );
    assert!(
        outlook.ends_with("of 1,000 Yes about 500 are wrong: let a person check each Yes."),
        "{outlook}"
    );
    let plan = yes_no_answers(&rows).automation_plan(CutoffGoal::Precision(0.95), None);
    assert_eq!(plan.headline(), "Let people answer.");
    // a goal of Yes alone is answered with how many Yes are right
    let plan = yes_no_answers(&rows).automation_plan(CutoffGoal::YesPrecision(0.9), None);
    assert_eq!(plan.headline(), "Let people check each Yes.");
    let outlook = plan.outlook();
    assert!(
        outlook.contains("5 of 10 Yes are right. So few Yes"),
        "{outlook}"
    );
    // a guarantee is one for Yes and No together, too
    let many: Vec<_> = rows.iter().flat_map(|row| [*row; 5]).collect();
    let promise = CertifiedGoal::new(0.1, 0.95);
    let plan = yes_no_answers(&many).automation_plan(CutoffGoal::Precision(0.9), promise);
    assert!(plan.keeps_cutoffs(), "{plan:?}");
    let headline = "Keep the cutoffs as they are now, and have each Yes checked.";
    assert_eq!(plan.headline(), headline);
    let weak = "But of 1,000 Yes about 500 are wrong: let a person check each Yes.";
    assert!(plan.outlook().ends_with(weak), "{}", plan.outlook());
    // one that is not kept names the one that these marks give, and what a stricter one needs
    let promise = CertifiedGoal::new(0.05, 0.95);
    let plan = yes_no_answers(&many).automation_plan(CutoffGoal::Precision(0.95), promise);
    assert_eq!(plan.laxer, Some(0.1));
    let step = plan.next_step().unwrap();
    assert!(
        step.ends_with(
            "guarantee at most 100 wrong of 1,000: ask for that if you can live with it."
        ),
        "{step}"
    );
    assert!(
        step.starts_with("A guarantee of at most 50 is out of reach. For one of at most 80"),
        "{step}"
    );
}

#[test]
fn costs_are_weighed_and_the_middle_of_the_first_gap_is_taken() {
    let costs = |wrong_yes, wrong_no| CutoffGoal::Costs {
        wrong_yes,
        wrong_no,
    };
    let equal = advice(&MIXED, costs(1.0, 1.0));
    // one kind of wrong row from 21 to 40 and from 61 to 80
    assert_eq!(cutoffs(&equal), (Some(0.3), Some(0.3)));
    // 10 of 60 rows where the cutoff was chosen
    assert_close(equal.held_out.cost, 14.0 / 60.0);
    assert_eq!((equal.behind, equal.marked_yes), (30, 30));
    let costly_yes = advice(&MIXED, costs(5.0, 1.0));
    assert_eq!(cutoffs(&costly_yes), (Some(0.7), Some(0.7)));
    let free = advice(&MIXED, costs(0.0, 0.0));
    assert_eq!(cutoffs(&free), (Some(0.3), Some(0.3)));
    let rare = advice(&[(0.1, false), (0.2, false), (0.9, true)], costs(1.0, 1.0));
    assert_eq!(rare.behind, 10);
    let frequent = advice(&[(0.1, false), (0.8, true), (0.9, true)], costs(1.0, 1.0));
    assert_eq!(frequent.behind, 10);
}

#[test]
fn a_goal_outside_its_range_has_no_cutoffs() {
    for goal in [
        CutoffGoal::Precision(1.5),
        CutoffGoal::Precision(f64::NAN),
        CutoffGoal::Recall(-0.1),
        CutoffGoal::Costs {
            wrong_yes: -1.0,
            wrong_no: 1.0,
        },
        CutoffGoal::Costs {
            wrong_yes: 1.0,
            wrong_no: f64::INFINITY,
        },
    ] {
        assert_eq!(cutoffs(&advice(&MIXED, goal)), (None, None), "{goal:?}");
    }
}

#[test]
fn the_cutoff_in_force_stays_where_no_whole_percent_is_better() {
    let rows: Vec<(Answer, &str)> = [(0.502, "no"), (0.508, "yes"), (0.9, "yes"), (0.1, "no")]
        .iter()
        .flat_map(|(probability, mark)| std::iter::repeat_n((yes_no(*probability), *mark), 10))
        .collect();
    let now = Cutoffs::new(Some(0.505), None).unwrap();
    let answers = marked_with(&yes_no_question(), now, &rows);
    for goal in [
        CutoffGoal::Precision(0.6),
        CutoffGoal::Recall(0.9),
        CutoffGoal::Costs {
            wrong_yes: 1.0,
            wrong_no: 1.0,
        },
    ] {
        let advice = answers.advise_cutoffs(goal).unwrap();
        assert_eq!(cutoffs(&advice), (Some(0.505), Some(0.505)), "{goal:?}");
        assert_eq!(advice.cutoffs(now), Some(now));
    }
    let in_force = answers.measures_in_force().unwrap();
    assert_eq!(in_force.precision, Proportion { count: 20, of: 20 });
    assert_eq!(in_force.recall, Proportion { count: 20, of: 20 });
    assert_eq!(in_force.coverage, Proportion { count: 40, of: 40 });
}

#[test]
fn only_a_yes_no_question_has_cutoffs() {
    let topic = marked(&choice_question(&["a", "b"]), &[]);
    assert_eq!(topic.advise_cutoffs(CutoffGoal::Recall(0.5)), None);
    let nothing = yes_no_answers(&[]);
    let advice = nothing.advise_cutoffs(CutoffGoal::Precision(0.5)).unwrap();
    assert_eq!((cutoffs(&advice), advice.marks), ((None, None), 0));
}
