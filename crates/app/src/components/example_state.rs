//! An example text of a prism beside what a version answers: the state in words, and the answers
//! beside the expected ones.

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::lens::Column;
use refract_domain::prism::Question;
use refract_domain::result::mark;
use refract_service::prisms::ExampleState;

use super::bars::{bar, describe_answer};
use super::readable::{count, counted};

/// The state of an example, with a sign and a word, so that the page does not rely on colour.
pub(crate) fn example_state(state: &ExampleState) -> Markup {
    html! {
        @match state {
            ExampleState::Broken => strong.differs { "✕ Broken" },
            ExampleState::Holds => span.agrees { "✓ Holds" },
            ExampleState::NotChecked => span.soft { "Not checked yet" },
            ExampleState::NothingExpected => span.soft { "Nothing expected" },
            ExampleState::Failed(error) => { span.failed { "No answer" } " " span.soft { (error) } },
            ExampleState::LacksFields(fields) => {
                span.soft {
                    "Cannot be asked: it has no value for "
                    @for (place, field) in fields.iter().enumerate() {
                        @if place > 0 { ", " } code { (field) }
                    }
                }
            }
        }
    }
}

/// How many examples are broken, in red with a sign; how many are not checked; or that all hold.
pub(crate) fn broken_examples(states: &[ExampleState]) -> Markup {
    let of = |wanted: fn(&ExampleState) -> bool| states.iter().filter(|one| wanted(one)).count();
    let (all, broken) = (states.len(), of(ExampleState::is_broken));
    let holding = of(|state| *state == ExampleState::Holds);
    let open = all - broken - holding - of(|state| *state == ExampleState::NothingExpected);
    html! {
        @if broken > 0 {
            strong.differs {
                "✕ " (count(broken)) " of " (counted(all, "example"))
                @if broken == 1 { " is" } @else { " are" } " broken."
            }
        } @else if holding == all {
            span.agrees { @if all == 1 { "✓ The example holds." } @else { "✓ All " (count(all)) " examples hold." } }
        } @else {
            "No example is broken so far."
        }
        @if open > 0 {
            " " (counted(open, "example")) @if open == 1 { " was" } @else { " were" } " not checked."
        }
    }
}

/// The label of an outcome, in the words of the version.
pub(crate) fn outcome_label<'a>(question: &'a Question, outcome: &'a str) -> &'a str {
    let mut outcomes = mark::outcomes(question);
    let found = outcomes.find(|one| one.key == outcome);
    found.map_or(outcome, |one| one.label)
}

/// An answer as the lens reads it, with its probability.
pub(crate) fn answer_in_short(question: &Question, answer: &Answer, lens: &[Column]) -> Markup {
    let (label, probability) = describe_answer(question, answer, lens);
    let short = html! {
        bdi { (label) }
        @if let Some(probability) = probability { " " (bar(probability, true)) }
    };
    html! {
        @match answer {
            Answer::YesNo { .. } => span.(label.to_lowercase()) { (short) },
            Answer::Choice { .. } | Answer::Scale { .. } => (short),
        }
    }
}
