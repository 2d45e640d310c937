//! What was judged last, beside the answer, with undo.

use maud::{Markup, html};
use refract_domain::answer::Answer;
use refract_domain::prism::question::Question;
use refract_domain::result::mark;
use refract_service::CallError;
use refract_service::lenses::PrismLens;
use refract_service::marks::{ReviewStep, Sitting};
use refract_service::results::ReadableResult;

use crate::components::describe_answer::describe_answer;
use crate::components::number::percent;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The last judgement of a sitting; nothing before the first one, or when the result is gone.
pub(super) async fn last_step(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    address: &str,
) -> Result<Markup, PageError> {
    let Some(step) = sitting.steps().last() else {
        return Ok(html! {});
    };
    let results = visit.refract.results();
    let result = match results.find(lens.prism.account, step.result).await {
        Ok(result) => result,
        Err(CallError::Internal(error)) => return Err(error.into()),
        Err(_) => return Ok(html! {}),
    };
    let question = result.version().question(&step.question);
    Ok(html! {
        form.last-step.row method="post" action={ (address) "/undo" } {
            p role="status" {
                @if let Some(question) = question { (described(step, question, &result)) }
                " " a href={ "/results/" (step.result) } { "See the result" }
            }
            button.quiet type="submit" data-key="u" { kbd { "u" } " Undo" }
        }
    })
}

fn described(step: &ReviewStep, question: &Question, result: &ReadableResult) -> Markup {
    let view = result.view();
    let answer = view.status.answers();
    let answer = answer.and_then(|answers| answers.get(&question.key));
    let outcome = step.outcome.as_ref();
    let marked = outcome
        .and_then(|key| mark::outcomes(question).find(|outcome| outcome.key == key.as_str()));
    html! {
        "You: " strong { bdi { (marked.map_or("cannot tell", |outcome| outcome.label)) } }
        @if let Some(answer) = answer {
            ". The answer: " (answered(question, answer, result)) ". "
        }
        @match step.is_right {
            Some(true) => span.agrees { "✓ The same" },
            Some(false) => span.differs { "✗ Another" },
            None => {}
        }
    }
}

fn answered(question: &Question, answer: &Answer, result: &ReadableResult) -> Markup {
    let (label, probability) = describe_answer(question, answer, result.columns().lens);
    html! {
        bdi { (label) }
        @if let Some(probability) = probability {
            ", " (percent(probability)) " %"
            @if let Answer::YesNo { .. } = answer { " yes" }
        }
    }
}
