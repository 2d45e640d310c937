//! Follow-up requests: one for each unresolved letter, in the spelling that the model finds most
//! probable.

use std::collections::HashSet;

use futures_util::future::try_join_all;

use super::capabilities::{FollowUp, FollowUpMethod, USUAL_ALTERNATIVES};
use super::code_probabilities::{CodeProbabilities, DigitProbabilities};
use super::codes::codes_of;
use super::digits::digits_after;
use super::first_token::FirstToken;
use super::question_requests::QuestionRequests;
use super::request::WantedCode;
use super::token_limit::TokenLimits;
use crate::attempts::request_series::RequestSeries;
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
    let answered = requests.complete(&wanted, USUAL_ALTERNATIVES, limit, &mut series);
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
