//! Two versions or models on the texts that both answered.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_domain::prism::VersionNumber;
use refract_domain::submission::Submission;
use refract_service::measures::{ComparedQuestion, ComparedSide, DifferingText, EvaluationError};

use super::quality_view::QualityView;
use crate::components::{
    FormField, NoticeKind, clamped, count, counted, label, notice, report, stacked_table,
};
use crate::replies::PageError;
use crate::requests::{Query, Visit, version_number};

/// The most results of a side that a page reads: about a second's worth.
const MOST_RESULTS: u64 = 50_000;
/// The most characters of a text.
const TEXT: usize = 200;

/// The section: the form, and the comparison if the address names two sides.
pub(super) async fn section(visit: &Visit, view: &QualityView<'_>) -> Result<Markup, PageError> {
    let sides = ["a", "b"].map(|name| view.asked(name).and_then(side));
    let body = match sides {
        [Some(a), Some(b)] if a == b => html! {
            p.fault { "Both are the same: choose two different ones." }
        },
        [Some(a), Some(b)] => compared(visit, view, [&a, &b]).await?,
        _ => html! {},
    };
    Ok(html! {
        section #compare {
            h2 { "Which of two is better?" }
            p.hint { "Two versions or models, on the texts that both answered: those with the same ref, or the same text. A mark on either counts for both." }
            (form(view))
            (body)
        }
    })
}

/// Parses a side: `version:3` or `model:NAME`.
fn side(text: &str) -> Option<ComparedSide> {
    let (kind, name) = text.split_once(':')?;
    let side = ComparedSide::default();
    match kind {
        "version" => Some(ComparedSide {
            version: Some(version_number(name)?),
            ..side
        }),
        "model" => Some(ComparedSide {
            model: Some(name.to_owned()),
            ..side
        }),
        _ => None,
    }
}

fn form(view: &QualityView<'_>) -> Markup {
    let latest = view.history.prism.latest_version.get();
    let versions: Vec<_> = (1..=latest).rev().filter_map(VersionNumber::new).collect();
    let models = view.models();
    let field = |name, label, otherwise: String| {
        let value = view.asked(name).map_or(otherwise, ToOwned::to_owned);
        let field = FormField::new(name, label).value(&value);
        field.select(&html! {
            @for version in &versions {
                (field.option(&format!("version:{version}"), &format!("Version {version}")))
            }
            @for model in &models {
                (field.option(&format!("model:{model}"), &format!("Model {model}")))
            }
        })
    };
    let before = (latest - 1).max(1);
    html! {
        form.filters method="get" action={ (view.link(&Query::default())) "#compare" } aria-label="Compare" {
            input type="hidden" name="question" value=(view.question().key);
            input type="hidden" name="marks" value=(view.filters.filter.from.name());
            (field("a", "A", format!("version:{before}")))
            (field("b", "B", format!("version:{latest}")))
            button type="submit" { "Compare" }
        }
    }
}

async fn compared(
    visit: &Visit,
    view: &QualityView<'_>,
    sides: [&ComparedSide; 2],
) -> Result<Markup, PageError> {
    let key = &view.question().key;
    let measures = visit.refract.measures();
    for side in sides {
        let results = measures.results_of(view.history, side).await?;
        if results > MOST_RESULTS {
            return Ok(html! {
                p {
                    "A comparison reads every result of both, and one has " (count(results))
                    ": too many for a page. Use " code { "refract compare" } " in the terminal."
                }
            });
        }
    }
    let comparing = measures.compare(
        view.history,
        sides,
        Some(key),
        view.filters.filter.from,
        |_| {},
    );
    let compared = match comparing.await {
        Ok(compared) => compared,
        Err(EvaluationError::Read(error)) => return Err(error.into()),
        Err(EvaluationError::NotComparable(reason)) => {
            let words = html! { "These answers cannot be compared: " bdi { (reason) } "." };
            return Ok(notice(NoticeKind::Refused, &words));
        }
    };
    let Some(question) = compared.questions.first() else {
        return Ok(html! {});
    };
    let [a, b] = compared.results;
    let ids = question.listed.iter().map(|text| text.results[0]).collect();
    let texts = measures.texts(visit.account(), ids).await?;
    Ok(html! {
        p {
            (counted(compared.texts, "text")) " answered by both, of " (count(a)) " of A and " (count(b)) " of B."
        }
        (report(&question.comparison.report(question.unanswered), view.question()))
        (differing(view, question, &texts))
    })
}

/// The texts that the sides answer differently, those that one answers correctly first.
fn differing(
    view: &QualityView<'_>,
    question: &ComparedQuestion,
    texts: &HashMap<ResultId, Submission>,
) -> Markup {
    if question.listed.is_empty() {
        return html! {};
    }
    let rows = html! { @for text in &question.listed { (row(view, text, texts)) } };
    let rest = question.differing.saturating_sub(question.listed.len());
    html! {
        (stacked_table("Texts answered differently", &["Text", "Marked", "A", "B"], &rows))
        @if rest > 0 { p.soft { "and " (counted(rest, "more text")) " answered differently." } }
    }
}

fn row(
    view: &QualityView<'_>,
    text: &DifferingText,
    texts: &HashMap<ResultId, Submission>,
) -> Markup {
    let [a, b] = text.results;
    let shown = texts
        .get(&a)
        .and_then(|submission| submission.fields().first());
    let shown = shown.map_or("", |(_, text)| text.as_str());
    let sides = [("A", a, &text.predicted[0]), ("B", b, &text.predicted[1])];
    html! {
        tr {
            td { span.text dir="auto" { (clamped(shown, TEXT)) } }
            td data-label="Marked" { bdi { (view.label(&text.mark)) } }
            @for (name, result, predicted) in sides {
                td data-label=(name) {
                    a href={ "/results/" (result) } { bdi { (label(view.question(), predicted.as_ref())) } }
                    @if predicted.as_ref() == Some(&text.mark) { " ✓" span.unseen { " right" } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_a_version_or_a_model() {
        let version = side("version:3").unwrap();
        assert_eq!(version.version.map(VersionNumber::get), Some(3));
        assert_eq!(side("model:a:7b").unwrap().model.as_deref(), Some("a:7b"));
        for wrong in ["", "3", "version:0", "version:x", "prompt:1"] {
            assert_eq!(side(wrong), None, "{wrong}");
        }
    }
}
