//! The app's part of a request's log record: the visitor.
//!
//! A record never contains an address, a token or a typed value; it names the route's pattern
//! instead of the path.

use std::cell::Cell;

use refract_domain::ids::PersonId;
use refract_http_serving::{EndedRequest, RequestLine};

/// The app's part of a request's log line.
#[derive(Default)]
pub(crate) struct PageLine {
    /// The signed-in person, if known.
    pub(crate) person: Cell<Option<PersonId>>,
}

impl RequestLine for PageLine {
    fn log(&self, ended: &EndedRequest<'_>) {
        tracing::info!(
            method = ended.method,
            route = ended.route,
            status = ended.status,
            ms = ended.ms,
            cut = ended.cut,
            client = ended.client.map(tracing::field::display),
            person = self.person.get().map(tracing::field::display),
            request_id = %ended.id,
            trace_id = ended.trace.trace_id().map(tracing::field::display),
            span_id = ended.trace.span_id().map(tracing::field::display),
            "page"
        );
    }
}
