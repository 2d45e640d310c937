//! Asks vLLM for the probabilities of code tokens by name, after its alternatives did not show all
//! codes.

use super::capabilities::{OptionalParameters, USUAL_ALTERNATIVES};
use super::chat_server::ChatServer;
use super::code_probabilities::CodeProbabilities;
use super::completion;
use super::content_start::content_start;
use super::named_tokens::NamedTokens;
use super::question_requests::QuestionRequests;
use super::reading;
use super::request::WantedCode;
use crate::attempts::request_series::RequestSeries;

/// Asks the question again with the code tokens named. `None` if the server is not vLLM or any step
/// fails: the question keeps its first answer.
pub(super) async fn ask_named(
    requests: QuestionRequests<'_>,
    series: &mut RequestSeries,
) -> Option<CodeProbabilities> {
    let server = requests.server(*series);
    let capabilities = &server.capabilities;
    learn_tokens(requests, server, series).await;
    let tokens = capabilities.named_tokens()?;
    let parameters = OptionalParameters {
        named_tokens: Some(tokens),
        ..capabilities.parameters(USUAL_ALTERNATIVES)
    };
    let prompts = requests.prompts;
    let limits = &capabilities.token_limits;
    let limit = limits.accepted(limits.of(requests.shape()).tokens());
    let body = prompts.body(requests.index, &WantedCode::Any, limit, parameters);
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
