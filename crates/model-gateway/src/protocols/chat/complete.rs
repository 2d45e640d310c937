//! Asks for a completion, with what the server takes.

use std::cell::Cell;

use super::completion::{self, Completion};
use crate::attempts::CallSender;
use crate::attempts::request_series::RequestSeries;
use crate::connection::request_body::RequestBody;
use crate::failure::ModelError;
use crate::servers::place::ServerPlace;

/// Sends a request, and sends it again without each parameter that the server refuses and that the
/// request can do without.
///
/// `write` gives the body for a server with its parameters. `can_do_without` is asked whether the
/// parameter of this name, which was refused by that server for a number over its limit or
/// otherwise, can be left out of these parameters.
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
                let completion = completion::read(&body)?;
                call.recorder.add_usage(&completion.usage);
                return Ok(completion);
            }
            // each refusal takes a parameter away, so this ends
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
