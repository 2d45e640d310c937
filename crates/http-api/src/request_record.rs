//! The API's part of a request's record: the caller, and the result in the reply.
//!
//! A record never contains a text, a context, a `ref` or a key. The caller is recorded as the id of
//! the API key.

use refract_http_serving::{EndedRequest, RequestLine, RequestRecord};
use refract_service::keys::CallKeyId;

use crate::reply::{Reply, ReplySubject};

/// The API's part of a request's log line.
#[derive(Default)]
pub(crate) struct CallLine {
    /// Set once the caller's key is found.
    pub(crate) key: CallKeyId,
    subject: Option<ReplySubject>,
}

impl RequestLine for CallLine {
    fn log(&self, ended: &EndedRequest<'_>) {
        let subject = self.subject.as_ref();
        tracing::info!(
            method = ended.method,
            route = ended.route,
            status = ended.status,
            ms = ended.ms,
            cut = ended.cut,
            prism = subject.map(|subject| subject.prism.as_str()),
            result = subject.map(|subject| tracing::field::display(subject.result)),
            key = self.key.get().map(tracing::field::display),
            client = ended.client.map(tracing::field::display),
            request_id = %ended.id,
            trace_id = ended.trace.trace_id().map(tracing::field::display),
            span_id = ended.trace.span_id().map(tracing::field::display),
            "request"
        );
    }
}

/// Ends the record of a request with its reply.
pub(crate) fn end(mut record: RequestRecord<CallLine>, reply: &Reply) {
    if let Some(subject) = reply.subject() {
        let ReplySubject { prism, result } = subject;
        record.trace_mut().answered_with(prism, result);
        record.line_mut().subject = Some(subject.clone());
    }
    record.end(reply.status().as_u16());
}

#[cfg(test)]
mod tests;
