//! What a person judges next, and who else is at it.
//!
//! Which questions of results are judged already.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use refract_domain::ids::{PersonId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::source::MarksFrom;
use refract_domain::result::whole_milliseconds;
use refract_persistence::{Database, Prism};

use super::sitting::Sitting;
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::Marks;
use crate::prisms::versions::find_saved_version;
use crate::results::ReadableResult;

/// How long others are shown that a person looks at a result. The person may have closed the page.
const SHOWN: TimeDelta = TimeDelta::minutes(2);

/// Where in the queue the next result is looked for. Behind the last result, the search goes on with
/// the first, so that skipped results come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFrom {
    /// At the first result.
    Beginning,
    /// At this result, even if another person looks at it.
    At(ResultId),
    /// Behind this result.
    After(ResultId),
}

/// What a person judges next.
pub struct NextToReview {
    /// The result and the question; `None` when everything is judged.
    pub item: Option<ReviewItem>,
    /// Number of questions that are not judged yet.
    pub left: usize,
    /// The other people who review the prism now.
    pub others: Vec<PersonId>,
}

/// A question of a result.
pub struct ReviewItem {
    /// The result.
    pub result: ReadableResult,
    /// A question of the version that answered.
    pub question: QuestionKey,
}

impl Marks<'_> {
    /// Finds what a person judges next in a sitting, and shows others that the person is at it.
    /// Results that others are at are skipped while there is anything else; that they judge one
    /// result at once does no harm.
    pub async fn next_to_review(
        self,
        lens: &Arc<PrismLens>,
        person: PersonId,
        sitting: &Sitting,
        from: ReviewFrom,
    ) -> Result<NextToReview, InternalError> {
        let database = &self.refract.database;
        let (results, question) = (&sitting.state.results, sitting.question());
        let is_fair = sitting.state.is_fair;
        let open = OpenQuestions::find(database, &lens.prism, results, question, is_fair).await?;
        let shown = self.reviewing(person, lens.prism.id).await?;
        let mut others = Vec::new();
        for (other, _) in &shown {
            if !others.contains(other) {
                others.push(*other);
            }
        }
        let left = results.iter().map(|id| open.of(*id).len()).sum();
        let is_shown = |id| shown.iter().any(|(_, result)| *result == id);
        let waiting: Vec<_> = in_turn(results, from)
            .filter(|id| !open.of(*id).is_empty())
            .collect();
        let is_free = |id: &&ResultId| !is_shown(**id) || from == ReviewFrom::At(**id);
        let next = waiting.iter().find(is_free).or(waiting.first());
        let mut item = None;
        if let Some((id, question)) = next.and_then(|id| Some((*id, open.of(*id).first()?))) {
            let now = whole_milliseconds(Utc::now());
            let showing = database.show_in_sitting(sitting.id, id, now, now + SHOWN);
            showing.await?;
            let found = database.find_result(lens.prism.account, id).await?;
            if let Some(found) = found {
                let result = ReadableResult::through_lens(database, found.result, lens).await?;
                let question = question.clone();
                item = Some(ReviewItem { result, question });
            }
        }
        Ok(NextToReview { item, left, others })
    }
}

/// All results of a queue, beginning at a place in it.
fn in_turn(results: &[ResultId], from: ReviewFrom) -> impl Iterator<Item = ResultId> {
    let place_of = |id| results.iter().position(|result| *result == id);
    let begin = match from {
        ReviewFrom::Beginning => 0,
        ReviewFrom::At(id) => place_of(id).unwrap_or(0),
        ReviewFrom::After(id) => place_of(id).map_or(0, |place| place + 1),
    };
    let (before, onwards) = results.split_at(begin.min(results.len()));
    onwards.iter().chain(before).copied()
}

/// The questions of results that nobody has judged yet.
#[derive(Default)]
pub(super) struct OpenQuestions(HashMap<ResultId, Vec<QuestionKey>>);

impl OpenQuestions {
    /// Finds the open questions of some results: of all their questions, or of one. Results that
    /// were deleted, or are failed, have none. A few thousand results at most.
    ///
    /// A fair sample takes no notice of marks that are no part of a fair sample: without the results
    /// that somebody chose before, the rest would be no fair sample.
    pub(super) async fn find(
        database: &Database,
        prism: &Prism,
        results: &[ResultId],
        question: Option<&QuestionKey>,
        is_fair: bool,
    ) -> Result<Self, InternalError> {
        let ids = || results.to_vec();
        let from = if is_fair {
            MarksFrom::Random
        } else {
            MarksFrom::All
        };
        let marks = database.list_marks_of(ids()).await?.into_iter();
        let marks = marks.filter(|mark| from.counts(mark.source));
        let mut judged: HashSet<_> = marks.map(|mark| (mark.result, mark.question)).collect();
        for abstention in database.list_abstentions_of(ids()).await? {
            judged.insert((abstention.result, abstention.question));
        }
        let mut open = HashMap::new();
        let found = database.find_markable_results(prism.account, prism.id, ids());
        for result in found.await?.into_iter().filter(|result| result.is_ok) {
            let version = find_saved_version(database, prism.id, result.version).await?;
            let questions = version.questions().iter();
            let keys = questions.map(|it| &it.key).filter(|key| {
                question.is_none_or(|wanted| wanted == *key)
                    && !judged.contains(&(result.id, (*key).clone()))
            });
            open.insert(result.id, keys.cloned().collect());
        }
        Ok(Self(open))
    }

    /// The open questions of a result, in the order of its version.
    pub(super) fn of(&self, result: ResultId) -> &[QuestionKey] {
        self.0.get(&result).map(Vec::as_slice).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_queue_goes_on_at_its_beginning() {
        let id = |number: u128| ResultId::new(Uuid::from_u128(number));
        let results = [id(1), id(2), id(3)];
        let turn = |from| in_turn(&results, from).collect::<Vec<_>>();
        assert_eq!(turn(ReviewFrom::Beginning), results);
        assert_eq!(turn(ReviewFrom::At(id(2))), [id(2), id(3), id(1)]);
        assert_eq!(turn(ReviewFrom::After(id(2))), [id(3), id(1), id(2)]);
        assert_eq!(turn(ReviewFrom::After(id(3))), results);
        assert_eq!(turn(ReviewFrom::At(id(9))), results);
    }
}
