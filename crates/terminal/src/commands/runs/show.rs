//! `refract runs show`: everything about a file run but its texts; and a file run as a list shows
//! it.

use refract_domain::prism::VersionNumber;
use refract_domain::result::cost::Cost;
use refract_service::model::TokenPrice;
use refract_service::runs::StoredRun;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::commands::selection::to_the_second;
use crate::output;

/// A run as one JSON object: the keys of a list, and more.
#[derive(Serialize)]
struct RunDetails<'a> {
    #[serde(flatten)]
    listed: ListedRun<'a>,
    reason: Option<&'a str>,
    is_leased: bool,
    file: &'a str,
    sha256: &'a str,
    file_deleted: bool,
    columns: Vec<MatchedColumn<'a>>,
    answered_before: u64,
    truncated: u64,
    model_requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// Null if no result has a cost.
    cost: Option<Box<RawValue>>,
    rows_a_minute: Option<u64>,
    most_model_requests: Option<u64>,
    most_tokens: Option<u64>,
    most_failed_rows: Option<u64>,
    failures: Vec<FailureCount<'a>>,
    started_at: Option<String>,
    ended_at: Option<String>,
}

/// Which column is which field.
#[derive(Serialize)]
struct MatchedColumn<'a> {
    column: &'a str,
    field: &'a str,
}

/// Rows that failed for one cause.
#[derive(Serialize)]
struct FailureCount<'a> {
    error: &'a str,
    rows: u64,
}

/// Prints a run as a table of names and values, or as JSON.
pub(super) fn print(run: &StoredRun, cost: Option<Cost>, json: bool) -> anyhow::Result<()> {
    let details = RunDetails::of(run, cost);
    if json {
        return output::json(&details);
    }
    let asked = run.progress.model_requests > 0;
    let cost = TokenPrice::Unknown.of_results(cost).filter(|_| asked);
    let rows = details.rows(cost);
    output::table(&["what", "value"], rows)
}

impl<'a> RunDetails<'a> {
    fn of(run: &'a StoredRun, cost: Option<Cost>) -> Self {
        let progress = &run.progress;
        let columns = run.mappings.iter().map(|mapping| MatchedColumn {
            column: &mapping.column,
            field: &mapping.field,
        });
        let failures = progress
            .failures
            .iter()
            .map(|(error, rows)| FailureCount { error, rows: *rows });
        Self {
            listed: ListedRun::of(run),
            reason: run.reason.as_deref(),
            is_leased: run.is_leased,
            file: &run.file_name,
            sha256: &run.file_sha256,
            file_deleted: run.upload.is_none(),
            columns: columns.collect(),
            answered_before: progress.answered_before,
            truncated: progress.truncated,
            model_requests: progress.model_requests,
            input_tokens: progress.input_tokens,
            output_tokens: progress.output_tokens,
            cost: cost.and_then(output::exact_cost),
            rows_a_minute: progress.rows_a_minute,
            most_model_requests: run.limits.model_requests,
            most_tokens: run.limits.tokens,
            most_failed_rows: run.limits.failed_rows,
            failures: failures.collect(),
            started_at: run.started_at.map(to_the_second),
            ended_at: run.ended_at.map(to_the_second),
        }
    }

    /// The names and values that are there, with the cost in words.
    fn rows(&self, cost: Option<String>) -> Vec<Vec<String>> {
        let listed = &self.listed;
        let number = |value: u64| Some(value.to_string());
        let deleted = if self.file_deleted { " (deleted)" } else { "" };
        let working = if self.is_leased { " (on a node)" } else { "" };
        let mut rows = vec![
            ("run", Some(listed.id.clone())),
            (
                "prism",
                Some(format!("{} {}", listed.prism, listed.version)),
            ),
            ("state", Some(format!("{}{working}", listed.state))),
            ("reason", self.reason.map(str::to_owned)),
            ("file", Some(format!("{}{deleted}", self.file))),
            ("rows", number(listed.rows)),
            ("refused", number(listed.refused)),
            ("answered", number(listed.answered)),
            ("answered before", number(self.answered_before)),
            ("failed", number(listed.failed)),
            ("truncated", number(self.truncated)),
            ("model requests", number(self.model_requests)),
            ("tokens read", number(self.input_tokens)),
            ("tokens written", number(self.output_tokens)),
            ("cost", cost),
            ("rows a minute", self.rows_a_minute.and_then(number)),
            (
                "model requests at most",
                self.most_model_requests.and_then(number),
            ),
            ("tokens at most", self.most_tokens.and_then(number)),
            (
                "failed rows at most",
                self.most_failed_rows.and_then(number),
            ),
            ("created", Some(listed.created_at.clone())),
            ("started", self.started_at.clone()),
            ("ended", self.ended_at.clone()),
            ("by", Some(listed.by.unwrap_or("operator").to_owned())),
        ];
        for MatchedColumn { column, field } in &self.columns {
            rows.push(("column", Some(format!("{column} as {field}"))));
        }
        for FailureCount {
            error,
            rows: number,
        } in &self.failures
        {
            rows.push(("failures", Some(format!("{number}: {error}"))));
        }
        let present = rows.into_iter();
        let present = present.filter_map(|(name, value)| Some(vec![name.to_owned(), value?]));
        present.collect()
    }
}

/// A run in a list, as a JSON line.
#[derive(Serialize)]
pub(super) struct ListedRun<'a> {
    pub(super) id: String,
    pub(super) prism: &'a str,
    pub(super) version: VersionNumber,
    pub(super) state: &'static str,
    pub(super) rows: u64,
    pub(super) answered: u64,
    pub(super) failed: u64,
    pub(super) refused: u64,
    pub(super) created_at: String,
    pub(super) by: Option<&'a str>,
}

impl<'a> ListedRun<'a> {
    pub(super) fn of(run: &'a StoredRun) -> Self {
        let progress = &run.progress;
        Self {
            id: run.id.to_string(),
            prism: &run.prism_slug,
            version: run.version,
            state: run.state.name(),
            rows: progress.rows,
            answered: progress.answered_before.saturating_add(progress.answered),
            failed: progress.failed,
            refused: progress.refused,
            created_at: to_the_second(run.made_at),
            by: run.by.as_deref(),
        }
    }
}
