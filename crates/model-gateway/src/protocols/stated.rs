//! The protocol `stated`: a chat model without log-probabilities answers with percentages.
//!
//! Several questions share a request, and a schema constrains the answer. The stated numbers are
//! the model's opinion of its own certainty: proper distributions, but coarser than
//! log-probabilities. A question is unanswered if its percentages are no distribution.

pub(crate) mod request;

use refract_domain::answer::{Answer, Answers};
use refract_domain::key::QuestionKey;
use refract_domain::prism::{PrismVersion, Question};
use refract_domain::submission::Submission;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::request::{
    NAMED_CODES, PERCENT_OTHERS, RefusedParameters, StatedRequest, code_name, percent_name,
};
use super::answers::{self, ReadAnswers, answer_each};
use super::chat::prompt::{CodePiece, CodeShape};
use super::chat::question_requests::complete;
use super::chat::request::ChatOpening;
use super::concurrent::{ReadingOrder, SharedText, all_answers, all_or_first_failure};
use crate::attempts::CallSender;
use crate::error::ModelError;
use crate::json::{JsonObject, nested, number, object, string};
use crate::protocols::learned_facts::LearnedFacts;
use crate::report::ParsedOutcomes;
use crate::servers::{EachServer, PrefixCache, ServerAddress};

/// Asks servers that speak chat completions with schemas.
#[derive(Debug)]
pub(crate) struct StatedProtocol {
    opening: ChatOpening,
    refused: EachServer<RefusedParameters>,
    prefix_caches: EachServer<PrefixCache>,
}

impl StatedProtocol {
    pub(crate) fn new(model: &str, addresses: &EachServer<ServerAddress>) -> Self {
        Self {
            opening: ChatOpening::new(model, request::SYSTEM),
            refused: addresses.map(|_| RefusedParameters::default()),
            prefix_caches: addresses.map(|_| PrefixCache::default()),
        }
    }

    pub(crate) fn learned(&self) -> Value {
        json!({
            "refused": self.refused.iter().collect::<Vec<_>>(),
            "prefix_caches": self.prefix_caches.iter().collect::<Vec<_>>(),
        })
    }

    pub(crate) fn recall(&mut self, facts: LearnedFacts) {
        self.refused.recall(facts.refused);
        self.prefix_caches.recall(facts.prefix_caches);
    }

    /// Asks all questions, in requests of up to ten questions: concurrent ones, after the first has
    /// made the server read a long text.
    pub(crate) async fn ask(
        &self,
        call: &CallSender<'_>,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let requests = request::split(&self.opening, version, submission);
        let shared_bytes = requests.first().map_or(0, StatedRequest::shared_bytes);
        let shared = SharedText::Beginning {
            bytes: shared_bytes,
        };
        let order = &ReadingOrder::new(
            &self.prefix_caches,
            shared,
            requests.len(),
            call.is_for_row(),
        );
        let answers = requests.into_iter();
        all_answers(answers.map(|request| self.answers(call, order, request))).await
    }

    /// Asks the questions of a request. A request that is too long for the server is halved.
    async fn answers(
        &self,
        call: &CallSender<'_>,
        order: &ReadingOrder<'_>,
        request: StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let answered = self.ask_once(call, order, &request).await;
        match answered.as_ref().err().and_then(ModelError::excess) {
            Some(_) if request.questions.len() > 1 => {
                let halves = request.halves().map(|half| self.answers(call, order, half));
                let answers = Box::pin(all_or_first_failure(halves)).await?;
                Ok(answers.into_iter().flatten().collect())
            }
            Some(_) | None => answered,
        }
    }

    async fn ask_once(
        &self,
        call: &CallSender<'_>,
        order: &ReadingOrder<'_>,
        request: &StatedRequest<'_>,
    ) -> Result<Vec<(QuestionKey, Answer)>, ModelError> {
        let write = |server| {
            let parameters = self.refused.of(server).parameters();
            (request.body(parameters), parameters)
        };
        let can_do_without = |server, parameter: &str, _, sent| {
            let refused = self.refused.of(server);
            refused.can_do_without(parameter, sent, request.names_codes())
        };
        let turn = order.turn().await;
        let mut series = turn.series(call);
        let completion = complete(call, &mut series, write, can_do_without).await;
        let completion = completion.map_err(request::about_holder)?;
        if completion.is_from_llama_cpp {
            self.prefix_caches.of(series.server()).has_slots();
        }
        turn.answered(series, &completion.usage);
        let key = request.questions.first().map(|question| &question.key);
        if let (true, None, Some(key)) = (completion.is_thinking, completion.withheld, key) {
            return Err(ModelError::StillThinking(key.clone()));
        }
        let content = completion.content.unwrap_or_default();
        let read = read(&content, request.questions);
        let read = read.map_err(|unread| match completion.withheld.zip(key) {
            Some((by, key)) => by.failure(key),
            None => unread,
        })?;
        call.recorder.add_parsed(read.parsed);
        Ok(read.answers)
    }
}

