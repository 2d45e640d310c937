//! Scripted replies: what a reply contains, and how much of it is sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::http::{self, ReceivedRequest};
use super::progress::ServerProgress;
use super::typed_answers;

/// A reply to one request, built in steps:
/// `ScriptedReply::status(429).header("Retry-After", "1").held()`.
#[derive(Clone, Debug)]
pub struct ScriptedReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: ScriptedBody,
    framing: Framing,
    delivery: Delivery,
}

/// Makes JSON from a request, and optionally a status other than the reply's.
type ComputeReply = dyn Fn(&ReceivedRequest) -> (Option<u16>, Value) + Send + Sync;

#[derive(Clone)]
enum ScriptedBody {
    Fixed(Arc<[u8]>),
    Computed(Arc<ComputeReply>),
}

/// How a client finds the end of the body.
#[derive(Clone, Copy, Debug)]
enum Framing {
    Length,
    Chunked,
    /// HTTP/1.0: the body ends with the connection.
    UntilClose,
    /// HTTP/1.1 without length or chunks: the body ends with the connection.
    UntilCloseNow,
    /// The body is sent without a head.
    Bare,
}

#[derive(Clone, Copy, Debug)]
enum Delivery {
    /// The whole reply at once.
    Whole,
    /// The whole reply after this time.
    Later(Duration),
    /// Nothing until the reply is released.
    Held,
    /// The head and half of the body; the rest follows when the reply is released.
    BodyHeld,
    /// The head and half of the body, then the connection ends.
    Cut,
    /// The connection ends without a byte.
    Nothing,
}

impl ScriptedReply {
    /// System One answers that depend only on the questions. The first criterion of a choice or
    /// score has probability 0.7, and the others share 0.3 evenly, in whole millionths with the
    /// remainder on the first; the confidence is 0.6. A noul has 0.8. The model is `scripted-1`.
    pub fn answers() -> Self {
        Self::with(typed_answers::system_one_reply)
    }

    /// Answers in the OpenAI Decisions format with the probabilities of [`Self::answers`]; a
    /// predicate has 0.8.
    pub fn decisions() -> Self {
        Self::with(typed_answers::decisions_reply)
    }

    /// Answers in Google's Decisions format with the probabilities of [`Self::answers`], and the
    /// largest of them as confidence.
    pub fn gemini() -> Self {
        Self::with(typed_answers::gemini_reply)
    }

    /// Status 200 with JSON made from the request.
    pub fn with(json: impl Fn(&ReceivedRequest) -> Value + Send + Sync + 'static) -> Self {
        Self::ok(ScriptedBody::Computed(Arc::new(move |request| {
            (None, json(request))
        })))
    }

    /// A status and JSON made from the request.
    pub fn answering(
        reply: impl Fn(&ReceivedRequest) -> (u16, Value) + Send + Sync + 'static,
    ) -> Self {
        Self::ok(ScriptedBody::Computed(Arc::new(move |request| {
            let (status, json) = reply(request);
            (Some(status), json)
        })))
    }

    /// Status 200 with this JSON.
    pub fn json(json: &Value) -> Self {
        Self::body(json.to_string())
    }

    /// Status 200 with exactly these bytes.
    pub fn body(body: impl Into<Vec<u8>>) -> Self {
        Self::ok(ScriptedBody::Fixed(body.into().into()))
    }

