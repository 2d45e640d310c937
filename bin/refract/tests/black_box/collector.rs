//! A collector that keeps the traces it receives: OTLP over HTTP, decoded with the protocol's own
//! types.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::SocketAddr;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as OtlpValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use refract_test_stack::http::{extent, is_whole, within_patience};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How a collector treats a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Takes,
    /// Reads the batch and never answers.
    Hangs,
}

/// The received requests.
#[derive(Debug, Default)]
struct Received {
    connections: usize,
    /// Whole requests, head and body.
    batches: Vec<Vec<u8>>,
}

/// A collector on a free port.
#[derive(Debug)]
pub(crate) struct Collector {
    address: SocketAddr,
    received: watch::Receiver<Received>,
}

/// A span as the collector received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedSpan {
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for a span without a parent.
    pub(crate) parent: String,
    pub(crate) name: String,
    /// 2 for a server, 3 for a client.
    pub(crate) kind: i32,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) is_error: bool,
    pub(crate) state: String,
    /// The attributes of the resource.
    pub(crate) resource: BTreeMap<String, String>,
}

impl Collector {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, received) = watch::channel(Received::default());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                sender.send_modify(|received| received.connections += 1);
                tokio::spawn(receive(stream, manner, sender.clone()));
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn connections(&self) -> usize {
        self.received.borrow().connections
    }

    /// The requests so far, head and body.
    pub(crate) fn batches(&self) -> Vec<Vec<u8>> {
        self.received.borrow().batches.clone()
    }

    /// The spans so far, in the order in which they ended.
    pub(crate) fn spans(&self) -> Vec<ReceivedSpan> {
        self.batches()
            .iter()
            .flat_map(|batch| spans(batch))
            .collect()
    }

    /// Waits for this many batches at least.
    pub(crate) async fn until_batches(&self, batches: usize) {
        let mut received = self.received.clone();
        let waiting = received.wait_for(|received| received.batches.len() >= batches);
        within_patience(waiting).await.unwrap();
    }
}

impl ReceivedSpan {
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

async fn receive(mut stream: TcpStream, manner: Manner, sender: watch::Sender<Received>) {
    let mut received = Vec::new();
    while !is_whole(&received) {
        if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
            return;
        }
    }
    sender.send_modify(|all| all.batches.push(received));
    if manner == Manner::Hangs {
        std::future::pending::<()>().await;
    }
    let answer =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer).await.ok();
}

fn spans(request: &[u8]) -> Vec<ReceivedSpan> {
    let (head, _) = extent(request).unwrap();
    let export = ExportTraceServiceRequest::decode(&request[head..]).unwrap();
    let mut spans = Vec::new();
    for resource in export.resource_spans {
        let from = pairs(resource.resource.unwrap().attributes);
        for scope in resource.scope_spans {
            assert_eq!(scope.scope.unwrap().name, "refract");
            spans.extend(scope.spans.into_iter().map(|span| read(span, &from)));
        }
    }
    spans
}

fn read(span: Span, resource: &BTreeMap<String, String>) -> ReceivedSpan {
    assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
    assert!(span.events.is_empty() && span.links.is_empty(), "{span:?}");
    let status = span.status.unwrap_or_default();
    assert_eq!(status.message, "");
    ReceivedSpan {
        trace: hexadecimal(&span.trace_id),
        id: hexadecimal(&span.span_id),
        parent: hexadecimal(&span.parent_span_id),
        name: span.name,
        kind: span.kind,
        attributes: pairs(span.attributes),
        is_error: status.code == i32::from(StatusCode::Error),
        state: span.trace_state,
        resource: resource.clone(),
    }
}

fn pairs(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let pairs = attributes.into_iter().map(|pair| {
        let value = match pair.value {
            Some(AnyValue {
                value: Some(OtlpValue::StringValue(text)),
            }) => text,
            Some(AnyValue {
                value: Some(OtlpValue::IntValue(number)),
            }) => number.to_string(),
            other => panic!("{other:?}"),
        };
        (pair.key, value)
    });
    pairs.collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}
