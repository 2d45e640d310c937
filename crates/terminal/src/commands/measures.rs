//! Shows the measures of a question: as one JSON object, or on one screen of a terminal.
//!
//! `refract evaluate` and `refract check` share it. This module neither measures nor reads results.

mod html_file;
mod measured_question;
mod outcomes;

pub(crate) use self::html_file::{HtmlFile, HtmlReport, WrongLine};
pub(crate) use self::measured_question::{MeasuredQuestion, print_json};

/// A question's measures as text, tables and bars, for a terminal `width` columns wide. Ends with a
/// line break.
pub(crate) fn render(measured: &MeasuredQuestion, width: usize) -> String {
    let mut words = measured_question::lines(measured, width).join("\n");
    words.push('\n');
    words
}
