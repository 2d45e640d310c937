//! What the marks are worth so far, and who else marks.

use maud::{Markup, html};
use refract_domain::ids::PersonId;
use refract_domain::key::QuestionKey;
use refract_evaluation::measures::proportion::{Interval, Proportion};
use refract_identity::people::ActorName;
use refract_service::marks::Sitting;

use crate::components::number::{counted, share};
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// Marks whose worth is said before they are made.
const MORE: u64 = 40;

/// How often the answers to the question are right by the marks so far, and what more marks would
/// give.
pub(super) fn standing(sitting: &Sitting, question: &QuestionKey) -> Markup {
    html! {
        @match sitting.measured(question) {
            // the results are of whatever sample their marks are of
            None if sitting.settles() => {},
            None => p.hint { "These marks measure nothing, since the results were not drawn at random." },
            Some(measured) => p.hint.standing { (describe(measured)) },
        }
        @if sitting.is_of_newest() {
            p.hint { "Looked for among the newest results alone." }
        }
    }
}

fn describe(measured: Proportion) -> Markup {
    let points = |share, rows| {
        let half = Proportion::expected_half_width(share, rows);
        half.map(|half| format!("±{:.0} points", half * 100.0))
            .unwrap_or_default()
    };
    let (Some(interval), Some(right)) = (measured.interval(), share(measured.count, measured.of))
    else {
        return html! {
            "No random or imported mark yet. " (MORE) " marks give "
            (points(0.5, MORE)) " if half of the answers are right, "
            (points(0.9, MORE)) " if 90 % are."
        };
    };
    // few marks say little about the share: the middle of the interval is a careful guess
    let expected = f64::midpoint(interval.low, interval.high);
    html! {
        // Quality counts all marks, also those of others since, and answers of Unsure beside them
        (counted(measured.of, "answer")) " with a random or imported mark, when this queue was drawn and by you since: "
        (right) " % right, " (between(interval)) ". " (MORE) " more marks: about "
        (points(expected, measured.of + MORE)) "."
    }
}

/// An interval in percent.
fn between(interval: Interval) -> String {
    let [low, high] = [interval.low, interval.high].map(|end| (end * 100.0).round());
    format!("between {low} and {high} %")
}

/// The names of the others who review the prism now.
pub(super) async fn others(visit: &Visit, people: &[PersonId]) -> Result<Markup, PageError> {
    let names = visit.refract.people().names(visit.account(), people).await;
    let names = names.map_err(refract_service::InternalError::from)?;
    let names: Vec<_> = people
        .iter()
        .filter_map(|person| names.get(person))
        .collect();
    Ok(html! {
        @if !names.is_empty() {
            p.soft {
                "Also here: "
                @for (place, name) in names.iter().enumerate() {
                    @if place > 0 { ", " }
                    bdi { (ActorName::as_str(name)) }
                }
            }
        }
    })
}
