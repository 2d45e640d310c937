//! What a retest found: the flips of each question, and the single answers that flipped. It is made
//! from the texts: stored results, each with what is asked about it and what of the answers can be
//! compared.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use refract_domain::answer::{Answer, Answers, Probability};
use refract_domain::ids::ResultId;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::lens::{Column, Cutoffs, YesNoLabel, cutoffs_of};
use refract_domain::prism::{PrismVersion, Question};
use refract_domain::result::mark::Mark;
use refract_domain::submission::{Submission, budget};
use refract_evaluation::flips::{FlipCounts, FlipMeasures, sureness};
use refract_evaluation::marked::predicted;
use refract_lens_rendering::FlipRow;

use crate::asking::{AskedTexts, AskingPace};
use crate::results::read::ReadableResult;

/// What a retest found so far.
#[derive(Clone, Debug)]
pub struct RetestReport {
    /// Texts that the model was asked about, without those that were answered before.
    pub asked: AskedTexts,
    /// Texts whose new answers were known before the retest began.
    pub known: u64,
    /// The compared questions.
    pub questions: Vec<RetestedQuestion>,
    flipped: Vec<FlippedAnswer>,
    comparable: Comparable,
}

/// A question that was asked again about many texts.
#[derive(Clone, Debug)]
pub struct RetestedQuestion {
    /// The question, in the wording of the version that was asked.
    pub question: Question,
    cutoffs: Cutoffs,
    flips: FlipCounts,
}

/// An answer that flipped.
#[derive(Clone, Debug)]
pub struct FlippedAnswer {
    /// The stored result.
    pub result: ResultId,
    /// The result's `ref`.
    pub reference: Option<String>,
    /// The question.
    pub question: QuestionKey,
    /// What the stored answer predicts.
    pub before: PredictedOutcome,
    /// What the new answer predicts.
    pub after: PredictedOutcome,
    /// The marked outcome.
    pub marked: Option<OutcomeKey>,
    /// How sure the flip is ([`sureness`]).
    pub sureness: Probability,
}

/// What an answer predicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedOutcome {
    /// The outcome, or `unsure` of a Yes / No; `None` if the answer is no valid choice.
    pub outcome: Option<OutcomeKey>,
    /// The probability of the outcome; of `unsure` that of yes.
    pub probability: Option<Probability>,
}

impl FlippedAnswer {
    /// The flip as a row of a file.
    pub fn row(&self) -> FlipRow<'_> {
        FlipRow {
            result: self.result,
            reference: self.reference.as_deref(),
            question: &self.question,
            before: self.before.with_probability(),
            after: self.after.with_probability(),
            marked: self.marked.as_ref(),
        }
    }
}

impl PredictedOutcome {
    fn with_probability(&self) -> Option<(&OutcomeKey, Option<Probability>)> {
        let outcome = self.outcome.as_ref()?;
        Some((outcome, self.probability))
    }
}

impl RetestReport {
    /// The report before the first answer. The lens has the cutoffs of Yes / No questions.
    pub(super) fn new<'a>(
        questions: impl IntoIterator<Item = &'a Question>,
        (lens, comparable): (&[Column], Comparable),
        pace: AskingPace,
    ) -> Self {
        let questions = questions.into_iter();
        let questions = questions.map(|question| RetestedQuestion::new(question, lens));
        Self {
            asked: AskedTexts::new(pace),
            known: 0,
            questions: questions.collect(),
            flipped: Vec::new(),
            comparable,
        }
    }

    /// Adds questions that are compared on further texts; those that are there stay.
    pub(super) fn add_questions<'a>(
        &mut self,
        questions: impl IntoIterator<Item = &'a Question>,
        lens: &[Column],
    ) {
        for question in questions {
            let mut known = self.questions.iter();
            if known.all(|known| known.question.key != question.key) {
                self.questions.push(RetestedQuestion::new(question, lens));
            }
        }
    }

    /// Puts the questions into this order, in this wording.
    pub(super) fn order_questions(&mut self, questions: &[&Question]) {
        let found = std::mem::take(&mut self.questions);
        let place = |key: &QuestionKey| questions.iter().position(|it| it.key == *key);
        let mut placed: Vec<_> = found
            .into_iter()
            .filter_map(|it| Some((place(&it.question.key)?, it)))
            .collect();
        placed.sort_by_key(|(place, _)| *place);
        let ordered = placed.into_iter().map(|(place, it)| {
            let question = questions.get(place).map(|it| Question::clone(it));
            let question = question.unwrap_or_else(|| it.question.clone());
            RetestedQuestion { question, ..it }
        });
        self.questions = ordered.collect();
    }

    /// Compares the stored answers to a text with new ones, which `version` gave.
    pub(super) fn compare(&mut self, text: &RetestText, version: &PrismVersion, new: &Answers) {
        let Some(stored) = text.stored.view().status.answers() else {
            return;
        };
        for retested in &mut self.questions {
            let key = &retested.question.key;
            let pair = stored.get(key).zip(new.get(key));
            let asked = version.question(key);
            let earlier = text.stored.version();
            let asked = asked.filter(|it| self.comparable.are_compared(earlier, it));
            let Some((question, (before, after))) = asked.zip(pair) else {
                continue;
            };
            if let Some(flipped) = retested.add(text, question, before, after) {
                self.flipped.push(flipped);
            }
        }
    }

    /// The answers that flipped, the surest flips first, then by result and question.
    pub fn flipped(&self) -> Vec<&FlippedAnswer> {
        let mut flipped: Vec<_> = self.flipped.iter().collect();
        flipped.sort_by_key(|it| (Reverse(it.sureness), it.result, &it.question));
        flipped
    }
}

