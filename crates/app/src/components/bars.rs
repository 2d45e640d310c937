//! Bars of probabilities, shares and intervals; and the answers of a result with such bars, or in
//! words.

use std::cmp::Reverse;

use maud::{Markup, html};
use refract_domain::answer::{Answer, Distribution, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::{Column, Cutoffs, YesNoLabel};
use refract_domain::prism::Question;
use refract_evaluation::measures::{Interval, Proportion};
use refract_service::results::ReadableResult;

use super::readable::{count, counted, measured_percent, percent, share};

/// A bar for a probability, with its percentage. `is_chosen` marks the answer in words too, so that
/// the page does not rely on colour.
pub(crate) fn bar(probability: Probability, is_chosen: bool) -> Markup {
    draw(probability, is_chosen, None)
}

/// The bar of a Yes / No with its cutoffs: No below the first cutoff, Yes from the second one up,
/// Unsure in between. It says that its probability is that of yes.
pub(crate) fn yes_no_bar(yes: Probability, cutoffs: Cutoffs) -> Markup {
    html! { (draw(yes, true, Some(cutoffs))) span.soft { " yes" } }
}

fn draw(probability: Probability, is_chosen: bool, cutoffs: Option<Cutoffs>) -> Markup {
    let percent = percent(probability);
    let width = format!("{percent}%");
    html! {
        span.probability.chosen[is_chosen] {
            svg.bar aria-hidden="true" {
                rect width=(width) {}
                @if let Some(cutoffs) = cutoffs {
                    @for cutoff in [Some(cutoffs.no_ends_at()), cutoffs.yes_from()].into_iter().flatten() {
                        @let at = format!("{:.2}%", cutoff.value() * 100.0);
                        line.cutoff x1=(at) x2=(at) y1="0" y2="100%" {}
                    }
                }
            }
            span.number { (percent) " %" }
        }
    }
}

/// A bar for `part` of `whole`, with the share in percent and the number on hover.
pub(crate) fn share_bar(part: u64, whole: u64) -> Markup {
    let percent = share(part, whole).unwrap_or_else(|| "0.0".to_owned());
    let width = format!("{percent}%");
    html! {
        span.probability title={ (count(part)) " of " (count(whole)) } {
            svg.bar aria-hidden="true" {
                rect width=(width) {}
            }
            span.number { (percent) " %" }
        }
    }
}

/// A share in percent with its 95 % interval: `86.3 % (81.0 to 90.2)`.
pub(crate) fn share_range(value: Option<f64>, interval: Option<Interval>) -> String {
    let percent = |share| measured_percent(Some(share));
    match (value, interval) {
        (None, _) => "–".to_owned(),
        (Some(value), None) => format!("{} %", percent(value)),
        (Some(value), Some(Interval { low, high })) => {
            format!(
                "{} % ({} to {})",
                percent(value),
                percent(low),
                percent(high)
            )
        }
    }
}

/// A measured proportion in percent, with its interval.
pub(crate) fn proportion_range(proportion: Proportion) -> String {
    share_range(proportion.value(), proportion.interval())
}

/// A bar from 0 to 100 % with the interval as a band and the share as a line. The text beside it
/// has the numbers.
pub(crate) fn interval_bar(share: Option<f64>, interval: Option<Interval>) -> Markup {
    let at = |share: f64| format!("{:.1}%", share * 100.0);
    html! {
        @if let (Some(share), Some(interval)) = (share, interval) {
            svg.bar.interval aria-hidden="true" {
                rect x=(at(interval.low)) width=(at(interval.high - interval.low)) {}
                line.cutoff x1=(at(share)) x2=(at(share)) y1="0" y2="100%" {}
            }
        }
    }
}

/// The most outcomes of one question that get a bar.
const DRAWN: usize = 10;

/// The answers of an `ok` result, each under its question. `differs` returns whether another
/// version answers the question differently.
pub(crate) fn answer_bars(result: &ReadableResult, differs: impl Fn(&Question) -> bool) -> Markup {
    let view = result.view();
    let lens = result.columns().lens;
    let answers = view.status.answers();
    html! {
        @for question in view.questions {
            @if let Some(answer) = answers.and_then(|answers| answers.get(&question.key)) {
                h3 {
                    bdi { (question.text) } " " code.soft { (question.key) }
                    @if differs(question) { " " span.tag { "differs" } }
                }
                (bars_of(question, answer, lens))
            }
        }
    }
}

/// The bars of the answer to one question, with the lens's cutoffs for that question.
pub(crate) fn bars_of(question: &Question, answer: &Answer, lens: &[Column]) -> Markup {
    match answer {
        Answer::Choice {
            value,
            probabilities,
            confidence,
        } => html! {
            @if value.is_none() { p { strong { (NO_VALID_ANSWER) } } }
            (outcomes(question, value.as_ref(), probabilities))
            p.hint { "Confidence " (percent(*confidence)) " %, where 0 % is a guess" }
        },
        Answer::Scale {
            level,
            probabilities,
        } => outcomes(question, Some(level), probabilities),
        Answer::YesNo { probability } => yes_no(question, *probability, lens),
    }
}

fn yes_no(question: &Question, probability: Probability, lens: &[Column]) -> Markup {
    let cutoffs = cutoffs(question, lens);
    let label = cutoffs.label(probability);
    let key = label.key();
    let no_below = cutoffs.no_ends_at().value() * 100.0;
    html! {
        table.bars {
            caption.unseen { "Probability of yes" }
            tbody { tr.chosen.(key) {
                th scope="row" { (label.label()) }
                td { (yes_no_bar(probability, cutoffs)) }
            } }
        }
        p.hint {
            @match cutoffs.yes_from() {
                Some(yes_from) => { "No below " (short(no_below)) " %, yes from " (short(yes_from.value() * 100.0)) " %" }
                None => { "Yes from " (short(no_below)) " %" }
            }
        }
    }
}

/// A percentage with at most two decimals.
fn short(percent: f64) -> String {
    let text = format!("{percent:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn outcomes(
    question: &Question,
    chosen: Option<&OutcomeKey>,
    probabilities: &Distribution,
) -> Markup {
    // the most probable ones are drawn, in the prism's order; the chosen one always is
    let mut ranked: Vec<_> = probabilities.iter().collect();
    ranked.sort_by_key(|(key, probability)| (Some(key) != chosen, Reverse(*probability)));
    let is_drawn = |wanted: &OutcomeKey| ranked.iter().take(DRAWN).any(|(key, _)| key == wanted);
    let (drawn, rest): (Vec<_>, Vec<_>) = probabilities.iter().partition(|(key, _)| is_drawn(key));
    let best = chosen.and_then(|chosen| probabilities.iter().find(|(key, _)| key == chosen));
    let ties = best.map_or(0, |(_, best)| {
        probabilities.iter().filter(|(_, it)| it == best).count()
    });
    let together: u32 = rest.iter().map(|(_, it)| it.millionths()).sum();
    html! {
        table.bars {
            caption.unseen { "Outcomes with their probabilities" }
            tbody {
                @for (key, probability) in drawn {
                    @let is_chosen = Some(key) == chosen;
                    tr.chosen[is_chosen] {
                        th scope="row" {
                            bdi { (question.label_of(key).unwrap_or(key.as_str())) }
                            @if is_chosen { span.unseen { ", the answer" } " ✓" }
                        }
                        td { (bar(*probability, is_chosen)) }
                    }
                }
            }
        }
        @if ties > 1 { p.hint { (count(ties)) " outcomes have the same probability: of these the first is the answer." } }
        @if !rest.is_empty() {
            p.hint {
                "and " (counted(rest.len(), "other outcome"))
                @if let Some(together) = Probability::from_millionths(together) {
                    ", together " (percent(together)) " %"
                }
            }
        }
    }
}

/// The label of a Choice whose answer is not an option of the prism.
const NO_VALID_ANSWER: &str = "No valid answer";

/// The answer's label and its probability; for a Yes / No that is Unsure, the probability of yes.
pub(crate) fn describe_answer<'a>(
    question: &'a Question,
    answer: &'a Answer,
    lens: &[Column],
) -> (&'a str, Option<Probability>) {
    match answer {
        Answer::Choice { value: None, .. } => (NO_VALID_ANSWER, None),
        Answer::Choice {
            value: Some(key), ..
        }
        | Answer::Scale { level: key, .. } => {
            let label = question.label_of(key).unwrap_or(NO_VALID_ANSWER);
            (label, answer.probability_of(key))
        }
        Answer::YesNo { probability } => {
            let label = cutoffs(question, lens).label(*probability);
            let probability = match label {
                YesNoLabel::No => probability.complement(),
                YesNoLabel::Yes | YesNoLabel::Unsure => *probability,
            };
            (label.label(), Some(probability))
        }
    }
}

/// The cutoffs of the first column that labels a Yes / No; those of the automatic lens if there is
/// none.
pub(crate) fn cutoffs(question: &Question, lens: &[Column]) -> Cutoffs {
    let mut of_question = lens.iter().filter(|column| column.question == question.key);
    let found = of_question.find_map(|column| column.output.cutoffs());
    found.unwrap_or(Cutoffs::AUTOMATIC)
}
