//! Proxies between the gateway and a model server.

use hyper::http::uri::PathAndQuery;

use super::*;
use crate::settings::ProxyVariables;

/// Settings whose variables name this proxy for every server.
fn through(proxy: &str) -> ConnectionSettings {
    let value = |name: &str| (name == "ALL_PROXY").then(|| proxy.to_owned());
    ConnectionSettings {
        proxies: ProxyVariables::read(value),
        ..ConnectionSettings::default()
    }
}

/// A proxy that answers the first request of each connection so. If `tunnels_to` names a server,
/// the connection then goes on to that. Returns its address and the heads that it receives.
async fn proxy(
    reply: &'static str,
    tunnels_to: Option<u16>,
) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("user:pass%20word@{}", listener.local_addr().unwrap());
    let (heads, received) = tokio::sync::mpsc::unbounded_channel();
    actix_rt::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            heads.send(String::from_utf8(head).unwrap()).ok();
            stream.write_all(reply.as_bytes()).await.unwrap();
            let Some(port) = tunnels_to else { continue };
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            actix_rt::spawn(async move {
                copy_bidirectional(&mut stream, &mut server).await.ok();
            });
        }
    });
    (address, received)
}

const ESTABLISHED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

#[actix_rt::test]
async fn a_server_over_http_is_named_to_the_proxy_in_every_request() {
    let proxy = ModelServer::start(ScriptedReply::body("answer"));
    let settings = through(&format!(
        "http://user:pass%20word@127.0.0.1:{}/",
        proxy.port()
    ));
    let uri = Uri::from_static("http://models.example:8000/v1/chat/completions");
    let connections = connections_with(&uri, &settings);
    let beside = PathAndQuery::from_static("/completion");
    for body in [body(), body().sent_to(&beside)] {
        assert_eq!(answer(&connections, body).await.unwrap(), "answer");
    }
    let requests = proxy.requests();
    let paths: Vec<_> = requests.iter().map(|request| &request.path).collect();
    let server = "http://models.example:8000";
    assert_eq!(
        paths,
        [
            &format!("{server}/v1/chat/completions"),
            &format!("{server}/completion")
        ]
    );
    for request in &requests {
        assert_eq!(request.header("host"), Some("models.example:8000"));
        let credentials = request.header("proxy-authorization");
        assert_eq!(credentials, Some("Basic dXNlcjpwYXNzIHdvcmQ="));
    }
    assert_eq!(proxy.counts().connections, 1);
}

#[actix_rt::test]
async fn a_server_over_https_is_reached_through_a_tunnel() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, behind) = tls_server("models.example", &server).await;
    let (proxy, mut heads) = proxy(ESTABLISHED, behind.port_u16()).await;
    let uri = Uri::from_static("https://models.example/v1/systemone");
    let connections = trusting_with(&uri, [certificate], &through(&proxy));
    for _ in 0..2 {
        assert_eq!(answer(&connections, body()).await.unwrap(), "answer");
    }
    assert_eq!(
        heads.recv().await.unwrap(),
        "CONNECT models.example:443 HTTP/1.1\r\nhost: models.example:443\r\n\
         proxy-authorization: Basic dXNlcjpwYXNzIHdvcmQ=\r\n\r\n"
    );
    // the server does not see the proxy's password
    for request in server.requests() {
        assert_eq!(request.path, "/v1/systemone");
        assert_eq!(request.header("host"), Some("models.example"));
        assert_eq!(request.header("proxy-authorization"), None);
    }
    assert_eq!(server.counts().connections, 1);
    assert!(heads.try_recv().is_err());
}

#[actix_rt::test]
async fn the_certificate_behind_a_tunnel_is_verified() {
    let server = ModelServer::start(ScriptedReply::body("answer"));
    let (certificate, behind) = tls_server("other.example", &server).await;
    let (proxy, _heads) = proxy(ESTABLISHED, behind.port_u16()).await;
    let uri = Uri::from_static("https://models.example/v1/systemone");
    let connections = trusting_with(&uri, [certificate], &through(&proxy));
    let failure = failure(&connections).await;
    let other_name = Unreachable::Certificate(CertificateFault::OtherName);
    assert_eq!(failure, ModelError::Unreachable(other_name));
}

#[actix_rt::test]
async fn a_refusal_of_the_proxy_is_named_as_such() {
    let refused = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
    let words = "The model server could not be reached: the proxy answered with status 407.";
    for server in ["https://models.example/v1", "http://models.example/v1"] {
        let (proxy, _heads) = proxy(refused, None).await;
        let connections = connections_with(&server.parse().unwrap(), &through(&proxy));
        assert_eq!(failure(&connections).await.to_string(), words, "{server}");
    }
}

#[actix_rt::test]
async fn a_proxy_that_is_away_is_named_in_the_failure() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap().to_string();
    drop(closed);
    let words = "The model server could not be reached: the proxy could not be reached.";
    for server in ["https://models.example/v1", "http://models.example/v1"] {
        let connections = connections_with(&server.parse().unwrap(), &through(&address));
        assert_eq!(failure(&connections).await.to_string(), words, "{server}");
    }
    // one that hangs up instead of answering
    let (address, _heads) = proxy("", None).await;
    let uri = Uri::from_static("https://models.example/v1");
    let connections = connections_with(&uri, &through(&address));
    assert_eq!(failure(&connections).await.to_string(), words);
}
