//! Validates a gold file before the model is asked.

use std::collections::BTreeSet;

use anyhow::{bail, ensure};
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;
use refract_domain::result::mark::outcomes;
use refract_file_runs::{GoldCheck, GoldRun};

use crate::commands::input_path::InputPath;
use crate::terminal::plain;
use crate::{output, suggestion};

/// The most outcomes of a question in a message.
const MOST_OUTCOMES: usize = 20;

/// Refuses a file with an `expected_…` column for an unknown question, with cells that name no
/// outcome, or without any expected answer. Invalid cells are listed first.
pub(super) fn check(
    gold: &InputPath,
    version: &PrismVersion,
    check: &GoldCheck,
) -> anyhow::Result<()> {
    let questions = version.questions().iter();
    let columns: Vec<_> = questions.map(GoldRun::column_of).collect();
    if let Some(unknown) = check.unknown_columns.first() {
        let known = columns.iter().map(String::as_str);
        bail!(
            "{gold}: the column {} is of no question of the prism{}",
            plain(unknown),
            suggestion::did_you_mean(unknown, known)
        );
    }
    if check.wrong > 0 {
        list_wrong_cells(version, check);
        let cells = match check.wrong {
            1 => "1 cell names".to_owned(),
            many => format!("{many} cells name"),
        };
        bail!("{gold}: {cells} no outcome of the question, so nothing was asked");
    }
    ensure!(
        !check.expected.is_empty(),
        "{gold}: it says of no row what is right: it needs a column such as {}",
        columns.join(", ")
    );
    Ok(())
}

fn list_wrong_cells(version: &PrismVersion, check: &GoldCheck) {
    for cell in &check.listed {
        let (line, question) = (cell.line, &cell.question);
        output::say(&format!(
            "  line {line}: the expected answer of question {question} names no outcome"
        ));
    }
    let listed = u64::try_from(check.listed.len()).unwrap_or(u64::MAX);
    let unlisted = check.wrong.saturating_sub(listed);
    if unlisted > 0 {
        output::say(&format!("  and {unlisted} more"));
    }
    let named: BTreeSet<_> = check
        .listed
        .iter()
        .map(|cell| cell.question.as_str())
        .collect();
    let questions = version.questions().iter();
    for question in questions.filter(|question| named.contains(question.key.as_str())) {
        output::say(&format!("  {} has {}", question.key, outcomes_of(question)));
    }
}

/// The keys of a question's outcomes as a readable list.
fn outcomes_of(question: &Question) -> String {
    let keys = outcomes(question).map(|outcome| outcome.key);
    let mut listed: Vec<_> = keys.clone().take(MOST_OUTCOMES).collect();
    if keys.count() > MOST_OUTCOMES {
        listed.push("…");
    }
    listed.join(", ")
}