/// What the model states about one question.
struct StatedPercentages {
    /// Weight of each outcome, in order.
    weights: Vec<f64>,
    /// Number of outcomes with a stated percentage.
    listed: usize,
    /// Whether the most probable stated code does not exist in the question.
    is_unknown: bool,
}

/// Reads the answers to these questions.
fn read(content: &str, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let stated: JsonObject<'_> = object(inside(content).as_bytes()).unwrap_or_default();
    answer_each(questions, |question, parsed| {
        let raw = stated.get(question.key.as_str())?;
        answer(question, raw, parsed)
    })
}

/// Strips thinking or a code fence around the object, as servers without schemas send them.
fn inside(content: &str) -> &str {
    let content = content.rsplit("</think>").next().unwrap_or_default().trim();
    let content = content.strip_prefix("```").unwrap_or(content);
    let content = content.strip_prefix("json").unwrap_or(content);
    content.strip_suffix("```").unwrap_or(content)
}

fn answer(question: &Question, raw: &RawValue, parsed: &mut ParsedOutcomes) -> Option<Answer> {
    let json: JsonObject<'_> = nested(raw)?;
    let shape = CodeShape::of(question);
    let stated = match shape {
        CodeShape::YesNo | CodeShape::Digit | CodeShape::Letter => {
            percentages_of_all(&json, shape, shape.outcomes(question))?
        }
        CodeShape::LetterDigit => percentages_of_named(&json, shape.outcomes(question))?,
    };
    let is_zero = stated.weights.iter().all(|weight| *weight <= 0.0);
    if is_zero && !stated.is_unknown {
        return None;
    }
    parsed.outcomes += stated.weights.len();
    parsed.listed += stated.listed;
    // only Choice questions have unknown codes: other answers are keyed by code
    if stated.is_unknown {
        answers::without_value(question, &stated.weights)
    } else {
        answers::from_weights(question, &stated.weights)
    }
}

/// Reads a percentage for each outcome.
fn percentages_of_all(
    json: &JsonObject<'_>,
    shape: CodeShape,
    outcomes: usize,
) -> Option<StatedPercentages> {
    let weights = (0..outcomes).map(|place| percent(json, &shape.code(place)));
    Some(StatedPercentages {
        weights: weights.collect::<Option<_>>()?,
        listed: outcomes,
        is_unknown: false,
    })
}

/// Reads the codes that the model named, with their percentages. The other codes share the
/// remaining percentage evenly.
fn percentages_of_named(json: &JsonObject<'_>, outcomes: usize) -> Option<StatedPercentages> {
    let mut named: Vec<Option<f64>> = vec![None; outcomes];
    let mut first: Option<(usize, f64)> = None;
    for rank in 1..=NAMED_CODES {
        let code = json.get(&code_name(rank)).and_then(string)?;
        let percent = percent(json, &percent_name(rank))?;
        let Some(CodePiece::Code(place)) = CodeShape::LetterDigit.read(code.trim().as_bytes())
        else {
            // a rank that the model left empty
            if percent > 0.0 {
                return None;
            }
            continue;
        };
        if first.is_none_or(|(_, most)| percent > most) {
            first = Some((place, percent));
        }
        if let Some(slot) = named.get_mut(place) {
            // a code named twice counts once
            *slot = Some(slot.unwrap_or_default().max(percent));
        }
    }
    let others = named.iter().filter(|percent| percent.is_none()).count();
    let listed = outcomes - others;
    let others = f64::from(u32::try_from(others.max(1)).ok()?);
    let share = percent(json, PERCENT_OTHERS)? / others;
    let weights = named.into_iter().map(|named| named.unwrap_or(share));
    Some(StatedPercentages {
        weights: weights.collect(),
        listed,
        is_unknown: first.is_some_and(|(place, percent)| place >= outcomes && percent > 0.0),
    })
}

/// A percentage: finite and not below 0.
fn percent(json: &JsonObject<'_>, key: &str) -> Option<f64> {
    let percent = json.get(key).and_then(number)?;
    (percent.is_finite() && percent >= 0.0).then_some(percent)
}
