//! Several servers, some of which are unreachable, break off or time out.

use refract_model_gateway::{ModelReply, ModelSettings, Unreachable};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use tokio::net::TcpSocket;

use super::servers::{gateway, gateway_to};
use super::*;

/// A server that is not running. Its port is bound without listening: connections are refused, and
/// no other process can take the port.
struct Down {
    port: u16,
    _bound: TcpSocket,
}

impl Down {
    fn new() -> Self {
        let bound = TcpSocket::new_v4().unwrap();
        bound.set_reuseaddr(true).unwrap();
        bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self {
            port: bound.local_addr().unwrap().port(),
            _bound: bound,
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

fn well() -> ModelServer {
    ModelServer::start(ScriptedReply::answers())
}

async fn call(model: &Model) -> ModelReply {
    let version = yes_no();
    let submission = submission(&version, "Where is my order?");
    model.answer(&version, &submission).await
}

/// Makes calls, all of which must succeed, until the first server is ejected or no longer is.
async fn until_first_is_ejected(gateway: &ModelGateway, model: &Model, is_ejected: bool) {
    let calls = async {
        while gateway.servers()[0].is_ejected != is_ejected {
            assert_eq!(call(model).await.outcome.err(), None);
            tokio::task::yield_now().await;
        }
    };
    let deadline = Duration::from_mins(1);
    assert!(tokio::time::timeout(deadline, calls).await.is_ok());
}

#[actix_rt::test]
async fn no_call_fails_while_one_of_two_servers_runs() {
    let (down, well) = (Down::new(), well());
    let gateway = gateway_to(&[down.url(), well.url()]);
    let model = gateway.model();
    for calls in 1..=30 {
        let call = call(&model).await;
        assert_eq!(call.outcome.err(), None);
        // nothing was sent to the server that is down, so no attempt was used up
        assert_eq!((call.report.requests, call.report.attempts), (1, 1));
        assert_eq!(well.counts().requests, calls);
    }
    until_first_is_ejected(&gateway, &model, true).await;
    let [down, well] = &gateway.servers()[..] else {
        panic!("there are two")
    };
    assert!(down.requests >= 3 && down.failures == down.requests);
    assert_eq!((well.failures, well.is_ejected), (0, false));
}

#[actix_rt::test]
async fn a_server_that_comes_back_is_found_and_used_again() {
    let (down, well) = (Down::new(), well());
    let gateway = gateway_to(&[down.url(), well.url()]);
    let model = gateway.model();
    until_first_is_ejected(&gateway, &model, true).await;
    let back = ModelServer::start_on(down.port, ScriptedReply::answers());
    until_first_is_ejected(&gateway, &model, false).await;
    let probes = back.counts().requests;
    assert_eq!(probes, 1);
    while back.counts().requests == probes {
        assert_eq!(call(&model).await.outcome.err(), None);
    }
}

#[actix_rt::test]
async fn when_no_server_can_be_reached_every_one_was_asked() {
    let down = [(); 3].map(|()| Down::new());
    let gateway = gateway_to(&down.each_ref().map(Down::url));
    let model = gateway.model();
    for calls in 1..=10 {
        let call = call(&model).await;
        let refused = ModelError::Unreachable(Unreachable::Refused);
        assert_eq!(call.outcome.err(), Some(refused));
        assert_eq!(call.report.attempts, 1);
        for server in gateway.servers() {
            assert_eq!((server.requests, server.failures), (calls, calls));
            assert_eq!(server.is_ejected, calls >= 3);
        }
    }
}

#[actix_rt::test]
async fn a_server_that_refuses_is_asked_twice_where_the_other_is_down() {
    let (down, server) = (Down::new(), well());
    let gateway = gateway_to(&[down.url(), server.url()]);
    let model = gateway.model();
    for calls in 1..=10 {
        server.then_once(ScriptedReply::status(503).header("Retry-After", "0"));
        let call = call(&model).await;
        assert_eq!(call.outcome.err(), None);
        assert_eq!(
            (call.report.attempts, server.counts().requests),
            (2, 2 * calls)
        );
    }
}

#[actix_rt::test]
async fn a_timeout_fails_the_call_at_once_and_the_server_is_ejected_after_three() {
    let (slow, well) = (ModelServer::start(ScriptedReply::answers().held()), well());
    let gateway = ModelGateway::new(ModelSettings {
        timeout: Duration::from_millis(750),
        ..settings(&format!("{},{}", slow.url(), well.url()))
    })
    .unwrap();
    let model = gateway.model();
    let mut timed_out = 0;
    while !gateway.servers()[0].is_ejected {
        let call = call(&model).await;
        assert_eq!(call.report.attempts, 1);
        if let Err(failure) = call.outcome {
            assert_eq!(failure.kind(), "timeout");
            timed_out += 1;
        }
    }
    assert_eq!((timed_out, slow.counts().requests), (3, 3));
}

#[actix_rt::test]
async fn a_connection_that_breaks_fails_the_call_and_counts_against_its_server() {
    let (breaking, well) = (ModelServer::start(ScriptedReply::nothing()), well());
    let gateway = gateway(&[&breaking, &well]);
    let model = gateway.model();
    let mut broken = 0;
    while !gateway.servers()[0].is_ejected {
        let call = call(&model).await;
        assert_eq!(call.report.attempts, 1);
        if let Err(failure) = call.outcome {
            assert_eq!(failure, ModelError::Disconnected);
            broken += 1;
        }
    }
    assert_eq!((broken, breaking.counts().requests), (3, 3));
}

#[actix_rt::test]
async fn a_call_that_is_dropped_does_not_count_against_its_server() {
    let servers = [(); 2].map(|()| ModelServer::start(ScriptedReply::answers().held()));
    let gateway = gateway(&servers.each_ref());
    let model = gateway.model();
    for dropped in 1..=8 {
        let asked = async {
            while gateway
                .servers()
                .iter()
                .map(|server| server.requests)
                .sum::<u64>()
                < dropped
            {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = call(&model) => panic!("nothing was released"),
            () = asked => {}
        }
    }
    for server in gateway.servers() {
        assert_eq!((server.failures, server.in_flight), (0, 0));
        assert!(!server.is_ejected);
    }
}
