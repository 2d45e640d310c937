//! The measures of a question on one screen.

use indicatif::HumanCount;
use refract_evaluation::cutoffs::advice::FEW_MARKS;
use refract_evaluation::measures::figures::range;

use super::layout::wrapped;
use super::measured_question::MeasuredQuestion;
use super::{calibration, outcomes};
use crate::output::report;
use crate::terminal::{self, Palette, counted};

/// The lines of the screen, within the width unless the outcomes' keys are too long.
pub(super) fn lines(measured: &MeasuredQuestion, width: usize) -> Vec<String> {
    let palette = Palette::of_stdout();
    let mut lines = head(measured, &palette, width);
    if measured.measures.marks == 0 {
        return lines;
    }
    lines.extend(figures(measured, width));
    lines.push(String::new());
    lines.extend(outcomes::lines(&measured.measures, &palette, width));
    lines.push(String::new());
    lines.extend(calibration::lines(measured, &palette, width));
    lines
}

fn head(measured: &MeasuredQuestion, palette: &Palette, width: usize) -> Vec<String> {
    let question = &measured.question;
    let key = question.key.as_str();
    let kind = format!(" ({}): ", question.question_type().name());
    let left = width.saturating_sub(key.len() + kind.len());
    let text = terminal::fit(&question.text, left);
    let heading = format!("{}{kind}{}", palette.heading.apply_to(key), text.trim_end());
    let numbers = &measured.measures;
    if numbers.marks == 0 {
        return vec![heading, "no marks".to_owned()];
    }
    let version = measured.version.map_or_else(
        || "several versions".to_owned(),
        |version| format!("version {}", version.get()),
    );
    let model = measured.model.as_ref().map_or_else(
        || "several or unknown models".to_owned(),
        |model| format!("model {}", terminal::plain(model)),
    );
    let mut lines = vec![
        heading,
        format!(
            "{}, {} of them answered; {version}; {model}",
            counted(numbers.marks, "mark"),
            HumanCount(numbers.answered),
        ),
    ];
    if numbers.marks < FEW_MARKS {
        let warning = format!(
            "Fewer than {FEW_MARKS} marks: the intervals are wide, and any number here may be chance."
        );
        lines.push(palette.bad.apply_to(warning).to_string());
    }
    lines
}

fn figures(measured: &MeasuredQuestion, width: usize) -> Vec<String> {
    let numbers = &measured.measures;
    let accuracy = range(numbers.accuracy.value(), numbers.accuracy.interval());
    let mut parts = vec![format!("Accuracy {accuracy}")];
    let figures = numbers.figures();
    parts.extend(figures.rows.iter().filter_map(|row| match row.as_slice() {
        [label, value, ..] => Some(format!("{} {}", report::cell(label), report::cell(value))),
        _ => None,
    }));
    let mut lines = wrapped(&parts, "   ", width);
    lines.extend(numbers.log_loss_of_zero());
    lines
}

#[cfg(test)]
mod tests {
    use refract_domain::answer::Answer;
    use refract_domain::lens::cutoffs::Cutoffs;
    use refract_domain::prism::question::Question;
    use refract_evaluation::marked::answer::MarkedAnswer;
    use refract_evaluation::marked::answers::MarkedAnswers;
    use serde_json::json;

    use super::*;

    fn measured(question: &Question, answers: impl Iterator<Item = (Answer, String)>) -> String {
        let cutoffs = Cutoffs::new(Some(0.4), Some(0.6)).unwrap();
        let mut marked = MarkedAnswers::new(question.question_type(), cutoffs);
        marked.expect_outcomes(question).unwrap();
        for (answer, mark) in answers {
            let mark = serde_json::from_value(json!(mark)).unwrap();
            let row = MarkedAnswer {
                question,
                answer: &answer,
                mark: &mark,
                model: Some("m"),
            };
            marked.add(&row).unwrap();
        }
        let measured = MeasuredQuestion::new(question.clone(), None, None, &marked);
        for width in [80, 100] {
            let lines = lines(&measured, width);
            assert!(lines.len() <= 40, "{}", lines.join("\n"));
            let widest = lines.iter().map(|line| terminal::columns_of(line)).max();
            assert!(widest <= Some(width), "{}", lines.join("\n"));
        }
        lines(&measured, 100).join("\n")
    }

    #[test]
    fn two_hundred_outcomes_fit_too() {
        let options: Vec<_> = (0..200)
            .map(|number| json!({"key": format!("a_very_long_key_of_option_{number}"), "label": "L"}))
            .collect();
        let question = json!({"key": "topic", "type": "choice", "text": "long ".repeat(99), "options": options});
        let question: Question = serde_json::from_value(question).unwrap();
        let rows = (0..400).map(|number: usize| {
            let key = |number: usize| format!("a_very_long_key_of_option_{}", number % 200);
            let answer = json!({"type": "choice", "value": key(number * 7 / 2), "confidence": 0.5,
                "probabilities": {key(number * 7 / 2): 0.7, key(number): 0.3}});
            (serde_json::from_value(answer).unwrap(), key(number / 30))
        });
        let screen = measured(&question, rows);
        assert!(
            screen.contains("and 193 more outcomes, marked "),
            "{screen}"
        );
        assert!(
            screen.contains("Most mistaken (marked > predicted):"),
            "{screen}"
        );
        assert!(
            screen.contains("several versions; several or unknown models"),
            "{screen}"
        );
    }

    #[test]
    fn answers_that_are_all_unsure_have_no_accuracy() {
        let question = json!({"key": "angry", "type": "yes_no", "text": "Angry?"});
        let question: Question = serde_json::from_value(question).unwrap();
        let unsure: Answer =
            serde_json::from_value(json!({"type": "yes_no", "probability": 0.5})).unwrap();
        let rows = ["yes", "no"].map(|mark| (unsure.clone(), mark.to_owned()));
        let screen = measured(&question, rows.into_iter());
        assert!(screen.contains("2 marks, 0 of them answered"), "{screen}");
        assert!(
            screen.contains("Accuracy –   Majority –   AUC 0.500   "),
            "{screen}"
        );
        for figure in ["Macro F1 –", "Brier score 0.250"] {
            assert!(screen.contains(figure), "{figure}: {screen}");
        }
        assert!(screen.contains("Fewer than 30 marks"), "{screen}");
        assert!(measured(&question, std::iter::empty()).ends_with("\nno marks"));
        assert!(!screen.contains("log loss counts"), "{screen}");
    }

    #[test]
    fn what_stands_for_0_is_stated_where_a_server_rounds() {
        let question = json!({"key": "angry", "type": "yes_no", "text": "Angry?"});
        let question: Question = serde_json::from_value(question).unwrap();
        let rows = (0..40).map(|percent| {
            let answer = json!({"type": "yes_no", "probability": f64::from(percent) / 100.0});
            (serde_json::from_value(answer).unwrap(), "no".to_owned())
        });
        let screen = measured(&question, rows);
        let line = "The log loss counts 0 as 0.005, half of the server's rounding step.";
        assert!(screen.lines().any(|it| it == line), "{screen}");
    }
}
