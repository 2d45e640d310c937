//! A relay between the gateway and the model server: it records the questions, and it can limit the
//! alternatives as other servers do.

use std::cell::RefCell;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use crate::http::PlainAddress;

/// How many alternatives a server shows for each token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlternativesLimit {
    pub(crate) most: u32,
    /// Whether further alternatives are cut off; otherwise a request for more is refused.
    cuts: bool,
}

/// A question that the gateway asked and the server answered.
#[derive(Clone, Debug)]
pub(crate) struct RecordedQuestion {
    /// The request's body.
    pub(crate) body: Value,
    /// Number of the prompt's tokens, if the server counted them.
    pub(crate) prompt_tokens: Option<u64>,
}

/// A relay on a free port. It serves until the program exits.
#[derive(Clone)]
pub(crate) struct RecordingRelay {
    pub(crate) address: PlainAddress,
    server: PlainAddress,
    limit: Option<AlternativesLimit>,
    questions: Rc<RefCell<Vec<RecordedQuestion>>>,
}

impl AlternativesLimit {
    /// At most this many alternatives; a request for more gets fewer or is refused.
    pub(crate) fn new(most: u32, cuts: bool) -> Self {
        Self { most, cuts }
    }

    /// Limits a request's alternatives. The error is a refusal with vLLM's message.
    fn apply(self, body: &mut Value) -> Result<(), Value> {
        let wanted = body.get("top_logprobs").and_then(Value::as_u64);
        let Some(wanted) = wanted.filter(|wanted| *wanted > u64::from(self.most)) else {
            return Ok(());
        };
        if let (true, Some(wanted)) = (self.cuts, body.get_mut("top_logprobs")) {
            *wanted = json!(self.most);
            return Ok(());
        }
        let message = format!(
            "Requested sample logprobs of {wanted}, which is greater than max allowed: {}",
            self.most
        );
        Err(json!({"error": {
            "message": message, "type": "BadRequestError", "param": "logprobs", "code": 400}}))
    }
}

impl RecordingRelay {
    /// Starts a relay to a server.
    pub(crate) async fn start(
        server: PlainAddress,
        limit: Option<AlternativesLimit>,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let relay = Self {
            address: PlainAddress::loopback(listener.local_addr()?.port()),
            server,
            limit,
            questions: Rc::default(),
        };
        let shared = relay.clone();
        actix_rt::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                actix_rt::spawn(shared.clone().serve(tcp));
            }
        });
        Ok(relay)
    }

    /// Takes the questions that the server has answered since the last time; follow-up requests do
    /// not count.
    pub(crate) fn take_questions(&self) -> Vec<RecordedQuestion> {
        self.questions.take()
    }

    async fn serve(self, tcp: TcpStream) {
        tcp.set_nodelay(true).ok();
        let service = service_fn(|request| async {
            let answer = self.relay(request).await;
            let (status, body) = answer.unwrap_or_else(|error| {
                let message = format!("{error:#}");
                let body = json!({"error": {"message": message}}).to_string();
                (StatusCode::BAD_GATEWAY, body.into())
            });
            let mut response = Response::new(Full::new(body));
            *response.status_mut() = status;
            let json = hyper::header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
            Ok::<_, Infallible>(response)
        });
        // a client that disconnects needs no answer
        http1::Builder::new()
            .serve_connection(TokioIo::new(tcp), service)
            .await
            .ok();
    }

    async fn relay(&self, request: Request<Incoming>) -> anyhow::Result<(StatusCode, Bytes)> {
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await?.to_bytes();
        let Ok(mut json) = serde_json::from_slice::<Value>(&body) else {
            return self.server.send(method, &path, body).await;
        };
        if let Some(limit) = self.limit
            && let Err(refusal) = limit.apply(&mut json)
        {
            return Ok((StatusCode::BAD_REQUEST, refusal.to_string().into()));
        }
        let body = json.to_string().into();
        let (status, answer) = self.server.send(method, &path, body).await?;
        if status == StatusCode::OK && is_question(&json) {
            let prompt_tokens = serde_json::from_slice::<Value>(&answer)
                .ok()
                .and_then(|answer| answer.pointer("/usage/prompt_tokens")?.as_u64());
            self.questions.borrow_mut().push(RecordedQuestion {
                body: json,
                prompt_tokens,
            });
        }
        Ok((status, answer))
    }
}

/// Whether a request asks for a whole code: the last message is the user's, or begins an answer with
/// no more than a question's key, and no schema restricts the answer.
fn is_question(body: &Value) -> bool {
    let last = body
        .get("messages")
        .and_then(|messages| messages.as_array()?.last());
    let text = |name| last.and_then(|message| message.get(name)?.as_str());
    let is_named = || text("content").is_some_and(|content| content.ends_with(" = "));
    (text("role") == Some("user") || is_named()) && body.get("response_format").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_alternatives_than_the_limit_are_refused_or_cut() {
        let mut asks_for_more = json!({"top_logprobs": 100});
        let refusal = AlternativesLimit::new(20, false).apply(&mut asks_for_more);
        assert_eq!(refusal.unwrap_err()["error"]["param"], "logprobs");
        let cut = AlternativesLimit::new(20, true).apply(&mut asks_for_more);
        assert_eq!((cut, asks_for_more), (Ok(()), json!({"top_logprobs": 20})));
        for mut fine in [json!({"top_logprobs": 20}), json!({"prompt": "x"})] {
            let before = fine.clone();
            assert_eq!(AlternativesLimit::new(20, false).apply(&mut fine), Ok(()));
            assert_eq!(fine, before);
        }
    }

    #[test]
    fn follow_up_requests_are_no_questions() {
        let user = json!({"role": "user", "content": "?"});
        let begun = json!({"role": "assistant", "content": "topic = A"});
        let key = json!({"role": "assistant", "content": "topic = "});
        for (body, expected) in [
            (json!({"messages": [user]}), true),
            (json!({"messages": [user, begun]}), false),
            (json!({"messages": [user, key]}), true),
            (json!({"messages": [user], "response_format": {}}), false),
            (json!({"content": "text"}), false),
        ] {
            assert_eq!(is_question(&body), expected, "{body}");
        }
    }
}
