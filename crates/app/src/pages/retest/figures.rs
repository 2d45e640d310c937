//! How many answers to each question flip, towards what, and which answers marks prefer.

use maud::{Markup, html};
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::Question;
use refract_domain::result::mark;
use refract_evaluation::comparison::{Comparison, ComparisonVerdict};
use refract_evaluation::flips::FlipMeasures;
use refract_service::measures::RetestedQuestion;

use crate::components::interval_bar::{interval_bar, proportion_range};
use crate::components::number::{count, counted};
use crate::components::table::stacked_table;

/// The most directions of a question that are shown.
const DIRECTIONS: usize = 8;

/// The questions, in their order.
pub(super) fn section(questions: &[RetestedQuestion]) -> Markup {
    html! {
        @for retested in questions { (of_question(&retested.question, &retested.measures())) }
    }
}

fn of_question(question: &Question, measures: &FlipMeasures) -> Markup {
    let (rate, shown) = (measures.flip_rate, measures.towards.iter().take(DIRECTIONS));
    let rest = measures.towards.iter().skip(DIRECTIONS);
    let rest: u64 = rest.map(|direction| direction.count).sum();
    let rows = html! {
        @for direction in shown {
            tr {
                td data-label="Before" { bdi { (label(question, direction.from.as_ref())) } }
                td data-label="After" { bdi { (label(question, direction.to.as_ref())) } }
                td.number data-label="Flips" { (count(direction.count)) }
            }
        }
    };
    html! {
        section data-question=(question.key) {
            h3 { bdi { (question.text) } }
            p {
                strong { (counted(rate.count, "flip")) } " of " (counted(rate.of, "answer")) ": "
                data data-figure="flip_rate" value=[rate.value()] { (proportion_range(rate)) }
                " " (interval_bar(rate))
            }
            @if !measures.towards.is_empty() {
                (stacked_table("Flips by outcome", &["Before", "After", "Flips"], &rows))
                @if rest > 0 { p.soft { "and " (counted(rest, "flip")) " otherwise." } }
            }
            @if let Some(comparison) = &measures.marked { (marked(comparison)) }
        }
    }
}

/// Which answers are right more often on the marked texts.
fn marked(comparison: &Comparison) -> Markup {
    let verdict = match comparison.verdict() {
        ComparisonVerdict::Equal => "Both are right equally often.",
        ComparisonVerdict::MayBeChance => "The difference may be chance.",
        ComparisonVerdict::FirstIsBetter => {
            "The answers before are better: so large a difference is unlikely to be chance."
        }
        ComparisonVerdict::SecondIsBetter => {
            "The new answers are better: so large a difference is unlikely to be chance."
        }
    };
    html! {
        p {
            strong { (verdict) } " "
            (counted(comparison.rows, "marked text")) ": only the answer before is right on "
            (count(comparison.only_a_right)) ", only the new one on " (count(comparison.only_b_right))
            "; McNemar p " data data-figure="mcnemar_p" value=(comparison.mcnemar_p) {
                (format!("{:.3}", comparison.mcnemar_p))
            }
            "."
        }
    }
}

/// The label of an outcome; its key if only another version has it.
pub(super) fn label<'a>(question: &'a Question, outcome: Option<&'a OutcomeKey>) -> &'a str {
    let Some(outcome) = outcome else {
        return "no outcome";
    };
    let mut outcomes = mark::outcomes(question);
    let found = outcomes.find(|known| known.key == outcome.as_str());
    found.map_or(outcome.as_str(), |known| known.label)
}
