//! The answers with the mark beside each, and the changes of marks that a form sends.

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::prism::question::Question;
use refract_domain::result::mark::{self, Mark};
use refract_evaluation::prediction::predicted;
use refract_service::marks::MarkChange;
use refract_service::results::{ReadableResult, ResultDetails};

use crate::components::answer_bars::{bars_of, cutoffs};
use crate::components::field::FormField;
use crate::components::moment::moment;
use crate::requests::form::Form;

/// The answers of an `ok` result as one form, with a select of outcomes for the mark of each.
/// `list` is the query of the list from which one came.
pub(super) fn answers_with_marks(details: &ResultDetails, list: &str) -> Markup {
    let result = &details.result;
    let view = result.view();
    let answers = view.status.answers();
    html! {
        form #marks method="post" action={ "/results/" (result.id()) "/marks" (list) } {
            @for question in view.questions {
                @if let Some(answer) = answers.and_then(|answers| answers.get(&question.key)) {
                    @let mark = details.marks.iter().find(|mark| mark.question == question.key);
                    section.answer tabindex="-1" data-question=(question.key) aria-label=(question.text) {
                        h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                        div.split {
                            div { (bars_of(question, answer, result.columns().lens)) }
                            (right_outcome(result, question, answer, mark))
                        }
                    }
                }
            }
            div.row {
                button type="submit" { "Save marks" }
                p.hint #mark-state role="status" aria-live="polite" {
                    "Marks are kept beside the result and never change it."
                }
            }
        }
    }
}

/// The select of the right outcome, and what is marked.
fn right_outcome(
    result: &ReadableResult,
    question: &Question,
    answer: &Answer,
    mark: Option<&Mark>,
) -> Markup {
    let marked = mark.map_or("", |mark| mark.outcome.as_str());
    let name = format!("mark.{}", question.key);
    let label = format!("Right answer: {}", question.text);
    let options = [("", "not marked")].into_iter();
    let outcomes = mark::outcomes(question).map(|it| (it.key, it.label));
    let options = options.chain(outcomes).collect::<Vec<_>>();
    let cutoffs = cutoffs(question, result.columns().lens);
    let differs = mark
        .is_some_and(|mark| predicted(question, answer, cutoffs).as_ref() != Some(&mark.outcome));
    html! {
        div.mark {
            (FormField::new(&name, "Right answer").value(marked).named(&label).choice(&options))
            input type="hidden" name={ "was." (question.key) } value=(marked);
            @if let Some(mark) = mark {
                p.hint {
                    @if differs { strong.failed { "Differs from the answer. " } } @else { "Agrees with the answer. " }
                    "Marked" @if let Some(by) = &mark.marked_by { " by " bdi { (by) } }
                    ", " (moment(mark.marked_at))
                }
            }
        }
    }
}

/// The changed marks: only those that differ from the marks shown in the form, so that nobody
/// overwrites marks that another person set meanwhile.
pub(super) fn changes(form: &Form, result: &ReadableResult) -> Vec<MarkChange> {
    let questions = result.view().questions.iter();
    let changes = questions.filter_map(|question| {
        let name = format!("mark.{}", question.key);
        let chosen = form.get(&name);
        let is_change = form.has(&name) && chosen != form.get(&format!("was.{}", question.key));
        let outcome = (!chosen.is_empty()).then(|| chosen.to_owned());
        is_change.then(|| (question.key.clone(), outcome))
    });
    changes.collect()
}
