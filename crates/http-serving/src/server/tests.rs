mod http_server;

use std::future::{pending, ready};
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::HttpResponse;

use super::{bind, *};
use crate::{BodyBudget, Handler, Serving, http_server};

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
    http_server(
        serving,
        Arc::new(|| -> Handler { Rc::new(|_, _| Box::pin(ready(HttpResponse::Ok().finish()))) }),
    )
    .unwrap()
}

#[tokio::test]
async fn a_server_that_is_signalled_to_stop_drains() {
    let lifecycle = Lifecycle::named("test");
    let ended = serve_until(server(), &lifecycle, Duration::ZERO, Box::pin(ready(()))).await;
    assert_eq!(ended.unwrap(), Drained::Clean);
    assert!(lifecycle.is_draining());
}

#[tokio::test]
async fn calls_that_outlast_the_grace_time_are_cut_off() {
    let lifecycle = Lifecycle::named("test");
    let _call = lifecycle.admit().unwrap();
    let ended = serve_until(server(), &lifecycle, Duration::ZERO, Box::pin(ready(()))).await;
    assert_eq!(ended.unwrap(), Drained::Cut(1));
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_an_error_that_names_it() {
    let server = server();
    let stopping = server.handle().stop(false);
    let lifecycle = Lifecycle::named("test");
    let serving = serve_until(server, &lifecycle, Duration::ZERO, Box::pin(pending()));
    let (ended, ()) = tokio::join!(serving, stopping);
    assert_eq!(
        ended.unwrap_err().to_string(),
        "the test server ended by itself"
    );
    assert!(!lifecycle.is_draining());
}

/// The needs of a node with these numbers of workers for the API and the app.
fn needs(workers: [usize; 2]) -> DescriptorNeeds {
    DescriptorNeeds {
        api_workers: workers[0],
        app_workers: workers[1],
        others: 70,
    }
}

fn shares(needs: DescriptorNeeds, limit: usize) -> (usize, usize) {
    let shares = needs.shares_of(limit).unwrap();
    (shares.api, shares.app)
}

#[test]
fn workers_share_their_part_of_the_descriptors() {
    assert_eq!(shares(needs([2, 2]), 1024), (256, 128));
    assert_eq!(shares(needs([4, 4]), 20_000), (2500, 1250));
    assert_eq!(shares(needs([2, 0]), 1024), (256, 1));
    assert_eq!(shares(needs([2, 2]), usize::MAX), (MOST, MOST));
}

#[test]
fn what_is_no_clients_is_never_shared_out() {
    for limit in 86..2000 {
        for needs in [needs([2, 2]), needs([4, 0]), needs([1, 2])] {
            let (api, app) = shares(needs, limit);
            let of_clients = api * needs.api_workers + app * needs.app_workers;
            assert!(of_clients + needs.others <= limit, "{limit}: {needs:?}");
            assert!(api >= FEWEST, "{limit}: {needs:?}");
        }
    }
}

#[test]
fn too_few_are_refused_with_the_number_that_is_needed() {
    let refused = needs([2, 2]).shares_of(85);
    let (limit, needed) = (85, 86);
    assert_eq!(refused, Err(TooFewDescriptors { limit, needed }));
    let words = refused.unwrap_err().to_string();
    assert!(words.contains("ulimit -n 86"), "{words}");
}

#[test]
fn the_limit_is_raised_as_far_as_it_goes() {
    descriptors();
    let limit = getrlimit(Resource::Nofile);
    assert_eq!(limit.current, limit.maximum);
}
