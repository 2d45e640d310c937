//! A bare client: it sends prepared bodies and reads answers without parsing them.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Sends a fixed set of requests repeatedly.
#[derive(Clone)]
pub(crate) struct BareClient {
    uri: Uri,
    bodies: Vec<Bytes>,
    idle: Rc<RefCell<Vec<SendRequest<Full<Bytes>>>>>,
}

impl BareClient {
    pub(crate) fn new(url: &str, path: &str, bodies: Vec<Vec<u8>>) -> Self {
        Self {
            uri: format!("{url}{path}").parse().unwrap(),
            bodies: bodies.into_iter().map(Bytes::from).collect(),
            idle: Rc::default(),
        }
    }

    /// Sends all bodies at once and reads each answer to its last byte.
    pub(crate) async fn ask(&self) {
        join_all(self.bodies.iter().map(|body| self.exchange(body.clone()))).await;
    }

    async fn exchange(&self, body: Bytes) {
        let idle = self.idle.borrow_mut().pop();
        let mut sender = match idle {
            Some(sender) if sender.is_ready() => sender,
            Some(_) | None => self.connect().await,
        };
        let host = self.uri.authority().unwrap().as_str();
        let request = Request::post(self.uri.path())
            .header("host", host)
            .header("content-type", "application/json")
            .body(Full::new(body))
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.unwrap().to_bytes();
        self.idle.borrow_mut().push(sender);
    }

    async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let server = self.uri.authority().unwrap().as_str();
        let tcp = TcpStream::connect(server).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(tcp)).await.unwrap();
        tokio::spawn(connection);
        sender
    }
}
