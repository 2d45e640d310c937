//! The marks of listed results, where the list is asked for by its marks.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_domain::result::mark::Mark;
use refract_domain::result::view::ResultView;
use refract_service::results::{FoundRow, MarkCondition};

use crate::components::moment;
use crate::components::report::label;
use crate::replies::PageError;
use crate::requests::Visit;

/// The marks of each listed result that the list is asked for by.
pub(super) struct ListedMarks(HashMap<ResultId, Vec<Mark>>);

impl ListedMarks {
    /// Loads them; `None` where the list is not asked for by marks.
    pub(super) async fn load(
        visit: &Visit,
        results: &[FoundRow],
        condition: Option<&MarkCondition>,
    ) -> Result<Option<Self>, PageError> {
        let Some(condition) = condition.filter(|it| **it != MarkCondition::Unmarked) else {
            return Ok(None);
        };
        let ids = results.iter().map(|row| row.result.id()).collect();
        let mut marks: HashMap<_, Vec<Mark>> = HashMap::new();
        for mark in visit.refract.marks().of_results(ids).await? {
            let is_wanted = match condition {
                MarkCondition::By(person) => mark.marked_by.person == Some(*person),
                MarkCondition::Outcome(question, _) => mark.question == *question,
                MarkCondition::Marked | MarkCondition::Unmarked => true,
            };
            if is_wanted {
                marks.entry(mark.result).or_default().push(mark);
            }
        }
        Ok(Some(Self(marks)))
    }

    /// The cell of a result: what was marked, of which question, by whom and when.
    pub(super) fn cell(&self, view: &ResultView<'_>) -> Markup {
        let marks = self.0.get(&view.id).into_iter().flatten();
        html! {
            td.marked data-label="Marked" {
                @for mark in marks {
                    @let question = view.questions.iter().find(|question| question.key == mark.question);
                    div {
                        bdi { (question.map_or(mark.outcome.as_str(), |it| label(it, Some(&mark.outcome)))) }
                        span.soft {
                            @if let Some(question) = question && view.questions.len() > 1 { ", " bdi { (question.text) } }
                            @if let Some(name) = &mark.marked_by.name { " by " bdi { (name.as_str()) } }
                            ", " (moment(mark.marked_at))
                        }
                    }
                }
            }
        }
    }
}
