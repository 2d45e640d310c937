//! A compared question as text, with the texts that the sides answer differently.

use std::collections::HashMap;

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::key::OutcomeKey;
use refract_service::Refract;
use refract_service::measures::{ComparedQuestion, DifferingText};

use crate::output::report;
use crate::terminal::{self, Palette, counted, widened};

/// Terminal columns of a result's id.
const ID: usize = 36;
/// The fewest terminal columns of an outcome.
const SHORTEST: usize = 6;
/// The most terminal columns of an outcome.
const OUTCOME: usize = 24;
/// The most terminal columns of a `ref`.
const REFERENCE: usize = 24;

/// The `ref` of each listed result that has one.
pub(super) async fn references(
    refract: &Refract,
    account: AccountId,
    compared: &ComparedQuestion,
) -> anyhow::Result<HashMap<ResultId, String>> {
    let mut references = HashMap::new();
    for id in compared.listed.iter().flat_map(|text| text.results) {
        let result = refract.results().find(account, id).await?;
        if let Some(reference) = result.view().reference {
            references.insert(id, terminal::plain(reference));
        }
    }
    Ok(references)
}

/// The lines about a question.
pub(super) fn lines(
    compared: &ComparedQuestion,
    references: &HashMap<ResultId, String>,
    width: usize,
) -> Vec<String> {
    let palette = Palette::of_stdout();
    let question = &compared.question;
    let key = question.key.as_str();
    let text = terminal::fit(&question.text, width.saturating_sub(key.len() + 2));
    let heading = format!("{}: {}", palette.heading.apply_to(key), text.trim_end());
    let found = compared.comparison.report(compared.unanswered);
    let mut lines = vec![heading];
    lines.extend(report::lines(&found, &palette, width));
    lines.extend(differing(compared, references, &palette, width));
    lines
}

/// The listed texts that the sides answer differently: one line for each, or two if the width is
/// too small for the results' ids.
fn differing(
    compared: &ComparedQuestion,
    references: &HashMap<ResultId, String>,
    palette: &Palette,
    width: usize,
) -> Vec<String> {
    let listed = &compared.listed;
    if listed.is_empty() {
        return Vec::new();
    }
    let outcomes = listed.iter().flat_map(|text| {
        let [a, b] = text.predicted.each_ref().map(Option::as_ref);
        [text.mark.as_str(), outcome(a), outcome(b)]
    });
    let refs: Vec<_> = listed
        .iter()
        .map(|text| reference(text, references))
        .collect();
    let of_refs = refs.iter().map(|reference| terminal::columns_of(reference));
    let of_refs = of_refs.max().unwrap_or(0).min(REFERENCE);
    let room = width.saturating_sub(of_refs + 6) / 3;
    let columns = outcomes.map(str::len).max().unwrap_or(0);
    let columns = columns.clamp(SHORTEST, OUTCOME).min(room.max(SHORTEST));
    let is_wide = 3 * (columns + 2) + 2 * (ID + 2) + of_refs <= width;
    let of_sides = format!("{:columns$}  {:columns$}  {:columns$}", "MARKED", "A", "B");
    let of_ids = format!("  {:ID$}  {:ID$}", "RESULT OF A", "RESULT OF B");
    let of_ids = if is_wide { of_ids.as_str() } else { "" };
    let header = format!(
        "{of_sides}{of_ids}{}",
        if of_refs > 0 { "  REF" } else { "" }
    );
    let mut lines = vec![palette.faint.apply_to(header.trim_end()).to_string()];
    for (text, reference) in listed.iter().zip(refs) {
        let mut line = answers(text, columns, palette);
        let [a, b] = text.results;
        let ids = format!("  {a}  {b}");
        if is_wide {
            line.push_str(&ids);
        }
        if !reference.is_empty() {
            line.push_str("  ");
            line.push_str(terminal::fit(&reference, of_refs).trim_end());
        }
        lines.push(line.trim_end().to_owned());
        if !is_wide {
            lines.push(palette.faint.apply_to(ids).to_string());
        }
    }
    let rest = compared.differing.saturating_sub(listed.len());
    if rest > 0 {
        lines.push(format!(
            "and {} that a and b answer differently",
            counted(widened(rest), "more text")
        ));
    }
    lines
}

/// The marked outcome and each side's prediction.
fn answers(text: &DifferingText, columns: usize, palette: &Palette) -> String {
    let side = |predicted: Option<&OutcomeKey>| {
        let cell = terminal::fit(outcome(predicted), columns);
        if predicted == Some(&text.mark) {
            palette.chosen.apply_to(cell).to_string()
        } else {
            cell
        }
    };
    let [a, b] = text.predicted.each_ref().map(|it| side(it.as_ref()));
    format!("{}  {a}  {b}", terminal::fit(text.mark.as_str(), columns))
}

/// The `ref` of both results, or both refs if they differ.
fn reference(text: &DifferingText, references: &HashMap<ResultId, String>) -> String {
    let [a, b] = text.results.map(|result| references.get(&result));
    match (a, b) {
        (Some(a), Some(b)) if a != b => format!("{a} / {b}"),
        (Some(one), _) | (None, Some(one)) => one.clone(),
        (None, None) => String::new(),
    }
}

fn outcome(predicted: Option<&OutcomeKey>) -> &str {
    predicted.map_or("–", OutcomeKey::as_str)
}
