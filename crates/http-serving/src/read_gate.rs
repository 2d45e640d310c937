//! How far a connection may be read: what the code that answers its requests tells the stream below
//! them.
//!
//! The HTTP server reads ahead for as long as bytes come, whether or not anybody takes them. The gate
//! stops it: while a request is under way, no more is read than its body's reader asks for.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use actix_web::HttpRequest;
use actix_web::http::header::CONTENT_LENGTH;

/// The gate of one connection. Clones share one gate.
#[derive(Clone, Debug, Default)]
pub struct ReadGate(Rc<GateState>);

#[derive(Debug, Default)]
struct GateState {
    /// Requests that are being answered: one at most, as the server answers them one by one.
    under_way: Cell<usize>,
    /// Bytes of the body that may be read now.
    wanted: Cell<usize>,
    /// Whether nothing but the body is in the bytes that are wanted.
    is_exact: Cell<bool>,
    /// Bytes that were read since the last request began and ended.
    since_request: Cell<usize>,
    /// Bytes of the last request's body that may still come, where nobody read it.
    unread: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

/// A request that is being answered, until the value is dropped. Its place is beside the bytes of
/// the reply: then the next request is not read before the reply was sent.
#[derive(Debug)]
pub struct RequestUnderWay(Option<ReadGate>);

/// Permission to read a body, until the value is dropped.
#[derive(Debug)]
pub(crate) struct OpenGate<'a>(&'a ReadGate);

impl ReadGate {
    /// Begins a request whose body has this declared length.
    pub(crate) fn begin(self, length: usize) -> RequestUnderWay {
        let state = &self.0;
        state.under_way.set(state.under_way.get() + 1);
        state.since_request.set(0);
        state.unread.set(length);
        RequestUnderWay(Some(self))
    }

    /// Lets a body be read until the value is dropped.
    pub(crate) fn open(&self) -> OpenGate<'_> {
        OpenGate(self)
    }

    pub(crate) fn is_request_under_way(&self) -> bool {
        self.0.under_way.get() > 0
    }

    /// The bytes that the body's reader wants now.
    pub(crate) fn wanted(&self) -> usize {
        self.0.wanted.get()
    }

    /// Whether what is wanted is the body alone, and no later request.
    pub(crate) fn is_exact(&self) -> bool {
        self.0.is_exact.get()
    }

    /// Notes that bytes of a body were read.
    pub(crate) fn read_of_body(&self, bytes: usize) {
        let wanted = self.0.wanted.get();
        self.0.wanted.set(wanted.saturating_sub(bytes));
    }

    /// The bytes that were read since the last request, without those of its own body.
    pub(crate) fn read_since_request(&self) -> usize {
        let read = self.0.since_request.get();
        read.saturating_sub(self.0.unread.get())
    }

    /// At most so many bytes are still to come of the last request's body, which nobody wants.
    pub(crate) fn unwanted(&self) -> usize {
        let unread = self.0.unread.get();
        unread.saturating_sub(self.0.since_request.get())
    }

    /// Notes that bytes were read while no request was under way.
    pub(crate) fn read_outside(&self, bytes: usize) {
        let read = self.0.since_request.get();
        self.0.since_request.set(read.saturating_add(bytes));
    }

    /// Calls this waker when more may be read.
    pub(crate) fn wake_when_open(&self, waker: &Waker) {
        let mut known = self.0.waker.borrow_mut();
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }

    fn wake(&self) {
        let waker = self.0.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl RequestUnderWay {
    /// Begins a request; without a gate where its server reads without one.
    pub fn begin(request: &HttpRequest) -> Self {
        let Some(gate) = request.conn_data::<ReadGate>().cloned() else {
            return Self(None);
        };
        let length = request.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        gate.begin(length.unwrap_or(0))
    }

    /// The gate of the request's connection.
    pub fn gate(&self) -> Option<&ReadGate> {
        self.0.as_ref()
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        if let Some(gate) = &self.0 {
            gate.0.under_way.set(gate.0.under_way.get() - 1);
            gate.wake();
        }
    }
}

impl OpenGate<'_> {
    /// Wants this many bytes more, and nothing beyond them.
    pub(crate) fn want(&self, bytes: usize) {
        self.want_up_to(bytes, true);
    }

    /// Wants at most this many bytes, in which the body may end.
    pub(crate) fn want_at_most(&self, bytes: usize) {
        self.want_up_to(bytes, false);
    }

    /// Notes that the body was read to its end.
    pub(crate) fn has_ended(&self) {
        self.0.0.unread.set(0);
    }

    fn want_up_to(&self, bytes: usize, is_exact: bool) {
        let state = &self.0.0;
        state.is_exact.set(is_exact);
        if state.wanted.replace(bytes) == 0 && bytes > 0 {
            self.0.wake();
        }
    }
}

impl Drop for OpenGate<'_> {
    fn drop(&mut self) {
        self.0.0.wanted.set(0);
    }
}
