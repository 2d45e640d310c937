//! Assembles the server, and stops its parts in the right order.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{Condition, from_fn};
use actix_web::{App, HttpServer};
use futures_util::future::LocalBoxFuture;
use prometheus_client::registry::Registry;
use refract_http_serving::{
    BodyBudget, BodyReader, Drained, Handler, Lifecycle, RequestRecorder, Serving, TrustedProxies,
    http_server, serve_until,
};
use refract_service::Refract;
use refract_traces::Traces;

use crate::ops::{self, Operations, is_loopback, refuse_other_hosts};
use crate::worker::Worker;

/// How long the rest of an unread body is received and dropped after the response, so that the
/// client gets to read the response before the connection closes.
const LINGER: Duration = Duration::from_secs(2);
/// The most API connections for each MiB of the budget: three quarters of the process's
/// connections.
const CONNECTIONS_FOR_EACH_MIB: usize = 48;

/// Listeners and limits of the API.
pub struct HttpSettings {
    /// The API's bound listener: see [`bind`](refract_http_serving::bind).
    pub listen: TcpListener,
    /// The operator's bound listener; `None` turns the operator's endpoints off.
    pub ops: Option<TcpListener>,
    /// The number of threads that serve the API.
    pub workers: NonZeroUsize,
    /// The most connections of each of these threads.
    pub connections: usize,
    /// The grace period for calls in flight after the shutdown signal.
    pub grace: Duration,
    /// The server's lifecycle. The program may announce the stop before `shutdown` resolves.
    pub lifecycle: Lifecycle,
    /// The memory budget for bodies in this process.
    pub budget: BodyBudget,
    /// The metrics behind `/metrics`; the API adds its own.
    pub registry: Registry,
    /// The proxies that are trusted to report a call's client.
    pub proxies: TrustedProxies,
    /// Traces of requests, off or on.
    pub traces: Traces,
}

/// Serves the API until `shutdown` resolves, then lets the calls in flight finish; new ones get 503
/// meanwhile. The future is boxed, so that it is compiled in this crate.
///
/// # Errors
/// When a listener cannot be served, or the server ends before `shutdown`.
pub fn serve(
    settings: HttpSettings,
    refract: Refract,
    shutdown: LocalBoxFuture<'_, ()>,
) -> LocalBoxFuture<'_, io::Result<Drained>> {
    Box::pin(async move {
        let HttpSettings {
            listen,
            ops,
            workers,
            connections,
            grace,
            lifecycle,
            budget,
            mut registry,
            proxies,
            traces,
        } = settings;
        let requests = ops::register(&mut registry, lifecycle.clone(), budget.clone());

        let ops = match ops {
            Some(listener) => {
                let registry = Arc::new(registry);
                let (refract, lifecycle) = (refract.clone(), lifecycle.clone());
                Some(ops_server(listener, refract, lifecycle, registry)?)
            }
            None => None,
        };
        let make_worker = {
            let lifecycle = lifecycle.clone();
            let bodies = BodyReader {
                budget: budget.clone(),
                lifecycle: lifecycle.clone(),
            };
            move || Worker {
                refract: Rc::new(refract.for_this_thread(Some(workers))),
                bodies: bodies.clone(),
                lifecycle: lifecycle.clone(),
                recorder: Rc::new(RequestRecorder {
                    metrics: requests.clone(),
                    lifecycle: lifecycle.clone(),
                    proxies: proxies.clone(),
                    traces: traces.clone(),
                }),
            }
        };
        let serving = Serving {
            listener: listen,
            workers,
            connections,
            connections_for_each_mib: CONNECTIONS_FOR_EACH_MIB,
            linger: LINGER,
            budget,
        };
        let make_handler = move || -> Handler {
            let worker = Rc::new(make_worker());
            Rc::new(move |request, payload| Box::pin(Rc::clone(&worker).answer(request, payload)))
        };
        let api = http_server(serving, Arc::new(make_handler))?;

        let ops = ops.map(|server| (server.handle(), tokio::spawn(server)));
        let drained = serve_until(api, &lifecycle, grace, shutdown).await?;
        if let Some((handle, task)) = ops {
            handle.stop(false).await;
            task.await??;
        }
        Ok(drained)
    })
}

fn ops_server(
    listener: TcpListener,
    refract: Refract,
    lifecycle: Lifecycle,
    registry: Arc<Registry>,
) -> io::Result<Server> {
    let is_loopback = is_loopback(listener.local_addr()?);
    let server = HttpServer::new(move || {
        let ops = Operations {
            refract: refract.for_this_thread(None),
            lifecycle: lifecycle.clone(),
            registry: Arc::clone(&registry),
        };
        App::new()
            .wrap(Condition::new(is_loopback, from_fn(refuse_other_hosts)))
            .configure(|app| ops.configure(app))
    });
    Ok(server.workers(1).disable_signals().listen(listener)?.run())
}
