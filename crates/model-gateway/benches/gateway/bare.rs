//! A bare client: it sends bodies that are ready and reads what comes back without a look at it.

use awc::http::Uri;
use awc::{Client, Connector};
use bytes::Bytes;
use futures_util::future::join_all;

/// Sends the same requests again and again.
#[derive(Clone)]
pub(crate) struct Bare {
    client: Client,
    uri: Uri,
    bodies: Vec<Bytes>,
}

impl Bare {
    pub(crate) fn new(url: &str, path: &str, bodies: Vec<Vec<u8>>) -> Self {
        let connector = Connector::new().limit(0);
        let client = Client::builder().connector(connector).disable_timeout();
        Self {
            client: client.finish(),
            uri: format!("{url}{path}").parse().unwrap(),
            bodies: bodies.into_iter().map(Bytes::from).collect(),
        }
    }

    /// All of them at once, to their last byte.
    pub(crate) async fn call(&self) {
        let requests = self.bodies.iter().map(|body| async {
            let request = self.client.post(&self.uri).content_type("application/json");
            let mut response = request.send_body(body.clone()).await.unwrap();
            assert_eq!(response.status(), 200);
            response.body().limit(4 * 1024 * 1024).await.unwrap();
        });
        join_all(requests).await;
    }
}
