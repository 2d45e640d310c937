//! What the marks are worth so far, and who else marks.

use maud::{Markup, html};
use refract_domain::ids::PersonId;
use refract_domain::prism::question::Question;
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::measures::proportion::{Interval, Proportion};
use refract_evaluation::measures::right_answers::RightAnswers;
use refract_identity::people::ActorName;
use refract_service::lenses::PrismLens;
use refract_service::marks::{Sitting, Standing};

use crate::components::report::{marks_noun, without_outcome};
use crate::components::{counted, measured_percent, prism_address};
use crate::replies::PageError;
use crate::requests::{Query, Visit};

/// Marks whose worth is said before they are made.
const MORE: u64 = 40;

/// How often the answers to the question are right by the marks of now, and what more marks would
/// give.
pub(super) async fn standing(
    visit: &Visit,
    lens: &PrismLens,
    sitting: &Sitting,
    question: &Question,
) -> Result<Markup, PageError> {
    let marks = visit.refract.marks();
    let standing = marks.standing(lens, sitting, &question.key).await?;
    Ok(html! {
        @match standing {
            // the results are of whatever sample their marks are of
            None if sitting.settles() => {},
            None => p.hint { "These marks measure nothing, since the results were not drawn at random." },
            Some(Standing::Measured(right)) => p.hint.standing {
                (measured(right, sitting, question))
                " " (quality(lens, sitting, question))
            },
            Some(Standing::TooMany(marks)) => p.hint.standing {
                (counted(marks, marks_noun(MarksFrom::Random))) " of all versions, too many to measure between two texts. "
                (quality(lens, sitting, question))
            },
        }
        @if sitting.is_of_newest() {
            p.hint { "Looked for among the newest results alone." }
        }
    })
}

/// The counts and shares are in the words of Quality.
fn measured(right: RightAnswers, sitting: &Sitting, question: &Question) -> Markup {
    let accuracy = right.accuracy;
    let points = |half: Option<f64>| {
        half.map(|half| format!("±{:.0} points", half * 100.0))
            .unwrap_or_default()
    };
    let expected = |share| points(Proportion::expected_half_width(share, MORE));
    let of_queue = html! {
        @if let Some(version) = sitting.version() { " of version " (version) }
        @if sitting.is_of_period() { " in this period" }
    };
    let Some(Interval { low, high }) = accuracy.interval() else {
        return html! {
            @if right.marks == 0 {
                "No random or imported mark" (of_queue) " yet. "
            } @else {
                (counted(right.marks, marks_noun(MarksFrom::Random))) (of_queue)
                (without_outcome(right.marks, 0, question.question_type())) ". "
            }
            (MORE) " marks give " (expected(0.5)) " if half of the answers are right, "
            (expected(0.9)) " if 90 % are."
        };
    };
    html! {
        (counted(right.marks, marks_noun(MarksFrom::Random))) (of_queue)
        (without_outcome(right.marks, accuracy.of, question.question_type())) ". "
        (measured_percent(accuracy.value())) " % right, between "
        (measured_percent(Some(low))) " and " (measured_percent(Some(high))) " %. "
        (MORE) " more marks: about " (points(accuracy.half_width_after(MORE))) "."
    }
}

/// The way to Quality with these marks.
fn quality(lens: &PrismLens, sitting: &Sitting, question: &Question) -> Markup {
    let version = sitting.version().map(|version| version.to_string());
    let query = Query::default()
        .with("question", Some(question.key.as_str()))
        .with("version", version.as_deref());
    let address = prism_address(&lens.prism);
    html! { a href={ (address) "/quality" (query.in_address()) } { "Quality" } }
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
