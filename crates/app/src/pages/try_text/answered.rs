//! The answer of a try, or the answers of two versions side by side.

use maud::{Markup, html};
use refract_domain::prism::question::Question;
use refract_service::Refract;
use refract_service::results::{Provenance, ReadableResult, ResultDetails};

use crate::components::{NoticeKind, answer_bars, bar, count, describe_answer, notice, table};
use crate::pages::result::{cut_notice, order_check_form, retry_form};

/// The model's answer; an explanation before the first try.
pub(super) fn answered(
    refract: &Refract,
    first: Option<&ResultDetails>,
    second: Option<&ResultDetails>,
) -> Markup {
    html! {
        section #answer aria-label="Answer" {
            @match (first, second) {
                (None, _) => {
                    h2 { "Answer" }
                    p.soft { "Write a text and press Answer: the model's probabilities appear here, and the try is kept as a result like all others." }
                }
                (Some(details), None) => {
                    (one(details, |_| false))
                    (order_check_form(refract, &details.result))
                }
                (Some(first), Some(second)) => { (both(first, second)) }
            }
        }
    }
}

fn one(details: &ResultDetails, differs: impl Fn(&Question) -> bool) -> Markup {
    let (result, view) = (&details.result, details.result.view());
    let Provenance {
        model, protocol, ..
    } = &details.provenance;
    html! {
        h2 { "Version " (view.version) }
        p.soft {
            (count(view.took_ms)) " ms · "
            @if let Some(model) = model { "model " bdi { (model) } " · " }
            @if let Some(protocol) = protocol { "protocol " (protocol) " · " }
            a href={ "/results/" (view.id) } { "This result: tokens, attempts, marks" }
        }
        @if let Some(error) = view.status.error() {
            (notice(NoticeKind::Refused, &html! { "The result is failed: " bdi { (error) } }))
            @match details.retried_as {
                None => (retry_form(result, true)),
                Some(retry) => p { "It was retried: " a href={ "/results/" (retry) } { "the retry" } "." },
            }
        }
        @if let Some(tokens) = details.provenance.truncated_to { (cut_notice(tokens)) }
        (answer_bars(result, differs))
    }
}

fn both(first_details: &ResultDetails, second_details: &ResultDetails) -> Markup {
    let (first, second) = (&first_details.result, &second_details.result);
    let differs = |question: &Question| {
        let words = [first, second].map(|result| described(result, question).map(|it| it.0));
        words.first() != words.last()
    };
    let versions = [first, second].map(|it| format!("Version {}", it.view().version));
    let headings: Vec<_> = ["Question"]
        .into_iter()
        .chain(versions.iter().map(String::as_str))
        .chain(["Difference"])
        .collect();
    let of_first = first.view().questions.iter();
    let only_second = second.view().questions.iter();
    let only_second = only_second.filter(|it| first.version().question(&it.key).is_none());
    let rows = html! {
        @for question in of_first.chain(only_second) {
            tr {
                th scope="row" { bdi { (question.text) } " " code.soft { (question.key) } }
                @for result in [first, second] {
                    td {
                        @match described(result, question) {
                            Some((words, probability)) => {
                                bdi { (words) } " "
                                @if let Some(probability) = probability { (bar(probability, true)) }
                            }
                            None => span.soft { "no answer" }
                        }
                    }
                }
                td { @if differs(question) { strong { "differs" } } @else { "alike" } }
            }
        }
    };
    html! {
        h2 { "Both versions" }
        (table("The answers of both versions", &headings, &rows))
        div.split {
            div { (one(first_details, differs)) }
            div { (one(second_details, differs)) }
        }
    }
}

/// A result's answer to a question: its label with its probability.
fn described<'a>(
    result: &'a ReadableResult,
    question: &Question,
) -> Option<(
    &'a str,
    Option<refract_domain::answer::probability::Probability>,
)> {
    let view = result.view();
    let question = view.questions.iter().find(|it| it.key == question.key)?;
    let answer = view.status.answers()?.get(&question.key)?;
    Some(describe_answer(question, answer, result.columns().lens))
}
