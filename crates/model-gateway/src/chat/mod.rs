//! The protocol `chat`: one request per question to an OpenAI-compatible model, whose answer is
//! read from its log-probabilities.
//!
//! [`prompt`] and [`request`] write, [`completion`], [`reading`] and [`answer`] read; none of them
//! knows of connections.

pub(crate) mod answer;
pub(crate) mod codes;
pub(crate) mod completion;
mod hidden;
mod manners;
pub(crate) mod prompt;
mod reading;
pub(crate) mod request;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use refract_domain::answer::{Answer, Answers};
use refract_domain::prism::PrismVersion;
use refract_domain::question::Question;
use refract_domain::submission::Submission;

use self::codes::Shape;
use self::completion::Completion;
use self::manners::{Continuing, Learned};
use self::reading::{Digits, Reading, codes_of, digits_after};
use self::request::{Prompts, Wanted};
use crate::attempts::{Requests, TimeLeft};
use crate::failure::ModelFailure;
use crate::meter::Meter;

/// A letter that was not written is followed up from this probability (readings).
const FOLLOWED_UP: f64 = 0.02;
/// Further requests for one question.
const MOST_FOLLOW_UPS: usize = 3;

/// A server that speaks chat completions with log-probabilities.
#[derive(Debug)]
pub(crate) struct Chat {
    /// Sent as `model`.
    model: String,
    learned: Learned,
}

/// One question of a call.
#[derive(Clone, Copy)]
struct Asked<'a> {
    question: &'a Question,
    index: usize,
    prompts: &'a Prompts,
    requests: &'a Requests,
    meter: &'a Meter,
}

impl Chat {
    pub(crate) fn new(model: String) -> Self {
        Self {
            model,
            learned: Learned::default(),
        }
    }

    /// Asks all questions at once. The first that fails fails the call; the others are dropped.
    pub(crate) async fn ask(
        &self,
        requests: &Requests,
        version: &PrismVersion,
        submission: &Submission,
        meter: &Meter,
    ) -> Result<Answers, ModelFailure> {
        let prompts = &Prompts::new(&self.model, version, submission);
        let questions = version.questions().iter().enumerate();
        let mut pending: FuturesUnordered<_> = questions
            .map(|(index, question)| async move {
                let asked = Asked {
                    question,
                    index,
                    prompts,
                    requests,
                    meter,
                };
                let answer = self.ask_one(asked).await?;
                Ok((index, (question.key.clone(), answer)))
            })
            .collect();
        let mut answers = Vec::with_capacity(pending.len());
        while let Some(answer) = pending.next().await {
            answers.push(answer?);
        }
        answers.sort_unstable_by_key(|(index, _)| *index);
        Ok(Answers::new(
            answers.into_iter().map(|(_, answer)| answer).collect(),
        ))
    }

    async fn ask_one(&self, asked: Asked<'_>) -> Result<Answer, ModelFailure> {
        let question = asked.question;
        let mut left = asked.requests.time();
        let completion = self.complete(asked, &Wanted::Code, &mut left).await?;
        if completion.positions.is_empty() {
            return Err(ModelFailure::NoLogProbabilities(question.key.clone()));
        }
        let shape = Shape::of(question);
        let outcomes = match shape {
            Shape::YesNo => shape.codes(),
            Shape::Digit | Shape::Letter | Shape::LetterDigit => question.outcomes().count(),
        };
        let mut reading = reading::read(shape, outcomes, &completion.positions);
        self.follow_up(asked, outcomes, &mut reading, left).await?;
        asked.meter.saw(reading.saw(outcomes));
        answer::answer(question, reading)
            .ok_or_else(|| ModelFailure::Unanswered(question.key.clone()))
    }

    /// Tells the codes of notable letters apart. The others stay for an even split.
    async fn follow_up(
        &self,
        asked: Asked<'_>,
        outcomes: usize,
        reading: &mut Reading,
        mut left: TimeLeft,
    ) -> Result<(), ModelFailure> {
        let notable = reading.letters.iter().copied().enumerate();
        let mut notable: Vec<(usize, f64)> = notable
            .filter(|(letter, share)| *share >= FOLLOWED_UP && codes_of(*letter, outcomes) > 1)
            .collect();
        notable.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut letters: VecDeque<usize> = notable.into_iter().map(|(letter, _)| letter).collect();
        let mut more = MOST_FOLLOW_UPS;
        while more > 0 && !letters.is_empty() {
            let Some(way) = self.learned.way() else {
                return Ok(());
            };
            // until a way is known to work it is tried alone
            let at_once = if way.works { more } else { 1 };
            let tried: Vec<usize> = letters.drain(..at_once.min(letters.len())).collect();
            more -= tried.len();
            let found = tried
                .iter()
                .map(|letter| self.digits(asked, outcomes, *letter, way.by, left));
            for (letter, (digits, after)) in tried.iter().zip(try_join_all(found).await?) {
                left = left.min(after);
                match digits {
                    Some(digits) => {
                        self.learned.works(way.by);
                        reading.resolve(*letter, &digits.shares);
                        reading.shown += digits.shown;
                    }
                    None if way.works => {}
                    None => {
                        self.learned.fails(way.by);
                        letters.push_front(*letter);
                    }
                }
            }
        }
        Ok(())
    }

    /// How probable each digit is after this letter; `None` where this way does not tell. And the
    /// time that is left then.
    async fn digits(
        &self,
        asked: Asked<'_>,
        outcomes: usize,
        place: usize,
        by: Continuing,
        mut left: TimeLeft,
    ) -> Result<(Option<Digits>, TimeLeft), ModelFailure> {
        let codes = codes_of(place, outcomes);
        let wanted = match by {
            Continuing::Message => Wanted::Continuation { letter: place },
            Continuing::Schema => Wanted::OneOf {
                letter: place,
                codes,
            },
        };
        let digits = match self.complete(asked, &wanted, &mut left).await {
            Ok(completion) => digits_after(place, codes, &completion.positions),
            Err(
                ModelFailure::ParameterRefused { .. }
                | ModelFailure::Status(400 | 422)
                | ModelFailure::ReportedError,
            ) => None,
            Err(failure) => return Err(failure),
        };
        Ok((digits, left))
    }

    /// Asks once; once more without a parameter that the server does not take and that can be
    /// done without.
    async fn complete(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        left: &mut TimeLeft,
    ) -> Result<Completion, ModelFailure> {
        loop {
            let manners = self.learned.manners();
            let body = asked.prompts.body(asked.index, wanted, manners);
            let answered = asked.requests.post(body, asked.meter, left).await;
            match answered {
                Ok(body) => {
                    let completion = completion::read(&body)?;
                    asked.meter.told(&completion.told);
                    return Ok(completion);
                }
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused { parameter, .. })
                    if self.learned.can_do_without(parameter, manners) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}
