use std::future::{pending, ready};
use std::net::TcpStream;

use actix_web::HttpResponse;

use super::{bind, *};
use crate::{BodyBudget, Serving, http_server};

#[tokio::test]
async fn a_bound_listener_takes_connections() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = bind(address.parse().unwrap()) else {
            assert!(address.starts_with('['), "IPv4 is always available");
            continue;
        };
        assert!(TcpStream::connect(listener.local_addr().unwrap()).is_ok());
    }
}

#[tokio::test]
async fn a_client_that_has_vanished_is_asked_for() {
    let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    listener.set_nonblocking(false).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (connection, _) = listener.accept().unwrap();
    assert!(SockRef::from(&connection).keepalive().unwrap());
}

#[tokio::test]
async fn a_taken_address_is_refused() {
    let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    assert!(bind(listener.local_addr().unwrap()).is_err());
}

fn server() -> Server {
    let serving = Serving {
        listener: bind("127.0.0.1:0".parse().unwrap()).unwrap(),
        workers: 1.try_into().unwrap(),
        connections: 10,
        connections_for_each_mib: 16,
        linger: Duration::ZERO,
        budget: BodyBudget::default(),
    };
    http_server(serving, || |_, _| ready(HttpResponse::Ok().finish())).unwrap()
}

#[tokio::test]
async fn a_server_that_is_signalled_to_stop_drains() {
    let lifecycle = Lifecycle::named("test");
    let ended = serve_until(server(), &lifecycle, Duration::ZERO, ready(())).await;
    assert_eq!(ended.unwrap(), Drained::Clean);
    assert!(lifecycle.is_draining());
}

#[tokio::test]
async fn calls_that_outlast_the_grace_time_are_cut_off() {
    let lifecycle = Lifecycle::named("test");
    let _call = lifecycle.admit().unwrap();
    let ended = serve_until(server(), &lifecycle, Duration::ZERO, ready(())).await;
    assert_eq!(ended.unwrap(), Drained::Cut(1));
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_an_error_that_names_it() {
    let server = server();
    let stopping = server.handle().stop(false);
    let lifecycle = Lifecycle::named("test");
    let serving = serve_until(server, &lifecycle, Duration::ZERO, pending());
    let (ended, ()) = tokio::join!(serving, stopping);
    assert_eq!(
        ended.unwrap_err().to_string(),
        "the test server ended by itself"
    );
    assert!(!lifecycle.is_draining());
}
