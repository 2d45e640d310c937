//! Follow-up requests: one for each unresolved letter, in the spelling that the model finds most
//! probable, or one batch for all.
//!
//! In a batch, llama.cpp's server continues an answer from several first tokens. The server has
//! several slots, each with a prompt cache of its own. A request of one first token finds the slot
//! that has read the prompt, and the batch goes to that slot, which answers one token after the
//! other: otherwise every slot would read the whole prompt.

use std::cell::Cell;
use std::collections::HashSet;

use futures_util::future::try_join_all;

use super::capabilities::{FollowUp, FollowUpMethod, USUAL_ALTERNATIVES};
use super::code_probabilities::{CodeProbabilities, DigitProbabilities, FirstToken};
use super::llama_cpp::{self, Continuation, LlamaCppRequests};
use super::prompt::codes_of;
use super::question_requests::QuestionRequests;
use super::reading::{digits_after, digits_at};
use super::request::WantedCode;
use super::token_limit::TokenLimits;
use crate::attempts::admission::RequestSeries;
use crate::error::ModelError;

/// The result of a follow-up request.
struct FollowedUp {
    /// `None` if the answer does not show the digits.
    digits: Option<DigitProbabilities>,
    series: RequestSeries,
}

/// Resolves the most probable letters with up to `more` requests, until almost nothing is unread.
/// Returns the series with the time left.
pub(super) async fn follow_up(
    requests: QuestionRequests<'_>,
    probabilities: &mut CodeProbabilities,
    mut more: usize,
    mut series: RequestSeries,
) -> Result<RequestSeries, ModelError> {
    let mut unreadable = HashSet::new();
    while more > 0 && !series.is_spent() {
        let Some(FollowUp { method, is_proven }) = requests.server(series).capabilities.follow_up()
        else {
            return Ok(series);
        };
        let mut tokens = probabilities.letters_to_follow_up();
        tokens.retain(|token| !unreadable.contains(token));
        // an unproven method is tried with one request first
        tokens.truncate(if is_proven { more } else { 1 });
        if tokens.is_empty() {
            return Ok(series);
        }
        more -= tokens.len();
        let outcomes = probabilities.outcomes;
        let at_once = requests.prefix_cache(series).found_limit();
        for tokens in tokens.chunks(at_once.unwrap_or(tokens.len())) {
            let asked = tokens
                .iter()
                .filter_map(|index| probabilities.first_tokens.get(*index))
                .map(|token| ask_digits(requests, token, outcomes, method, series));
            for (index, followed_up) in tokens.iter().zip(try_join_all(asked).await?) {
                series = series.joined(followed_up.series);
                let capabilities = &requests.server(followed_up.series).capabilities;
                match followed_up.digits {
                    Some(digits) => {
                        capabilities.works(method);
                        probabilities.resolve_letter_of(*index, &digits);
                    }
                    None if is_proven || series.is_spent() => {
                        unreadable.insert(*index);
                    }
                    None => capabilities.fails(method),
                }
            }
            if series.is_spent() {
                break;
            }
        }
    }
    Ok(series)
}

/// Asks for the digit after a letter in the token's spelling.
async fn ask_digits(
    requests: QuestionRequests<'_>,
    token: &FirstToken,
    outcomes: usize,
    method: FollowUpMethod,
    mut series: RequestSeries,
) -> Result<FollowedUp, ModelError> {
    let letter = token.letter;
    let codes = codes_of(letter, outcomes);
    let wanted = match method {
        FollowUpMethod::ContinuedMessage => WantedCode::Continued {
            begun: token.spelling(),
        },
        FollowUpMethod::Schema => WantedCode::OneOf { letter, codes },
    };
    let limit = |limits: &TokenLimits| limits.continued.tokens();
    let is_begun = Cell::default();
    let alternatives = USUAL_ALTERNATIVES;
    let answered = requests.complete(&wanted, alternatives, limit, &is_begun, &mut series);
    let digits =
        match answered.await {
            Ok(completion) => {
                let found = digits_after(letter, codes, &completion.positions);
                if method == FollowUpMethod::ContinuedMessage {
                    let limits = &requests.server(series).capabilities.token_limits;
                    let needed = found.as_ref().map_or(usize::MAX, |found| found.tokens);
                    limits.continued.raise(needed);
                }
                found.map(|found| found.digits)
            }
            Err(
                ModelError::ParameterRefused { .. }
                | ModelError::Status(400 | 422)
                | ModelError::ContextTooSmall(_)
                | ModelError::ReportedError,
            ) => None,
            // at the end of the question's time, the probabilities read so far are its answer
            Err(
                ModelError::TimedOut(_) | ModelError::HeldUp(_) | ModelError::TimedOutBehind(_),
            ) if series.is_spent() => None,
            Err(failure) => return Err(failure),
        };
    Ok(FollowedUp { digits, series })
}

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
    let parameters = requests.parameters_to_begin(capabilities, USUAL_ALTERNATIVES);
    let wanted = WantedCode::Continued {
        begun: begun.clone(),
    };
    let chat = requests
        .prompts
        .body(requests.question, &wanted, 1, parameters);
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
