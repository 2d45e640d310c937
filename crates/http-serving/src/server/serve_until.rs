//! Runs a listener's server until shutdown, and stops it in the right order.

use std::future::Future;
use std::io;
use std::time::Duration;

use actix_server::Server;

use crate::lifecycle::{Drained, Lifecycle};

/// Runs a server until `shutdown` resolves, then lets the calls in flight finish within the grace
/// period.
///
/// # Errors
/// When the server fails, or ends before `shutdown`.
pub fn serve_until(
    server: Server,
    lifecycle: &Lifecycle,
    grace: Duration,
    shutdown: impl Future<Output = ()>,
) -> impl Future<Output = io::Result<Drained>> {
    // boxed, because callers nest it several levels deep
    Box::pin(async move {
        let handle = server.handle();
        let mut task = tokio::spawn(server);
        tokio::select! {
            () = shutdown => {}
            ended = &mut task => {
                ended??;
                let message = format!("the {} server ended by itself", lifecycle.server());
                return Err(io::Error::other(message));
            }
        }
        let drained = lifecycle.drain(grace).await;
        // `stop` kills detached calls together with their worker, so draining comes first: after
        // it, only responses being sent and calls that outlasted the grace period remain
        handle.stop(drained == Drained::Clean).await;
        task.await??;
        Ok(drained)
    })
}

#[cfg(test)]
mod tests;