impl RetestedQuestion {
    fn new(question: &Question, lens: &[Column]) -> Self {
        Self {
            question: question.clone(),
            cutoffs: cutoffs_of(lens, &question.key),
            flips: FlipCounts::default(),
        }
    }

    /// The flips over all texts.
    pub fn measures(&self) -> FlipMeasures {
        self.flips.measures()
    }

    fn add(
        &mut self,
        text: &RetestText,
        question: &Question,
        before: &Answer,
        after: &Answer,
    ) -> Option<FlippedAnswer> {
        let marked = text.mark(&question.key);
        let predict = |answer: &Answer| PredictedOutcome::of(question, answer, self.cutoffs);
        let (from, to) = (predict(before), predict(after));
        let are_outcomes = [before, after]
            .into_iter()
            .all(|answer| predicted(question, answer, self.cutoffs).is_some());
        let judging = marked.filter(|_| are_outcomes);
        self.flips
            .add(from.outcome.as_ref(), to.outcome.as_ref(), judging);
        if from.outcome == to.outcome {
            return None;
        }
        let view = text.stored.view();
        Some(FlippedAnswer {
            result: view.id,
            reference: view.reference.map(str::to_owned),
            question: question.key.clone(),
            before: from,
            after: to,
            marked: marked.cloned(),
            sureness: sureness(before, after),
        })
    }
}

impl PredictedOutcome {
    fn of(question: &Question, answer: &Answer, cutoffs: Cutoffs) -> Self {
        let outcome = predicted(question, answer, cutoffs);
        if let (None, Answer::YesNo { probability }) = (&outcome, answer) {
            return Self {
                outcome: OutcomeKey::parse(YesNoLabel::Unsure.key()).ok(),
                probability: Some(*probability),
            };
        }
        Self {
            probability: outcome.as_ref().and_then(|key| answer.probability_of(key)),
            outcome,
        }
    }
}

/// A stored text that is asked about again.
pub(super) struct RetestText {
    pub(super) stored: ReadableResult,
    /// The text with the fields of the version that is asked.
    pub(super) submission: Submission,
    /// The marks of the stored result that count.
    marks: Vec<(QuestionKey, OutcomeKey)>,
}

/// Why a stored text is not asked about again.
pub(super) enum NotAsked {
    /// The text lacks a field of the version.
    LacksField,
    /// The text is over the token budget with the version.
    TooLarge,
    /// No question of the stored answers can be compared.
    NothingToCompare,
}

impl RetestText {
    /// The text of a stored result, about which `asked` is asked, or the version that answered
    /// before.
    pub(super) fn new(stored: ReadableResult, asked: &AskedWords) -> Result<Self, NotAsked> {
        let version = asked.version().unwrap_or_else(|| stored.version());
        let submission = stored.submission().for_fields(version.fields());
        let submission = submission.ok_or(NotAsked::LacksField)?;
        budget::check(version, &submission).map_err(|_| NotAsked::TooLarge)?;
        let mut questions = version.questions().iter();
        let comparable = asked.comparable();
        if !questions.any(|question| comparable.are_compared(stored.version(), question)) {
            return Err(NotAsked::NothingToCompare);
        }
        Ok(Self {
            stored,
            submission,
            marks: Vec::new(),
        })
    }

    /// Adds a mark of the stored result.
    pub(super) fn add_mark(&mut self, mark: Mark) {
        self.marks.push((mark.question, mark.outcome));
    }

    /// The marked outcome of a question.
    pub(super) fn mark(&self, question: &QuestionKey) -> Option<&OutcomeKey> {
        let mut marks = self.marks.iter();
        let (_, outcome) = marks.find(|(marked, _)| marked == question)?;
        Some(outcome)
    }

    /// The version that is asked: `asked`, or the one that answered before.
    pub(super) fn version<'a>(&'a self, asked: Option<&'a PrismVersion>) -> &'a PrismVersion {
        asked.unwrap_or_else(|| self.stored.version())
    }
}

/// What is asked about each text again.
#[derive(Clone, Debug)]
pub(crate) enum AskedWords {
    /// The version that answered it.
    OfEach,
    /// A saved version, or one of a file.
    Version(Arc<PrismVersion>),
    /// A person's draft of the next version.
    Draft(Arc<PrismVersion>),
}

impl AskedWords {
    /// The one version that is asked about all texts, if there is one.
    pub(crate) fn version(&self) -> Option<&PrismVersion> {
        match self {
            Self::OfEach => None,
            Self::Version(version) | Self::Draft(version) => Some(version),
        }
    }

    pub(super) fn comparable(&self) -> Comparable {
        match self {
            Self::OfEach | Self::Version(_) => Comparable::SameOutcomes,
            Self::Draft(_) => Comparable::SameType,
        }
    }
}

impl From<Option<Arc<PrismVersion>>> for AskedWords {
    fn from(version: Option<Arc<PrismVersion>>) -> Self {
        version.map_or(Self::OfEach, Self::Version)
    }
}

/// Which answers of an earlier version can be compared with new ones to the question of that key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparable {
    /// Those to a question of the same type with the same outcomes, in any order.
    SameOutcomes,
    /// Those to a question of the same type: of a draft one wants to know what an option more or
    /// less changes.
    SameType,
}

impl Comparable {
    pub(super) fn are_compared(self, before: &PrismVersion, question: &Question) -> bool {
        let outcomes = |question: &Question| -> BTreeSet<String> {
            let outcomes = question.outcomes();
            outcomes.map(|outcome| outcome.key.to_owned()).collect()
        };
        before.question(&question.key).is_some_and(|before| {
            before.question_type() == question.question_type()
                && (self == Self::SameType || outcomes(before) == outcomes(question))
        })
    }
}
