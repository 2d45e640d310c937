//! Streams with a gate: the next request of a connection is not read before the current one is
//! answered. The code that answers requests controls how far the stream is read.
//!
//! The HTTP server reads ahead as long as bytes arrive, whether or not they are used. The gate
//! stops it: during a request, only the bytes that its body's reader asks for are read.

pub(crate) mod gated_stream;
pub(crate) mod head_fields;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use actix_web::HttpRequest;

use crate::body::frame::BodyFrame;

/// The gate of one connection. Clones share one gate.
#[derive(Clone, Debug, Default)]
pub struct ReadGate(Rc<GateState>);

#[derive(Debug)]
struct GateState {
    /// Requests in progress: at most one, because the server answers them one by one.
    under_way: Cell<usize>,
    /// Bytes that may be read now if they belong to the body.
    wanted: Cell<usize>,
    /// The unread part of the last request's body.
    body: Cell<BodyFrame>,
    /// Bytes that were read since the last request ended, not counting its own body.
    since_request: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

impl Default for GateState {
    fn default() -> Self {
        Self {
            under_way: Cell::default(),
            wanted: Cell::default(),
            body: Cell::new(BodyFrame::Length(0)),
            since_request: Cell::default(),
            waker: RefCell::default(),
        }
    }
}

/// A request in progress, until the value is dropped. Keep it with the bytes of the reply: then the
/// next request is not read before the reply is sent.
#[derive(Debug)]
pub struct RequestUnderWay(Option<ReadGate>);

/// Permission to read a body, until the value is dropped.
#[derive(Debug)]
pub(crate) struct OpenGate<'a>(&'a ReadGate);

impl ReadGate {
    /// Begins a request with this body.
    pub(crate) fn begin(self, body: BodyFrame) -> RequestUnderWay {
        let state = &self.0;
        state.under_way.set(state.under_way.get() + 1);
        state.since_request.set(0);
        state.body.set(body);
        RequestUnderWay(Some(self))
    }

    /// Allows reading a body until the value is dropped.
    pub(crate) fn open(&self) -> OpenGate<'_> {
        OpenGate(self)
    }

    pub(crate) fn is_request_under_way(&self) -> bool {
        self.0.under_way.get() > 0
    }

    /// Bytes that may be read now if they belong to the body.
    pub(crate) fn wanted(&self) -> usize {
        self.0.wanted.get()
    }

    /// Whether part of the last request's body is still unread.
    pub(crate) fn is_body_open(&self) -> bool {
        self.0.body.get().is_open()
    }

    /// A lower bound on how many of the next bytes belong to the body.
    pub(crate) fn surely_of_body(&self) -> usize {
        self.0.body.get().surely()
    }

    /// Takes the bytes at the beginning of `bytes` that belong to the body, and returns their
    /// number.
    pub(crate) fn take_of_body(&self, bytes: &[u8]) -> usize {
        let mut body = self.0.body.get();
        let taken = body.take(bytes);
        self.0.body.set(body);
        let wanted = self.0.wanted.get();
        self.0.wanted.set(wanted.saturating_sub(taken));
        taken
    }

    /// Bytes that were read since the last request ended, not counting its own body.
    pub(crate) fn read_since_request(&self) -> usize {
        self.0.since_request.get()
    }

    /// Counts bytes of a head that were read.
    pub(crate) fn read_of_head(&self, bytes: usize) {
        let read = self.0.since_request.get();
        self.0.since_request.set(read.saturating_add(bytes));
    }

    /// Registers the waker to call when more may be read.
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
    /// Begins a request. Controls nothing if the server of the request has no gate.
    pub fn begin(request: &HttpRequest) -> Self {
        let Some(gate) = request.conn_data::<ReadGate>().cloned() else {
            return Self(None);
        };
        gate.begin(BodyFrame::of(request))
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
    /// Asks for at most this many further bytes of the body.
    pub(crate) fn want(&self, bytes: usize) {
        let state = &self.0.0;
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
