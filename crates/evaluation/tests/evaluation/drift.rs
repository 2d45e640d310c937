//! The drift of a question between two windows, alarms, and requirements on both.

use refract_domain::answer::Answer;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::drift::{
    AlarmCause, AnswerTally, DriftRequirement, QuestionDrift, RequiredFigures, WatchedQuestion,
    WatchedSpan, alarms,
};

fn question(json: &str) -> Question {
    serde_json::from_str(json).unwrap()
}

fn angry() -> Question {
    question(r#"{"key": "angry", "type": "yes_no", "text": "Is the writer angry?"}"#)
}

/// Answers to a Yes / No: percents of yes with their numbers.
fn percents(answers: &[(u32, usize)]) -> AnswerTally {
    let mut tally = AnswerTally::default();
    for (percent, number) in answers {
        let json = format!(
            r#"{{"type": "yes_no", "probability": {}}}"#,
            f64::from(*percent) / 100.0
        );
        let answer: Answer = serde_json::from_str(&json).unwrap();
        (0..*number).for_each(|_| tally.add(&answer));
    }
    tally
}

fn between(cutoffs: Cutoffs, now: &AnswerTally, before: &AnswerTally) -> QuestionDrift {
    QuestionDrift::between(&angry(), cutoffs, now, before)
}

fn watched(window: QuestionDrift) -> WatchedQuestion {
    WatchedQuestion {
        window,
        newest: None,
    }
}

fn counts(drift: &QuestionDrift) -> Vec<(&str, u64, u64)> {
    let shares = drift.shares.iter();
    let counts = shares.map(|it| {
        (
            it.outcome.as_str(),
            it.change.now.count,
            it.change.before.count,
        )
    });
    counts.collect()
}

#[test]
fn cutoffs_label_both_windows_when_they_are_compared() {
    let (now, before) = (
        percents(&[(30, 2), (50, 3), (90, 5)]),
        percents(&[(50, 4), (60, 1)]),
    );
    let automatic = between(Cutoffs::AUTOMATIC, &now, &before);
    assert_eq!(counts(&automatic), [("yes", 8, 5), ("no", 2, 0)]);
    let band = Cutoffs::new(Some(0.4), Some(0.6)).unwrap();
    let with_band = between(band, &now, &before);
    let expected = [("yes", 5, 1), ("unsure", 3, 4), ("no", 2, 0)];
    assert_eq!(counts(&with_band), expected);
    assert_eq!((with_band.now, with_band.before), (10, 5));
}

#[test]
fn shares_of_a_choice_are_in_the_order_of_its_options_and_leave_unknown_ones_out() {
    let topic = question(
        r#"{"key": "topic", "type": "choice", "text": "What?", "options": [
            {"key": "billing", "label": "Billing"}, {"key": "apps", "label": "Apps"}]}"#,
    );
    let mut now = AnswerTally::default();
    for value in [r#""apps""#, "null", r#""apps""#] {
        let json = format!(
            r#"{{"type": "choice", "value": {value}, "probabilities": {{"apps": 1}}, "confidence": 1}}"#
        );
        now.add(&serde_json::from_str(&json).unwrap());
    }
    let drift = QuestionDrift::between(&topic, Cutoffs::AUTOMATIC, &now, &now);
    let expected = [
        ("billing", 0, 0),
        ("apps", 2, 2),
        ("other", 0, 0),
        ("insufficient_information", 0, 0),
    ];
    assert_eq!(counts(&drift), expected);
    assert_eq!(drift.shares[1].change.now.of, 3);
}

#[test]
fn only_a_large_and_unlikely_change_is_an_alarm() {
    let before = percents(&[(10, 7_000), (90, 3_000)]);
    let of = |yes: usize, no: usize| {
        let now = percents(&[(10, no), (90, yes)]);
        alarms(&[watched(between(Cutoffs::AUTOMATIC, &now, &before))]).remove(0)
    };
    // as before, likely by chance, and large
    assert_eq!(of(150, 350), None);
    assert_eq!(of(170, 330), None);
    let alarm = of(220, 280).unwrap();
    assert_eq!(alarm.span, WatchedSpan::Window);
    assert!(matches!(alarm.cause, AlarmCause::Share(_)));
    // unlikely, but of no size that matters
    let before = percents(&[(10, 700_000), (90, 300_000)]);
    let now = percents(&[(10, 690_000), (90, 310_000)]);
    let drift = between(Cutoffs::AUTOMATIC, &now, &before);
    assert!(drift.shares[0].change.p() < 1e-9);
    assert_eq!(alarms(&[watched(drift)]), [None]);
}

