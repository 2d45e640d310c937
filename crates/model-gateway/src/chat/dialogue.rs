//! The requests about one question: the first one, and follow-up requests where codes of two
//! characters were not told apart.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use refract_domain::answer::Answer;
use refract_domain::key::QuestionKey;
use refract_domain::question::Question;

use super::answer;
use super::capabilities::{FollowUp, FollowUpMethod, ServerCapabilities};
use super::code_probabilities::CodeProbabilities;
use super::codes::{CodeShape, codes_of};
use super::completion::{self, Completion};
use super::digits::{DigitProbabilities, digits_after};
use super::reading;
use super::request::{Prompts, WantedCode};
use crate::attempts::{RequestSender, TimeLeft};
use crate::failure::ModelFailure;
use crate::report::ReportRecorder;

/// A letter with at least this probability gets a follow-up request (readings).
const FOLLOWED_UP: f64 = 0.02;
/// Most follow-up requests for one question.
const MOST_FOLLOW_UPS: usize = 3;

/// One question about one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionDialogue<'a> {
    pub(super) question: &'a Question,
    /// Index of the question in the version.
    pub(super) index: usize,
    pub(super) prompts: &'a Prompts,
    pub(super) sender: &'a RequestSender,
    pub(super) recorder: &'a ReportRecorder,
    pub(super) capabilities: &'a ServerCapabilities,
}

/// What a follow-up request brought.
struct FollowedUp {
    /// `None` where the server's answer does not tell the digits apart.
    digits: Option<DigitProbabilities>,
    left: TimeLeft,
}

impl QuestionDialogue<'_> {
    /// Asks the question and returns its key with the answer.
    pub(super) async fn ask(self) -> Result<(QuestionKey, Answer), ModelFailure> {
        let question = self.question;
        let mut left = self.sender.time();
        let completion = self.complete(&WantedCode::Any, &mut left).await?;
        if completion.positions.is_empty() {
            return Err(ModelFailure::NoLogProbabilities(question.key.clone()));
        }
        let shape = CodeShape::of(question);
        let outcomes = shape.outcomes(question);
        let mut probabilities = reading::read(shape, outcomes, &completion.positions);
        self.follow_up(&mut probabilities, left).await?;
        self.recorder.add_coverage(probabilities.coverage());
        let key = question.key.clone();
        match answer::answer(question, probabilities) {
            Some(answer) => Ok((key, answer)),
            None => Err(ModelFailure::Unanswered(key)),
        }
    }

    /// Tells the codes of the most probable letters apart. Codes of the other letters will share
    /// the probability of their letter evenly.
    async fn follow_up(
        self,
        probabilities: &mut CodeProbabilities,
        mut left: TimeLeft,
    ) -> Result<(), ModelFailure> {
        let mut letters: VecDeque<usize> = letters_to_follow_up(probabilities).into();
        let mut more = MOST_FOLLOW_UPS;
        while more > 0 && !letters.is_empty() {
            let Some(FollowUp { method, is_proven }) = self.capabilities.follow_up() else {
                return Ok(());
            };
            // a method that is not known to work is tried with one request
            let at_once = if is_proven { more } else { 1 };
            let tried: Vec<usize> = letters.drain(..at_once.min(letters.len())).collect();
            more -= tried.len();
            let outcomes = probabilities.outcomes;
            let found = tried
                .iter()
                .map(|letter| self.ask_digits(*letter, codes_of(*letter, outcomes), method, left));
            for (letter, followed_up) in tried.iter().zip(try_join_all(found).await?) {
                left = left.min(followed_up.left);
                match followed_up.digits {
                    Some(digits) => {
                        self.capabilities.works(method);
                        probabilities.resolve(*letter, &digits.probabilities);
                        probabilities.listed += digits.listed;
                    }
                    None if is_proven => {}
                    None => {
                        self.capabilities.fails(method);
                        letters.push_front(*letter);
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks for the digit after a letter with this many codes.
    async fn ask_digits(
        self,
        letter: usize,
        codes: usize,
        method: FollowUpMethod,
        mut left: TimeLeft,
    ) -> Result<FollowedUp, ModelFailure> {
        let wanted = match method {
            FollowUpMethod::ContinuedMessage => WantedCode::Continued { letter },
            FollowUpMethod::Schema => WantedCode::OneOf { letter, codes },
        };
        let digits = match self.complete(&wanted, &mut left).await {
            Ok(completion) => digits_after(letter, codes, &completion.positions),
            Err(
                ModelFailure::ParameterRefused { .. }
                | ModelFailure::Status(400 | 422)
                | ModelFailure::ReportedError,
            ) => None,
            Err(failure) => return Err(failure),
        };
        Ok(FollowedUp { digits, left })
    }

    /// Sends a request, and sends it again without each parameter that the server refuses and that
    /// the request can do without.
    async fn complete(
        self,
        wanted: &WantedCode,
        left: &mut TimeLeft,
    ) -> Result<Completion, ModelFailure> {
        loop {
            let parameters = self.capabilities.parameters();
            let body = self.prompts.body(self.index, wanted, parameters);
            match self.sender.post(body, self.recorder, left).await {
                Ok(body) => {
                    let completion = completion::read(&body)?;
                    self.recorder.add_usage(&completion.usage);
                    return Ok(completion);
                }
                // each refusal takes a parameter away, so this ends
                Err(ModelFailure::ParameterRefused { parameter, .. })
                    if self.capabilities.can_do_without(parameter, parameters) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}

/// Letters of several codes that are probable enough, the most probable first.
fn letters_to_follow_up(probabilities: &CodeProbabilities) -> Vec<usize> {
    let letters = probabilities.letters.iter().copied().enumerate();
    let mut notable: Vec<(usize, f64)> = letters
        .filter(|(letter, probability)| {
            *probability >= FOLLOWED_UP && codes_of(*letter, probabilities.outcomes) > 1
        })
        .collect();
    notable.sort_by(|one, other| other.1.total_cmp(&one.1));
    notable.into_iter().map(|(letter, _)| letter).collect()
}
