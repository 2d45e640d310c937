//! Follow-up in one batch: llama.cpp's server continues an answer from several first tokens in one
//! request.
//!
//! The server has several slots, each with a prompt cache of its own. A request of one first token
//! finds the slot that has read the prompt, and the batch goes to that slot, which answers one token
//! after the other: otherwise every slot would read the whole prompt.

use super::capabilities::USUAL_ALTERNATIVES;
use super::code_probabilities::{CodeProbabilities, DigitProbabilities};
use super::codes::codes_of;
use super::digits::digits_at;
use super::first_token::FirstToken;
use super::llama_cpp::{self, Continuation, LlamaCppRequests};
use super::question_requests::QuestionRequests;
use super::request::WantedCode;
use crate::attempts::request_series::RequestSeries;
use crate::error::ModelError;

/// Number of requests of a batch: one for the prompt, one for the first continuation, and one for all
/// others.
pub(super) const BATCH_REQUESTS: usize = 3;

/// Tries to resolve all first tokens that need it with one batch, and returns whether it did. After
/// a failure, the tokens are followed up one by one: only time is lost.
pub(super) async fn follow_up_at_once(
    requests: QuestionRequests<'_>,
    probabilities: &mut CodeProbabilities,
    series: &mut RequestSeries,
) -> Result<bool, ModelError> {
    let indexes = probabilities.tokens_to_follow_up();
    let tokens = indexes.iter();
    let tokens: Vec<&FirstToken> = tokens
        .filter_map(|index| probabilities.first_tokens.get(*index))
        .collect();
    let asked = requests.server(*series);
    let llama_cpp = asked.llama_cpp.as_ref();
    let llama_cpp = llama_cpp.filter(|_| asked.capabilities.batch.is_open());
    // single requests follow up only one spelling of each letter
    let singles = probabilities.letters_to_follow_up().len();
    let is_worth_while = tokens.len() > singles.min(BATCH_REQUESTS - 1);
    let llama_cpp = llama_cpp.filter(|_| is_worth_while && !series.is_spent());
    let Some(llama_cpp) = llama_cpp else {
        return Ok(false);
    };
    let outcomes = probabilities.outcomes;
    match ask_batch(requests, llama_cpp, &tokens, outcomes, series).await {
        Ok(Some(digits)) => {
            let is_read = digits.iter().any(Option::is_some);
            if is_read {
                asked.capabilities.batch.works();
            }
            for (index, digits) in indexes.iter().zip(digits) {
                if let Some(digits) = digits {
                    probabilities.resolve(*index, &digits);
                }
            }
            Ok(is_read)
        }
        Err(failure @ ModelError::TooBusy(_)) => Err(failure),
        Ok(None) | Err(ModelError::Status(404 | 405 | 501)) => {
            asked.capabilities.batch.fails(true);
            Ok(false)
        }
        Err(_) => {
            asked.capabilities.batch.fails(false);
            Ok(false)
        }
    }
}

/// Asks for the digits after several first tokens at once. `None` if the answer differs from
/// llama.cpp's documentation.
async fn ask_batch(
    requests: QuestionRequests<'_>,
    llama_cpp: &LlamaCppRequests,
    tokens: &[&FirstToken],
    outcomes: usize,
    series: &mut RequestSeries,
) -> Result<Option<Vec<Option<DigitProbabilities>>>, ModelError> {
    let QuestionRequests { call, .. } = requests;
    let beginnings: Vec<String> = tokens.iter().map(|token| token.spelling()).collect();
    let begun = beginnings.first().cloned().unwrap_or_default();
    let capabilities = &requests.server(*series).capabilities;
    let parameters = capabilities.parameters(USUAL_ALTERNATIVES);
    let wanted = WantedCode::Continued {
        begun: begun.clone(),
    };
    let chat = requests
        .prompts
        .body(requests.index, &wanted, 1, parameters);
    let filled = call.post_to_same(llama_cpp.template(chat), series).await?;
    let Some(prompt) = llama_cpp::prompt_before(&begun, &filled) else {
        return Ok(None);
    };
    let mut continuations: Vec<Continuation> = Vec::new();
    let mut slot = None;
    let (first, others) = beginnings.split_at(1.min(beginnings.len()));
    for beginnings in [first, others] {
        if beginnings.is_empty() {
            continue;
        }
        let batch = llama_cpp.batch(&prompt, beginnings, slot);
        let answer = call.post_to_same(batch, series).await?;
        let Some(read) = llama_cpp::read_batch(&answer, beginnings.len()) else {
            return Ok(None);
        };
        slot = read.first().and_then(|continuation| continuation.slot);
        continuations.extend(read);
    }
    let digits = tokens.iter().zip(&continuations);
    let digits = digits.map(|(token, continuation)| {
        call.recorder.add_usage(&continuation.usage);
        let first = continuation.positions.first()?;
        let digits = digits_at(first, b"", codes_of(token.letter, outcomes));
        (digits.listed > 0).then_some(digits)
    });
    Ok(Some(digits.collect()))
}