#[test]
fn the_newest_answers_and_probabilities_alone_raise_alarms_too() {
    let before = percents(&[(10, 7_000), (90, 3_000)]);
    let window = percents(&[(10, 7_000), (90, 3_100)]);
    let newest = percents(&[(10, 250), (90, 250)]);
    let found = alarms(&[WatchedQuestion {
        window: between(Cutoffs::AUTOMATIC, &window, &before),
        newest: Some(between(Cutoffs::AUTOMATIC, &newest, &before)),
    }]);
    let alarm = found[0].as_ref().unwrap();
    assert_eq!(alarm.span, WatchedSpan::Newest);
    // every label is as before, every probability another
    let doubtful = percents(&[(40, 350), (60, 150)]);
    let found = alarms(&[watched(between(Cutoffs::AUTOMATIC, &doubtful, &before))]);
    assert_eq!(found[0].as_ref().unwrap().cause, AlarmCause::Probabilities);
    // nothing to compare with
    let nothing = AnswerTally::default();
    let found = alarms(&[watched(between(Cutoffs::AUTOMATIC, &doubtful, &nothing))]);
    assert_eq!(found, [None]);
}

#[test]
fn a_requirement_bounds_a_figure_of_a_question_or_an_outcome() {
    let (now, before) = (
        percents(&[(10, 300), (90, 200)]),
        percents(&[(10, 700), (90, 300)]),
    );
    let drift = between(Cutoffs::AUTOMATIC, &now, &before);
    let figures = RequiredFigures {
        drift: &drift,
        is_alarm: true,
        new_models: 2,
    };
    let check = |text: &str| {
        let requirement = DriftRequirement::parse(text).unwrap();
        assert_eq!(requirement.to_string(), text.replace(' ', ""));
        assert_eq!(requirement.question().as_str(), "angry");
        let checked = requirement.check(&figures).unwrap();
        (checked.holds, checked.value.unwrap())
    };
    assert_eq!(check("angry.alarm<1"), (false, 1.0));
    assert_eq!(check("angry.new_models<=2"), (true, 2.0));
    assert!(check("angry.psi <= 0.2").0 && check("angry.js<0.5").0);
    assert_eq!(check("angry.yes.now>=0.4"), (true, 0.4));
    assert!(check("angry.no.difference<0").0 && !check("angry.no.change<0.05").0);
    let (low, high) = (check("angry.yes.low>0").1, check("angry.yes.high<0.2").1);
    assert!(low < 0.1 && 0.1 < high);
    // nothing is defined without answers, but there is no alarm either
    let nothing = between(Cutoffs::AUTOMATIC, &now, &AnswerTally::default());
    let undefined = RequiredFigures {
        drift: &nothing,
        is_alarm: false,
        new_models: 0,
    };
    let check = |text: &str| {
        DriftRequirement::parse(text)
            .unwrap()
            .check(&undefined)
            .unwrap()
    };
    assert!(!check("angry.psi<9").holds && check("angry.psi<9").value.is_none());
    assert!(!check("angry.yes.change<9").holds);
    assert!(check("angry.alarm<1").holds);
}

#[test]
fn a_requirement_on_drift_that_cannot_be_read_names_what_is_wrong() {
    let refused = |text: &str| DriftRequirement::parse(text).unwrap_err().to_string();
    for (text, expected) in [
        ("angry.psi", "has no operator"),
        ("angry<1", "names no measure"),
        ("angry.psi<much", "`much` is no number"),
        ("angry.accuracy<1", "there are alarm, psi, js, new_models"),
        (
            "angry.yes.recall<1",
            "there are now, difference, change, low, high",
        ),
        ("Angry.psi<1", "`Angry` is no key"),
        ("angry.Yes.now<1", "`Yes` is no key"),
    ] {
        let message = refused(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
    let nothing = between(
        Cutoffs::AUTOMATIC,
        &AnswerTally::default(),
        &AnswerTally::default(),
    );
    let figures = RequiredFigures {
        drift: &nothing,
        is_alarm: false,
        new_models: 0,
    };
    let unknown = DriftRequirement::parse("angry.maybe.now<1").unwrap();
    let message = unknown.check(&figures).unwrap_err().to_string();
    assert_eq!(message, "question `angry` has no outcome `maybe`");
}
