//! The requests about one question, in order: the first one, then others if it did not show the
//! probability of every code.

use std::cell::Cell;

use refract_domain::answer::{Answer, Probability};
use refract_domain::key::QuestionKey;

use super::capabilities::{MOST_ALTERNATIVES, OptionalParameters, USUAL_ALTERNATIVES};
use super::code_probabilities::CodeProbabilities;
use super::completion::{self, Completion};
use super::follow_ups::{BATCH_REQUESTS, follow_up, follow_up_at_once};
use super::named_tokens::NamedTokens;
use super::question_requests::{ChatServer, QuestionRequests};
use super::reading::{self, LEAST_MASS};
use super::request::WantedCode;
use super::token_limit::{MOST_CODE_TOKENS, TokenLimits};
use super::written_answer::{content_start, text_of, without_lead, written_instead};
use crate::attempts::admission::RequestSeries;
use crate::error::{ModelError, refusal};
use crate::protocols::concurrent::ReadingOrder;
use crate::report::ReportedUsage;

/// One question about one submission.
#[derive(Clone, Copy)]
pub(super) struct QuestionDialogue<'a> {
    pub(super) requests: QuestionRequests<'a>,
    pub(super) order: &'a ReadingOrder<'a>,
    /// Upper bound on the follow-up requests.
    pub(super) follow_ups: usize,
}

/// The probabilities from the first request, and whether llama.cpp answered it.
struct FirstReading {
    probabilities: CodeProbabilities,
    is_from_llama_cpp: bool,
    usage: ReportedUsage,
    /// The beginning of what the model wrote.
    text: Vec<u8>,
}

impl FirstReading {
    fn has_code(&self) -> bool {
        has_code(&self.probabilities)
    }

    /// Whether the answer begins with the key that the request had begun it with, instead of a code.
    fn repeats(&self, key: &QuestionKey) -> bool {
        let text = without_lead(&self.text);
        let key = key.as_str().as_bytes();
        !text.is_empty()
            && self.probabilities.written.is_none()
            && (text.starts_with(key) || key.starts_with(text.trim_ascii_end()))
    }
}

/// Whether an answer shows a code, be it one that the question lacks.
fn has_code(probabilities: &CodeProbabilities) -> bool {
    probabilities.mass >= LEAST_MASS || probabilities.writes_no_outcome()
}

impl QuestionDialogue<'_> {
    /// Asks the question and returns its key with the answer.
    pub(super) async fn ask(self) -> Result<(QuestionKey, Answer), ModelError> {
        let requests = self.requests;
        // held until the end: follow-up requests read the question from the same cache
        let turn = self.order.turn().await;
        let mut series = turn.series(requests.call);
        let alternatives = requests.usual_alternatives(series);
        let first = self.ask_first(alternatives, &mut series).await?;
        if first.is_from_llama_cpp {
            requests.prefix_cache(series).has_slots();
        }
        turn.answered(series, &first.usage);
        let first = self.ask_for_hidden(first, &mut series).await?;
        let mut probabilities = first.probabilities;
        let is_followed_up = first.is_from_llama_cpp
            && self.follow_ups >= BATCH_REQUESTS
            && follow_up_at_once(requests, &mut probabilities, &mut series).await?;
        if !is_followed_up {
            series = follow_up(requests, &mut probabilities, self.follow_ups, series).await?;
        }
        turn.end(series);
        requests.call.recorder.add_parsed(probabilities.parsed());
        let key = requests.question.key.clone();
        let mass = probabilities.mass;
        match reading::answer(requests.question, probabilities) {
            Some(answer) => Ok((key, answer)),
            None if mass < LEAST_MASS => Err(ModelError::OffCodes {
                wrote: written_instead(requests.question, &first.text),
                percent: Probability::from_f64(mass).unwrap_or_default().percent(),
                question: key,
            }),
            None => Err(ModelError::Unanswered(key)),
        }
    }

    /// Asks the question again if codes are missing from the listed alternatives: for more
    /// alternatives, or for the tokens of codes by name.
    async fn ask_for_hidden(
        self,
        mut first: FirstReading,
        series: &mut RequestSeries,
    ) -> Result<FirstReading, ModelError> {
        let capabilities = &self.requests.server(*series).capabilities;
        let asked = capabilities.alternatives(self.requests.usual_alternatives(*series));
        let hides_codes = first.probabilities.hides_codes(asked);
        let hides_spellings = first.probabilities.hides_spellings(asked);
        let may_list_more = capabilities.alternatives(MOST_ALTERNATIVES) > asked;
        if may_list_more && (hides_codes || hides_spellings) {
            if hides_spellings {
                capabilities.hides_spellings();
            }
            let is_begun = Cell::default();
            return self
                .ask_codes(&WantedCode::Any, MOST_ALTERNATIVES, &is_begun, series)
                .await;
        }
        if !hides_codes {
            return Ok(first);
        }
        let named = ask_named(self.requests, series).await;
        if let Some(named) = named.filter(|named| named.mass >= first.probabilities.mass) {
            first.probabilities = named;
        }
        Ok(first)
    }

    /// Asks for any code, and finds out whether the server goes on after the beginning of an answer.
    /// A server that has not done so yet, and refuses the request or goes on with no code, is asked
    /// without a beginning. If that is answered by a code, it is asked like that from now on: one that
    /// refuses in all questions, else in those with codes of the same shape.
    async fn ask_first(
        self,
        alternatives: u16,
        series: &mut RequestSeries,
    ) -> Result<FirstReading, ModelError> {
        // of the request that was sent: others may have learned of the server meanwhile
        let is_begun = Cell::default();
        let first = self
            .ask_codes(&WantedCode::Any, alternatives, &is_begun, series)
            .await;
        let requests = self.requests;
        let capabilities = &requests.server(*series).capabilities;
        let begun_answers = capabilities.begun_answers(requests.shape());
        let is_in_doubt = is_begun.get() && !begun_answers.has_worked();
        let is_refused = match &first {
            Err(ModelError::Status(400 | 422)) => true,
            Err(ModelError::ReportedError) => {
                refusal::is_about_messages(&requests.call.recorder.last_body())
            }
            Ok(_) | Err(_) => false,
        };
        let has_code = first
            .as_ref()
            .is_ok_and(|read| read.has_code() && !read.repeats(&requests.question.key));
        if is_in_doubt && has_code {
            begun_answers.works();
        }
        if !is_in_doubt || has_code || first.is_err() && !is_refused {
            return first;
        }
        let unbegun = self.ask_codes(&WantedCode::Unbegun, alternatives, &is_begun, series);
        match unbegun.await {
            Ok(read) if read.has_code() => {
                if is_refused {
                    capabilities.refuses_begun_answers();
                }
                begun_answers.fails(true);
                Ok(read)
            }
            Ok(_) | Err(_) => first,
        }
    }

    /// Asks for a code, and for this many alternatives to each token if the server lists them. An
    /// answer that ended before it showed a code is asked for again, with the most tokens.
    async fn ask_codes(
        self,
        wanted: &WantedCode,
        alternatives: u16,
        is_begun: &Cell<bool>,
        series: &mut RequestSeries,
    ) -> Result<FirstReading, ModelError> {
        let requests = self.requests;
        let (shape, outcomes) = (requests.shape(), requests.outcomes());
        let learned = |limits: &TokenLimits| limits.of(shape).tokens();
        let mut completion = requests
            .complete(wanted, alternatives, learned, is_begun, series)
            .await?;
        let read = |completion: &Completion| {
            let content = content_start(completion);
            let start = content.unwrap_or_default();
            let positions = &completion.positions;
            (content, reading::read(shape, outcomes, positions, start))
        };
        let (mut content, mut probabilities) = read(&completion);
        let may_go_on = completion.is_cut && completion.withheld.is_none();
        if may_go_on && is_undecided(&completion, &probabilities) {
            let most = |_: &TokenLimits| MOST_CODE_TOKENS;
            completion = requests
                .complete(wanted, alternatives, most, is_begun, series)
                .await?;
            (content, probabilities) = read(&completion);
        }
        let limits = &requests.server(*series).capabilities.token_limits;
        limits.learn(shape, &completion, &probabilities);
        let key = &requests.question.key;
        if let Some(by) = completion.withheld.filter(|_| !has_code(&probabilities)) {
            return Err(by.failure(key));
        }
        if completion.is_thinking {
            requests.server(*series).capabilities.still_thinks();
            return Err(ModelError::StillThinking(key.clone()));
        }
        if completion.positions.is_empty() {
            return Err(ModelError::NoLogProbabilities(key.clone()));
        }
        if content.is_none() {
            return Err(ModelError::OtherTokens(key.clone()));
        }
        Ok(FirstReading {
            probabilities,
            is_from_llama_cpp: completion.is_from_llama_cpp,
            usage: completion.usage,
            text: text_of(&completion.positions),
        })
    }
}

