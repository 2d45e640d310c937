//! The table of `refract model check`: a row for each trial.

use refract_domain::answer::probability::Probability;
use refract_service::model::TrialReport;

/// The headers of the table of reports.
pub(super) const HEADERS: [&str; 11] = [
    "call",
    "answer",
    "right",
    "probability",
    "readable",
    "code",
    "on codes",
    "unread",
    "requests",
    "attempts",
    "ms",
];

/// The header of the first column if there are several servers.
pub(super) const SERVER_HEADER: &str = "server";

/// The cells of the report's row: its server if it has one, then the cells below [`HEADERS`].
pub(super) fn cells(report: &TrialReport) -> Vec<String> {
    let right = match report.right {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    let decimals =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
    let mut cells = Vec::from_iter(report.server.clone());
    cells.extend([
        report.trial.to_owned(),
        report.answer.clone(),
        right.to_owned(),
        format!("{:.3}", report.probability),
        format!("{} of {}", report.readable, report.outcomes),
        code(report),
        decimals(report.on_codes),
        decimals(report.unread.map(Probability::to_f64)),
        report.requests.to_string(),
        report.attempts.to_string(),
        report.took_ms.to_string(),
    ]);
    cells
}

/// How the code was split into tokens.
fn code(report: &TrialReport) -> String {
    let tokens = match report.code_tokens {
        None => return String::new(),
        Some(1) => "1 token".to_owned(),
        Some(tokens) => format!("{tokens} tokens"),
    };
    match report.tokens_before {
        None | Some(0) => tokens,
        Some(before) => format!("{tokens} after {before}"),
    }
}
