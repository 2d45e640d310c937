//! Runs a listener's server until it is told to stop, and stops it in the right order.

use std::future::Future;
use std::io;
use std::time::Duration;

use actix_server::Server;

use crate::lifecycle::{Drained, Lifecycle};

/// Runs a server until `shutdown` resolves, then lets the calls in flight finish within the grace
/// time.
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
        // `stop` kills detached calls together with their worker, so draining comes first: what is
        // left is responses on their way out, or calls that outlasted the grace time
        handle.stop(drained == Drained::Clean).await;
        task.await??;
        Ok(drained)
    })
}

#[cfg(test)]
mod tests;
