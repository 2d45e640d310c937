//! The expected results of a search: every result is checked, in the form that jsonl shows.

use refract_domain::ids::ResultId;
use refract_domain::submission::Ref;
use refract_lens_rendering::{Format, render};
use refract_persistence::{ResultFilter, ResultOrder};
use refract_service::results::{MarkCondition, ReadableResult, ResultSearch};
use serde_json::Value;

use crate::fixture::{Described, Fixture, Saved, moment};

/// The results that a search must find, newest first.
pub(crate) async fn expected(it: &Fixture, saved: &Saved, search: &ResultSearch) -> Vec<ResultId> {
    let newest_first = ResultOrder::NewestFirst;
    let everything = ResultFilter::default();
    let lens = saved.lens.clone();
    let mut results = it
        .refract
        .results()
        .of_prism(lens, everything, newest_first);
    let mut expected = Vec::new();
    loop {
        let page = results.next_page().await.unwrap();
        if page.is_empty() {
            return expected;
        }
        for result in page {
            let (id, described) = saved
                .results
                .iter()
                .find(|(id, _)| *id == result.id())
                .unwrap();
            let row = row(&result);
            let is_shown = search.values.iter().all(|wanted| {
                row[wanted.column.as_str()].as_str().unwrap_or_default() == wanted.value
            });
            // the automatic lens shows what a choice was answered with
            let is_answered = search.answers.iter().all(|wanted| {
                row[wanted.question.as_str()].as_str().unwrap_or_default() == wanted.outcome
            });
            let is_shown = is_shown && is_answered && has_words_and_marks(search, described);
            if is_shown && is_let_through(&search.filter, described) {
                expected.push(*id);
            }
        }
    }
}

/// A result as jsonl shows it.
fn row(result: &ReadableResult) -> Value {
    let mut row = Vec::new();
    render(Format::Jsonl, &result.columns(), &result.view(), &mut row).unwrap();
    serde_json::from_slice(&row).unwrap()
}

/// The words of the tests have one lower case in every database.
fn has_words_and_marks(search: &ResultSearch, result: &Described) -> bool {
    let marked = result.marked();
    let is_marked = match &search.marks {
        None => true,
        Some(MarkCondition::Marked) => marked.is_some(),
        Some(MarkCondition::Unmarked) => marked.is_none(),
        Some(MarkCondition::Outcome(_, outcome)) => marked == Some(outcome.as_str()),
        // the marks of the tests are nobody's
        Some(MarkCondition::By(_)) => false,
    };
    let text = result.text().to_lowercase();
    let words = search.words.as_ref().map(|words| format!("{words:?}"));
    is_marked
        && words.is_none_or(|words| {
            // the words as they are printed: TextWords(["a", "b"])
            let list = words.trim_start_matches("TextWords(").trim_end_matches(')');
            let list: Vec<String> = serde_json::from_str(list).unwrap();
            list.iter().all(|word| text.contains(word))
        })
}

fn is_let_through(filter: &ResultFilter, result: &Described) -> bool {
    let made_at = moment(result.at);
    let is_ok = result.answers.is_some();
    filter.is_ok.is_none_or(|wanted| wanted == is_ok)
        && filter
            .is_retried
            .is_none_or(|wanted| !is_ok && wanted == result.is_retried)
        && filter.since.is_none_or(|since| made_at >= since)
        && filter.until.is_none_or(|until| made_at < until)
        && filter
            .version
            .is_none_or(|wanted| wanted.get() == result.version)
        && filter.model.is_none()
        && (filter.reference.is_none()
            || filter.reference.as_ref().map(Ref::as_str) == result.reference)
        && filter.actor.is_none_or(|wanted| wanted == result.actor)
}
