//! Sample answers of every type for the component sheet, and their definition.

use maud::{Markup, html};
use refract_authoring::prism_file::PrismFile;
use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Distribution};
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::{Question, QuestionType};
use refract_service::prisms::SUPPORT_TRIAGE;

use crate::components::{bars_of, definition, describe_answer, percent};

/// Falling probabilities, in millionths.
const FALLING: [u32; 5] = [724_000, 132_000, 80_000, 40_000, 24_000];

/// The example prism with an answer to each of its questions.
pub(super) fn sample_answers() -> Markup {
    let Ok(file) = PrismFile::read(SUPPORT_TRIAGE.file, None) else {
        return html! { p { "The example prism is broken." } };
    };
    let questions = file.version.questions();
    html! {
        h2 { "Answers" }
        @for question in questions {
            @let answers = [Some(answer(question)), without_outcome(question)];
            @for answer in answers.iter().flatten() {
                @let (word, probability) = describe_answer(question, answer, &[]);
                h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                (bars_of(question, answer, &[]))
                p.soft {
                    "In words: " (word)
                    @if let Some(probability) = probability { ", " (percent(probability)) " %" }
                }
            }
        }
        h2 { "Definition" }
        (definition(&file.version))
    }
}

fn answer(question: &Question) -> Answer {
    let certain = Answer::YesNo {
        probability: Probability::CERTAIN,
    };
    match question.question_type() {
        QuestionType::Choice => Answer::Choice {
            value: falling(question).into_iter().next().map(|(first, _)| first),
            probabilities: falling(question),
            confidence: Probability::CERTAIN,
        },
        QuestionType::Scale => Answer::scale(falling(question)).unwrap_or(certain),
        QuestionType::YesNo => certain,
    }
}

/// The answer of a model that named an option outside the prism; `None` unless the question is a
/// choice.
fn without_outcome(question: &Question) -> Option<Answer> {
    match question.question_type() {
        QuestionType::Choice => Some(Answer::Choice {
            value: None,
            probabilities: falling(question),
            confidence: Probability::default(),
        }),
        QuestionType::Scale | QuestionType::YesNo => None,
    }
}

fn falling(question: &Question) -> Distribution {
    let outcomes = question.outcomes();
    let keys = outcomes.filter_map(|outcome| OutcomeKey::parse(outcome.key).ok());
    keys.zip(FALLING)
        .filter_map(|(key, share)| Some((key, Probability::from_millionths(share)?)))
        .collect()
}
