//! What the questions of a prism were answered with lately, and the cutoffs in force.

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::{Question, QuestionType};
use refract_evaluation::counting::column_tally::ValueCount;
use refract_service::prisms::Prism;
use refract_service::results::{AnswerShares, QuestionShares};

use crate::components::{count, counted, prism_address, share, share_bar, type_name};

/// Days that are counted.
pub(super) const DAYS: i64 = 14;
/// The most outcomes of a question that get a bar.
const DRAWN: usize = 6;

/// The questions, each with the shares of its answers, its cutoffs and its marks.
pub(super) fn questions(
    prism: &Prism,
    asked: &[Question],
    shares: &AnswerShares,
    role: Role,
) -> Markup {
    let address = prism_address(prism);
    html! {
        h2 { "What it asks" }
        p.soft {
            @if shares.results == 0 { "No answers in the last " (DAYS) " days." }
            @else if shares.has_older { "Shares among the newest " (counted(shares.results, "answer")) "." }
            @else { "Shares among the " (counted(shares.results, "answer")) " of the last " (DAYS) " days." }
        }
        @for question in asked {
            @let counted_question = shares.questions.iter().find(|it| it.tally.column.question == question.key);
            section.asked {
                h3 { bdi { (question.text) } " " code.soft { (question.key) } }
                @if let Some(counted_question) = counted_question { (answers(&address, question, counted_question)) }
            }
        }
        @if role.may(Role::Editor) { p { a href={ (address) "/edit" } { "Edit the questions" } } }
    }
}

fn answers(address: &str, question: &Question, shares: &QuestionShares) -> Markup {
    let tally = &shares.tally;
    let all = tally.values.iter().map(ValueCount::cells).sum::<u64>() + tally.empty;
    let mut most: Vec<_> = tally.values.iter().map(ValueCount::cells).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    let least = most.get(DRAWN - 1).copied().unwrap_or_default();
    let (drawn, rest): (Vec<_>, Vec<_>) = tally
        .values
        .iter()
        .partition(|value| tally.values.len() <= DRAWN || value.cells() >= least.max(1));
    let is_yes_no = question.question_type() == QuestionType::YesNo;
    let cutoffs = tally.column.output.cutoffs();
    html! {
        @if all > 0 {
            table.bars {
                caption.unseen { "Shares of the answers to " (question.key) }
                tbody {
                    @for value in drawn {
                        tr.(value.key)[is_yes_no] {
                            th scope="row" {
                                a href={ (address) "/results?answer=" (question.key) "%3A" (value.key) } { bdi { (value.label) } }
                            }
                            td { (share_bar(value.cells(), all)) }
                        }
                    }
                }
            }
            @if !rest.is_empty() { p.hint { "and " (counted(rest.len(), "other outcome")) } }
        }
        p.hint {
            (type_name(question.question_type()))
            @if let Some(cutoffs) = cutoffs { " · " (in_force(cutoffs)) " " a href={ (address) "/lens?question=" (question.key) } { "Move a cutoff" } }
            " · " (counted(shares.marked, "mark"))
            @if tally.empty > 0 {
                @if let Some(none) = share(tally.empty, all) { " · no valid answer: " (none) " % (" (count(tally.empty)) ")" }
            }
        }
    }
}

/// The cutoffs of a label in one sentence.
fn in_force(cutoffs: Cutoffs) -> String {
    let percent = |share: f64| {
        let text = format!("{:.2}", share * 100.0);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let no_below = percent(cutoffs.no_ends_at().value());
    match cutoffs.yes_from() {
        Some(yes_from) => format!(
            "No below {no_below} %, Yes from {} %.",
            percent(yes_from.value())
        ),
        None => format!("Yes from {no_below} %."),
    }
}
