//! A compared question as the JSON object of `compare --json`.

use refract_domain::result::mark::source::MarksFrom;
use refract_service::measures::ComparedQuestion;
use serde::Serialize;

/// The object; undefined measures are null.
#[derive(Serialize)]
pub(super) struct ComparisonJson<'a> {
    question: &'a str,
    rows: u64,
    a: SideJson,
    b: SideJson,
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    only_a_right: u64,
    only_b_right: u64,
    mcnemar_p: f64,
    marks_from: &'static str,
}

#[derive(Serialize)]
struct SideJson {
    accuracy: Option<f64>,
}

impl<'a> ComparisonJson<'a> {
    /// The object of a question.
    pub(super) fn of(compared: &'a ComparedQuestion, marks: MarksFrom) -> Self {
        let comparison = &compared.comparison;
        Self {
            question: compared.question.key.as_str(),
            rows: comparison.rows,
            a: SideJson {
                accuracy: comparison.a.value(),
            },
            b: SideJson {
                accuracy: comparison.b.value(),
            },
            difference: comparison.difference,
            difference_low: comparison.interval.map(|interval| interval.low),
            difference_high: comparison.interval.map(|interval| interval.high),
            only_a_right: comparison.only_a_right,
            only_b_right: comparison.only_b_right,
            mcnemar_p: comparison.mcnemar_p,
            marks_from: marks.name(),
        }
    }
}
