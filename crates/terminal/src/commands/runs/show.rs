//! `refract runs show`: everything about a file run but its texts; and a file run as a list shows
//! it.

use refract_domain::result::cost::Cost;
use refract_service::model::TokenPrice;
use refract_service::runs::{StoredMapping, StoredRun};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::commands::selection::to_the_second;
use crate::output;
use crate::output::listing::{ListColumn, ListRow, column, worded};

/// A run as one JSON object: the keys of a list, and more.
#[derive(Serialize)]
struct RunDetails<'a> {
    #[serde(flatten)]
    listed: ListRow<'a, StoredRun>,
    reason: Option<&'a str>,
    is_leased: bool,
    file: &'a str,
    sha256: &'a str,
    file_deleted: bool,
    columns: &'a [StoredMapping],
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
        let failures = progress
            .failures
            .iter()
            .map(|(error, rows)| FailureCount { error, rows: *rows });
        Self {
            listed: ListRow(COLUMNS, run),
            reason: run.reason.as_deref(),
            is_leased: run.is_leased,
            file: &run.file_name,
            sha256: &run.file_sha256,
            file_deleted: run.upload.is_none(),
            columns: &run.mappings,
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
        let ListRow(_, run) = self.listed;
        let progress = &run.progress;
        let number = |value: u64| Some(value.to_string());
        let deleted = if self.file_deleted { " (deleted)" } else { "" };
        let working = if self.is_leased { " (on a node)" } else { "" };
        let mut rows = vec![
            ("run", Some(run.id.to_string())),
            ("prism", Some(format!("{} {}", run.prism_slug, run.version))),
            ("state", Some(format!("{}{working}", run.state.name()))),
            ("reason", self.reason.map(str::to_owned)),
            ("file", Some(format!("{}{deleted}", self.file))),
            ("rows", number(progress.rows)),
            ("refused", number(progress.refused)),
            ("answered", number(answered(run))),
            ("answered before", number(self.answered_before)),
            ("failed", number(progress.failed)),
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
            ("created", Some(to_the_second(run.made_at))),
            ("started", self.started_at.clone()),
            ("ended", self.ended_at.clone()),
            ("by", Some(by(run).to_owned())),
        ];
        for StoredMapping { column, field } in self.columns {
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

/// The columns of a list of runs.
pub(super) const COLUMNS: &[ListColumn<StoredRun>] = &[
    column("id", "id", |it| it.id.to_string().into()),
    column("prism", "prism", |it| it.prism_slug.as_str().into()),
    column("version", "version", |it| it.version.get().into()),
    column("state", "state", |it| it.state.name().into()),
    column("rows", "rows", |it| it.progress.rows.into()),
    column("answered", "answered", |it| answered(it).into()),
    column("failed", "failed", |it| it.progress.failed.into()),
    column("refused", "refused", |it| it.progress.refused.into()),
    column("created_at", "created", |it| {
        to_the_second(it.made_at).into()
    }),
    worded(
        "by",
        "by",
        |it| it.by.as_deref().into(),
        |it| by(it).to_owned(),
    ),
];

fn answered(run: &StoredRun) -> u64 {
    let progress = &run.progress;
    progress.answered_before.saturating_add(progress.answered)
}

fn by(run: &StoredRun) -> &str {
    run.by.as_deref().unwrap_or("operator")
}