/// Whether more tokens may show a code, or show that the written one is none: the answer has only
/// begun, or the question lacks the written code, which may be the first word of a sentence.
fn is_undecided(completion: &Completion, probabilities: &CodeProbabilities) -> bool {
    let is_begun = !completion.positions.is_empty() && !probabilities.is_at_code;
    completion.is_thinking || is_begun || probabilities.writes_no_outcome()
}

/// Asks the question again with the code tokens named. `None` if the server is not vLLM or any step
/// fails: the question keeps its first answer.
async fn ask_named(
    requests: QuestionRequests<'_>,
    series: &mut RequestSeries,
) -> Option<CodeProbabilities> {
    let server = requests.server(*series);
    let capabilities = &server.capabilities;
    learn_tokens(requests, server, series).await;
    let tokens = capabilities.named_tokens()?;
    let parameters = OptionalParameters {
        named_tokens: Some(tokens),
        ..requests.parameters_to_begin(capabilities, USUAL_ALTERNATIVES)
    };
    let prompts = requests.prompts;
    let limit = capabilities.token_limits.of(requests.shape()).tokens();
    let body = prompts.body(requests.question, &WantedCode::Any, limit, parameters);
    let Ok(answer) = requests.call.post_to_same(body, series).await else {
        capabilities.naming.fails(false);
        return None;
    };
    let completion = completion::read(&answer).ok();
    let listed = completion.and_then(|mut completion| {
        requests.call.recorder.add_usage(&completion.usage);
        let is_listed = tokens.mark(&mut completion.positions);
        let content = content_start(&completion)?;
        is_listed.then_some((completion.positions, content))
    });
    let Some((positions, content)) = listed else {
        capabilities.naming.fails(true);
        return None;
    };
    capabilities.naming.works();
    let (shape, outcomes) = (requests.shape(), requests.outcomes());
    Some(reading::read(shape, outcomes, &positions, content))
}

/// Asks once which tokens spell codes.
async fn learn_tokens(
    requests: QuestionRequests<'_>,
    server: &ChatServer,
    series: &mut RequestSeries,
) {
    let tokenize = server.tokenize.as_ref();
    let tokenize = tokenize.filter(|_| server.capabilities.asks_for_tokens());
    let Some(tokenize) = tokenize else {
        return;
    };
    let body = tokenize.body();
    let answer = requests.call.post_to_same(body, series).await;
    if let Some(tokens) = answer.ok().and_then(|answer| NamedTokens::read(&answer)) {
        server.capabilities.learn_tokens(tokens);
    }
}
