//! What a person judges next, who else is at it, and which questions of results are judged already;
//! judges a question of a result in a sitting, and undoes judgements.

use refract_boxed_futures::boxed;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use refract_domain::ids::{PersonId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::cutoffs_of;
use refract_domain::result::mark::{
    Abstention, Annotator, Mark, MarkNote, MarksFrom, QuestionMarks,
};
use refract_domain::result::whole_milliseconds;
use refract_evaluation::marked::predicted;
use refract_persistence::{Prism, WithdrawnMark};

use super::QueueKind;
use super::sitting::{ReviewStep, Sitting};
use crate::InternalError;
use crate::lenses::PrismLens;
use crate::marks::{MarkOrigin, Marks, MarksError};
use crate::prisms::find_saved_version;
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
    /// What people marked, in a sitting that settles where they differ; else nothing.
    pub marks: Vec<Mark>,
}

#[boxed]
impl Marks<'_> {
    /// Finds what a person judges next in a sitting, and shows others that the person is at it.
    /// Results that others are at are skipped while there is anything else; that they judge one
    /// result at once does no harm.
    pub async fn next_to_review(
        self,
        lens: &Arc<PrismLens>,
        person: PersonId,
        by: &Annotator,
        sitting: &Sitting,
        from: ReviewFrom,
    ) -> Result<NextToReview, InternalError> {
        let database = &self.refract.database;
        let results = &sitting.state.results;
        let wanted = WantedQuestions {
            question: sitting.question(),
            kind: sitting.kind(),
            is_fair: sitting.state.is_fair,
            of_person: (sitting.is_shared() || sitting.settles()).then_some(by),
        };
        let open = OpenQuestions::find(self, &lens.prism, results, wanted).await?;
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
                let marks = if sitting.settles() {
                    let mut marks = self.question_marks(vec![id]).await?;
                    marks.remove(&(id, question.clone())).unwrap_or_default()
                } else {
                    QuestionMarks::default()
                };
                item = Some(ReviewItem {
                    result,
                    question,
                    marks: marks.marks().to_vec(),
                });
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

/// Which questions of results a queue asks about.
#[derive(Clone, Copy)]
pub(super) struct WantedQuestions<'a> {
    /// The only question; `None` for all.
    pub(super) question: Option<&'a QuestionKey>,
    pub(super) kind: QueueKind,
    /// Whether the queue is a fair sample.
    pub(super) is_fair: bool,
    /// The person whose own judgements alone close a question; `None` where anybody's do.
    pub(super) of_person: Option<&'a Annotator>,
}

/// The questions of results that are left to judge.
#[derive(Default)]
pub(super) struct OpenQuestions(HashMap<ResultId, Vec<QuestionKey>>);

