//! The form with one key for each outcome of a question.

use maud::{Markup, html};
use refract_domain::prism::question::{Question, QuestionType};
use refract_domain::result::mark;
use refract_service::marks::ReviewItem;

use crate::components::answer_bars::bars_of;
use crate::requests::form::Form;

/// The query parameter of the result behind which the queue goes on.
pub(super) const AFTER: &str = "after";
/// The keys of the outcomes, in their order. Letters with a meaning of their own are left out: `y`,
/// `n`, `c`, `s` and `u`.
const KEYS: &str = "1234567890abdefghijklmopqrtvwxz";

/// The outcomes of a question as buttons, and the other things that one can do with a text.
pub(super) fn judging(
    item: &ReviewItem,
    question: &Question,
    form: &Form,
    address: &str,
) -> Markup {
    let id = item.result.id();
    html! {
        form.judging method="post" action=(address) {
            // the Enter key in the note judges nothing
            button type="submit" disabled hidden {}
            input type="hidden" name="result" value=(id);
            input type="hidden" name="question" value=(question.key);
            h2 #question { bdi { (question.text) } }
            @if let Some(instructions) = &question.instructions { p.hint dir="auto" { (instructions) } }
            ul.plain.keys {
                @for (place, outcome) in mark::outcomes(question).enumerate() {
                    li { (outcome_button(question, place, outcome.key, outcome.label)) }
                }
            }
            div.row {
                button type="submit" name="act" value="cannot_tell" data-key="c" { kbd { "c" } " Cannot tell" }
                a.button href={ (address) "?" (AFTER) "=" (id) } data-key="s" { kbd { "s" } " Skip" }
            }
            div.field {
                label for="note" { kbd { "/" } " Note" }
                input #note name="note" type="text" maxlength="200" value=(form.get("note")) dir="auto"
                    autocomplete="off" data-key="/";
            }
        }
    }
}

fn outcome_button(question: &Question, place: usize, key: &str, label: &str) -> Markup {
    let shown = match (question.question_type(), key) {
        (QuestionType::YesNo, "yes") => Some('y'),
        (QuestionType::YesNo, "no") => Some('n'),
        (QuestionType::YesNo | QuestionType::Choice | QuestionType::Scale, _) => {
            KEYS.chars().nth(place)
        }
    };
    html! {
        button type="submit" name="outcome" value=(key) data-key=[shown] {
            @if let Some(shown) = shown { kbd { (shown) } " " }
            bdi { (label) }
        }
    }
}

/// The answer to the question, for a sitting that is not blind.
pub(super) fn answer(item: &ReviewItem, question: &Question) -> Markup {
    let view = item.result.view();
    let answers = view.status.answers();
    html! {
        @if let Some(answer) = answers.and_then(|answers| answers.get(&question.key)) {
            h3 { "The answer" }
            (bars_of(question, answer, item.result.columns().lens))
        }
    }
}
