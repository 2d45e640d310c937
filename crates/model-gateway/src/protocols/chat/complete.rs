//! Requests a completion with the parameters that the server accepts.

use std::cell::Cell;

use super::completion::{self, Completion};
use crate::attempts::CallSender;
use crate::attempts::request_series::RequestSeries;
use crate::connection::request_body::RequestBody;
use crate::error::ModelError;
use crate::report::ReportedUsage;
use crate::servers::place::ServerPlace;

/// Sends a request. Each time the server refuses a parameter that the request can do without, sends
/// the request again without it.
///
/// `write` makes the body for a server, and returns it with the parameters in it. `can_do_without`
/// decides whether to send it again without the refused parameter. Its arguments are the server,
/// the refused parameter's name, whether a number was over the server's limit, and the parameters
/// that were sent.
pub(crate) async fn complete<P: Copy>(
    call: &CallSender<'_>,
    series: &mut RequestSeries,
    write: impl Fn(ServerPlace) -> (RequestBody, P),
    can_do_without: impl Fn(ServerPlace, &str, bool, P) -> bool,
) -> Result<Completion, ModelError> {
    loop {
        let sent = Cell::new(None);
        let write = |server| {
            let (body, parameters) = write(server);
            sent.set(Some(parameters));
            body
        };
        match (call.post(write, series).await, sent.get()) {
            (Ok(body), _) => {
                let completion = completion::read(&body);
                match &completion {
                    Ok(completion) => call.recorder.add_usage(&completion.usage),
                    // an answer without a completion may have cost something
                    Err(_) => call.recorder.add_usage(&ReportedUsage::in_body(&body)),
                }
                return completion;
            }
            // every refusal removes a parameter, so the loop ends
            (
                Err(ModelError::ParameterRefused {
                    parameter,
                    is_over_limit,
                    ..
                }),
                Some(sent),
            ) if can_do_without(series.server(), parameter, is_over_limit, sent) => {}
            (Err(failure), _) => return Err(failure),
        }
    }
}