    /// A status with a small JSON body that looks like an error.
    pub fn status(status: u16) -> Self {
        let body = format!(r#"{{"error":{{"message":"status {status}"}}}}"#);
        Self {
            status,
            ..Self::body(body)
        }
    }

    /// Exactly these bytes without a head, which is not HTTP; then the connection ends.
    pub fn bare(bytes: &str) -> Self {
        Self {
            framing: Framing::Bare,
            ..Self::body(bytes)
        }
    }

    /// No reply: the connection ends once the request is read.
    pub fn nothing() -> Self {
        Self {
            delivery: Delivery::Nothing,
            ..Self::body("")
        }
    }

    /// Sets the status and keeps the body.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the reply after this time, in which other requests are answered: for benchmarks, since a
    /// test that waits for a time is slow or fails by chance.
    #[must_use]
    pub fn later(self, time: Duration) -> Self {
        Self {
            delivery: Delivery::Later(time),
            ..self
        }
    }

    /// Sends nothing until the reply is released.
    #[must_use]
    pub fn held(self) -> Self {
        Self {
            delivery: Delivery::Held,
            ..self
        }
    }

    /// Sends the head and half of the body. The rest follows when the reply is released.
    #[must_use]
    pub fn body_held(self) -> Self {
        Self {
            delivery: Delivery::BodyHeld,
            ..self
        }
    }

    /// Ends the connection in the middle of the body.
    #[must_use]
    pub fn cut(self) -> Self {
        Self {
            delivery: Delivery::Cut,
            ..self
        }
    }

    /// Sends the body in chunks, without a length.
    #[must_use]
    pub fn chunked(self) -> Self {
        Self {
            framing: Framing::Chunked,
            ..self
        }
    }

    /// Ends the body with the connection, as in HTTP/1.0.
    #[must_use]
    pub fn until_close(self) -> Self {
        Self {
            framing: Framing::UntilClose,
            ..self
        }
    }

    /// Ends the body with the connection in HTTP/1.1; compare [`until_close`](Self::until_close).
    #[must_use]
    pub fn until_close_in_1_1(self) -> Self {
        Self {
            framing: Framing::UntilCloseNow,
            ..self
        }
    }

    fn ok(body: ScriptedBody) -> Self {
        let headers = Vec::new();
        Self {
            status: 200,
            headers,
            body,
            framing: Framing::Length,
            delivery: Delivery::Whole,
        }
    }

    /// Sends as much of the reply as the script wants. Returns whether the connection stays usable.
    pub(super) async fn send(
        &self,
        stream: &mut TcpStream,
        request: &ReceivedRequest,
        progress: &ServerProgress,
    ) -> bool {
        let (status, body): (u16, Arc<[u8]>) = match &self.body {
            ScriptedBody::Fixed(bytes) => (self.status, Arc::clone(bytes)),
            ScriptedBody::Computed(reply) => {
                let (status, json) = reply(request);
                let body = json.to_string().into_bytes();
                (status.unwrap_or(self.status), body.into())
            }
        };
        let is_computed = matches!(self.body, ScriptedBody::Computed(_));
        http::record(request, status, &body, is_computed);
        let (bytes, middle) = self.message(status, &body);
        let (beginning, rest) = match self.delivery {
            Delivery::Nothing => return false,
            Delivery::Whole => (&bytes[..], &[][..]),
            Delivery::Held | Delivery::Later(_) => bytes.split_at(0),
            Delivery::BodyHeld | Delivery::Cut => bytes.split_at(middle),
        };
        if stream.write_all(beginning).await.is_err() {
            return false;
        }
        match self.delivery {
            Delivery::Cut | Delivery::Nothing => return false,
            Delivery::Later(time) => sleep(time).await,
            Delivery::Held | Delivery::BodyHeld if !released(stream, progress).await => {
                progress.count(|counts| counts.abandoned += 1);
                return false;
            }
            Delivery::Whole | Delivery::Held | Delivery::BodyHeld => {}
        }
        if stream.write_all(rest).await.is_err() {
            return false;
        }
        progress.count(|counts| counts.replies += 1);
        matches!(self.framing, Framing::Length | Framing::Chunked)
    }

    /// The bytes of the message, and the index of the middle of its body.
    fn message(&self, status: u16, body: &[u8]) -> (Vec<u8>, usize) {
        let (version, length, before, after) = match self.framing {
            Framing::Bare => return (body.to_vec(), 0),
            Framing::Length => (
                "1.1",
                format!("Content-Length: {}\r\n", body.len()),
                String::new(),
                "",
            ),
            Framing::UntilClose => ("1.0", String::new(), String::new(), ""),
            Framing::UntilCloseNow => {
                ("1.1", "Connection: close\r\n".to_owned(), String::new(), "")
            }
            Framing::Chunked => (
                "1.1",
                "Transfer-Encoding: chunked\r\n".to_owned(),
                format!("{:x}\r\n", body.len()),
                "\r\n0\r\n\r\n",
            ),
        };
        let mut head = format!("HTTP/{version} {status} Scripted\r\n{length}");
        let types = self
            .headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if types.count() == 0 {
            head.push_str("Content-Type: application/json\r\n");
        }
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.extend(["\r\n", &before]);
        let mut message = head.into_bytes();
        let middle = message.len() + body.len() / 2;
        message.extend_from_slice(body);
        message.extend_from_slice(after.as_bytes());
        (message, middle)
    }
}

impl fmt::Debug for ScriptedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed(_) => "Fixed",
            Self::Computed(_) => "Computed",
        })
    }
}

/// Waits until a test releases the reply; `false` if the client disconnects first.
async fn released(stream: &TcpStream, progress: &ServerProgress) -> bool {
    tokio::select! {
        () = progress.released() => true,
        () = hung_up(stream) => false,
    }
}

async fn hung_up(stream: &TcpStream) {
    // a client that sends more bytes before the reply also counts as disconnected
    stream.peek(&mut [0]).await.ok();
}
