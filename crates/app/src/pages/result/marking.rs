//! The form for marking the correct outcomes.

use maud::{Markup, html};
use refract_domain::result::mark;
use refract_service::marks::MarkChange;
use refract_service::results::{ReadableResult, ResultDetails};

use crate::components::field::FormField;
use crate::components::moment::moment;
use crate::requests::form::Form;

/// The form, with a select of outcomes for each question and the present marks.
pub(super) fn marking(details: &ResultDetails) -> Markup {
    let result = &details.result;
    html! {
        h2 { "Right outcomes" }
        p.hint { "What you mark is kept beside the result and never changes it." }
        form method="post" action={ "/results/" (result.id()) "/marks" } {
            @for question in result.view().questions {
                @let mark = details.marks.iter().find(|mark| mark.question == question.key);
                @let marked = mark.map_or("", |mark| mark.outcome.as_str());
                @let name = format!("mark.{}", question.key);
                @let options = [("", "not marked")].into_iter()
                    .chain(mark::outcomes(question).map(|it| (it.key, it.label))).collect::<Vec<_>>();
                (FormField::new(&name, &question.text).value(marked).choice(&options))
                @if let Some(mark) = mark {
                    p.hint {
                        "Marked" @if let Some(by) = &mark.marked_by { " by " bdi { (by) } }
                        ", " (moment(mark.marked_at))
                    }
                }
                input type="hidden" name={ "was." (question.key) } value=(marked);
            }
            button type="submit" { "Save marks" }
        }
    }
}

/// The changed marks: only those that differ from the marks shown in the form, so that nobody
/// overwrites marks that another person set meanwhile.
pub(super) fn changes(form: &Form, result: &ReadableResult) -> Vec<MarkChange> {
    let questions = result.view().questions.iter();
    let changes = questions.filter_map(|question| {
        let name = format!("mark.{}", question.key);
        let chosen = form.get(&name);
        let is_change = form.has(&name) && chosen != form.get(&format!("was.{}", question.key));
        let outcome = (!chosen.is_empty()).then(|| chosen.to_owned());
        is_change.then(|| (question.key.clone(), outcome))
    });
    changes.collect()
}
