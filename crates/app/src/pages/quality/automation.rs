//! The confidence from which answers can do without a person, for a wanted accuracy.

use maud::{Markup, html};
use refract_evaluation::measures::automation::AutomationAdvice;

use super::quality_view::QualityView;
use crate::components::interval_bar::proportion_range;
use crate::components::number::measured_percent;
use crate::components::table::stacked_table;

/// The accuracies for which a confidence is found.
const WANTED: [f64; 3] = [0.90, 0.95, 0.99];

/// A row for each wanted accuracy.
pub(super) fn automation(view: &QualityView<'_>) -> Markup {
    let rows = html! {
        @for wanted in WANTED {
            tr {
                th scope="row" { (measured_percent(Some(wanted)).trim_end_matches(".0")) " % right" }
                (cells(view.quality.evaluated.marked.coverage_for(wanted).as_ref()))
            }
        }
    };
    let headings = [
        "Wanted",
        "From confidence",
        "Right",
        "Answered",
        "Right on held-out marks",
    ];
    stacked_table("The confidence for a wanted accuracy", &headings, &rows)
}

fn cells(advice: Option<&AutomationAdvice>) -> Markup {
    let Some(advice) = advice else {
        return html! { td colspan="4" { span.soft { "No confidence holds it on held-out marks." } } };
    };
    let percent = |share| format!("{} %", measured_percent(share));
    html! {
        td data-label="From confidence" { (format!("{:.2}", advice.confidence)) }
        td data-label="Right" { (percent(advice.all.accuracy.value())) }
        td data-label="Answered" { (percent(advice.all.coverage.value())) }
        td data-label="Held out" { (proportion_range(advice.held_out.accuracy)) }
    }
}