impl OpenQuestions {
    /// Finds the open questions of some results. Results that were deleted, or are failed, have none.
    /// A few thousand results at most.
    ///
    /// A fair sample takes no notice of marks that are no part of a fair sample: without the results
    /// that somebody chose before, the rest would be no fair sample.
    pub(super) async fn find(
        marks: Marks<'_>,
        prism: &Prism,
        results: &[ResultId],
        wanted: WantedQuestions<'_>,
    ) -> Result<Self, InternalError> {
        let database = &marks.refract.database;
        let ids = || results.to_vec();
        let from = if wanted.is_fair {
            MarksFrom::Random
        } else {
            MarksFrom::All
        };
        let is_own = |mark: &Mark| {
            let of_person = wanted.of_person;
            of_person.is_none_or(|by| mark.marked_by.is(by) && !mark.is_adjudicated)
        };
        let saved = marks.question_marks(ids()).await?;
        let is_judged = |marks: &QuestionMarks| {
            let mut own = marks.marks().iter().filter(|mark| is_own(mark));
            own.any(|mark| from.counts(mark.source))
        };
        let abstained = database.list_abstentions_of(ids()).await?.into_iter();
        let abstained = abstained.filter(|it| {
            let by = wanted.of_person;
            by.is_none_or(|by| it.abstained_by == by.name)
        });
        let abstained: HashSet<_> = abstained.map(|it| (it.result, it.question)).collect();
        let mut open = HashMap::new();
        let found = database.find_markable_results(prism.account, prism.id, ids());
        for result in found.await?.into_iter().filter(|result| result.is_ok) {
            let version = find_saved_version(database, prism.id, result.version).await?;
            let questions = version.questions().iter();
            let keys = questions.map(|it| &it.key).filter(|key| {
                let place = (result.id, (*key).clone());
                let marks = saved.get(&place);
                let is_open = if wanted.kind == QueueKind::Differ {
                    marks.is_some_and(QuestionMarks::differ)
                } else {
                    !marks.is_some_and(is_judged)
                };
                is_open
                    && !abstained.contains(&place)
                    && wanted.question.is_none_or(|wanted| wanted == *key)
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

/// What a person says about a question of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The key of the correct outcome, not yet checked.
    Outcome(String),
    /// The text does not decide the question.
    CannotTell,
}

/// A judgement as it is saved.
pub struct JudgementInput {
    /// The judged result.
    pub result: ResultId,
    /// The judged question.
    pub question: QuestionKey,
    /// What the person says.
    pub judgement: Judgement,
    /// Who judges.
    pub marked_by: Annotator,
    /// What the person notes.
    pub note: Option<MarkNote>,
}

#[boxed]
impl Marks<'_> {
    /// Judges a question of a result in a person's sitting.
    ///
    /// # Errors
    /// When the result is not in the sitting or was deleted meanwhile, its version has no such
    /// question or outcome, or the database fails. Nothing was saved then.
    pub async fn judge(
        self,
        lens: &Arc<PrismLens>,
        sitting: &mut Sitting,
        input: JudgementInput,
    ) -> Result<(), MarksError> {
        let database = &self.refract.database;
        if !sitting.state.results.contains(&input.result) {
            return Err(MarksError::ResultGone);
        }
        let found = database.find_result(lens.prism.account, input.result);
        let found = found.await?.ok_or(MarksError::ResultGone)?;
        let result = ReadableResult::through_lens(database, found.result, lens).await?;
        let is_of_version = result.version().question(&input.question).is_some();
        let outcome = match input.judgement {
            Judgement::Outcome(outcome) => {
                let origin = MarkOrigin {
                    marked_by: input.marked_by,
                    source: Some(sitting.source()),
                    note: input.note,
                    is_adjudicated: sitting.settles(),
                };
                let changes = vec![(input.question.clone(), Some(outcome.clone()))];
                self.mark(&result, changes, &origin).await?;
                OutcomeKey::parse(&outcome).ok()
            }
            Judgement::CannotTell if is_of_version && result.is_ok() => {
                let abstention = Abstention {
                    result: input.result,
                    question: input.question.clone(),
                    abstained_by: input.marked_by.name,
                    abstained_at: whole_milliseconds(Utc::now()),
                    note: input.note,
                };
                let saving = database.save_abstention(sitting.prism, abstention);
                saving.await?;
                None
            }
            Judgement::CannotTell => return Err(MarksError::ResultGone),
        };
        let is_right = outcome.as_ref().and_then(|outcome| {
            let predicted = prediction(&result, &input.question)?;
            Some(predicted == *outcome)
        });
        let step = ReviewStep {
            result: input.result,
            question: input.question,
            outcome,
            is_right,
        };
        sitting.add(step);
        self.save_state(sitting).await
    }

    /// Undoes the last judgement of a person's sitting, unless they changed it elsewhere meanwhile, and
    /// returns it; `None` when nothing is left to undo.
    pub async fn undo_judgement(
        self,
        by: &Annotator,
        sitting: &mut Sitting,
    ) -> Result<Option<ReviewStep>, MarksError> {
        let database = &self.refract.database;
        let Some(step) = sitting.state.steps.pop() else {
            return Ok(None);
        };
        let is_adjudicated = sitting.settles();
        if step.outcome.is_none() {
            let withdrawing = database.withdraw_abstention(step.result, &step.question);
            withdrawing.await?;
        } else if self.is_marked_so(by, is_adjudicated, &step).await? {
            let withdrawn = [WithdrawnMark {
                question: step.question.clone(),
                by: by.clone(),
                is_adjudicated,
            }];
            let withdrawing = database.change_marks(sitting.prism, step.result, &[], &withdrawn);
            withdrawing.await?;
        }
        self.save_state(sitting).await?;
        Ok(Some(step))
    }

    /// Whether the person's mark of a question is still that of a step.
    async fn is_marked_so(
        self,
        by: &Annotator,
        is_adjudicated: bool,
        step: &ReviewStep,
    ) -> Result<bool, MarksError> {
        let marks = self.question_marks(vec![step.result]).await?;
        let marks = marks.get(&(step.result, step.question.clone()));
        let mut marks = marks.map(QuestionMarks::marks).unwrap_or_default().iter();
        Ok(marks.any(|mark| {
            mark.is_adjudicated == is_adjudicated
                && mark.marked_by.is(by)
                && Some(&mark.outcome) == step.outcome.as_ref()
        }))
    }

    async fn save_state(self, sitting: &Sitting) -> Result<(), MarksError> {
        let state = sitting.state.json().map_err(InternalError::from)?;
        let now = whole_milliseconds(Utc::now());
        let database = &self.refract.database;
        let saving = database.save_sitting_state(sitting.id, state, now);
        Ok(saving.await?)
    }
}

impl Sitting {
    /// Adds a judgement. A form that is sent twice judges once, and a changed judgement replaces the
    /// one before.
    fn add(&mut self, step: ReviewStep) {
        let is_same = |it: &ReviewStep| it.result == step.result && it.question == step.question;
        if let Some(place) = self.state.steps.iter().position(is_same) {
            self.state.steps.remove(place);
        }
        self.state.steps.push(step);
    }
}

/// The outcome that the answer to a question predicts, by the cutoffs of the lens.
fn prediction(result: &ReadableResult, question: &QuestionKey) -> Option<OutcomeKey> {
    let view = result.view();
    let answer = view.status.answers()?.get(question)?;
    let cutoffs = cutoffs_of(result.columns().lens, question);
    predicted(result.version().question(question)?, answer, cutoffs)
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
