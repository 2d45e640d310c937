//! Shows the measures of a question: as one JSON object, or on one screen of a terminal.
//!
//! `refract evaluate` and `refract check` share it. This module neither measures nor reads results.

mod html_file;
mod measured_question;
mod outcomes;
mod screen;

use refract_domain::result::mark::source::MarksFrom;
use serde::Serialize;

pub(crate) use self::html_file::{HtmlFile, HtmlReport, WrongLine};
pub(crate) use self::measured_question::MeasuredQuestion;

/// A question's measures as the object that `evaluate --json` prints. `marks` says which marks
/// count; `None` for the answers of a gold file.
pub(crate) fn json(measured: &MeasuredQuestion, marks: Option<MarksFrom>) -> impl Serialize {
    measured_question::MeasuresJson::of(measured, marks)
}

/// A question's measures as text, tables and bars, for a terminal `width` columns wide. Ends with a
/// line break.
pub(crate) fn render(measured: &MeasuredQuestion, width: usize) -> String {
    let mut words = screen::lines(measured, width).join("\n");
    words.push('\n');
    words
}
