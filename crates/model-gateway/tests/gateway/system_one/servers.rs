//! Several running servers: the choice among them, and the second attempt.

use futures_util::future::join_all;
use refract_model_gateway::{ModelSettings, ServerUse};
use refract_test_support::model_server::{ModelServer, Script, ScriptedReply};

use super::*;

/// A gateway to these addresses.
pub(super) fn gateway_to(urls: &[String]) -> ModelGateway {
    ModelGateway::new(settings(&urls.join(","))).unwrap()
}

pub(super) fn gateway(servers: &[&ModelServer]) -> ModelGateway {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    gateway_to(&urls)
}

fn requests(server: &ModelServer) -> usize {
    server.counts().requests
}

fn refusing(status: u16) -> ModelServer {
    ModelServer::start(ScriptedReply::status(status).header("Retry-After", "0"))
}

#[actix_rt::test]
async fn calls_are_shared_evenly_by_requests_in_flight() {
    let held = || ModelServer::start(ScriptedReply::answers().held());
    let (one, other) = (held(), held());
    let gateway = gateway(&[&one, &other]);
    let models = [gateway.model(), gateway.model()];
    let version = yes_no();
    let calls = (0..40).map(|call| ask(&models[call % 2], &version));
    let watch = async {
        one.wait_until(|counts| counts.requests == 20).await;
        other.wait_until(|counts| counts.requests == 20).await;
        let in_flight = gateway.servers();
        let in_flight: Vec<_> = in_flight.iter().map(|server| server.in_flight).collect();
        assert_eq!(in_flight, [20, 20]);
        // the faster server gets the next requests
        one.release_all();
        one.wait_until(|counts| counts.replies == 20).await;
        while gateway.in_flight() > 20 {
            tokio::task::yield_now().await;
        }
        for _ in 0..20 {
            ask(&models[0], &version).await.unwrap();
        }
        assert_eq!([&one, &other].map(requests), [40, 20]);
        other.release_all();
    };
    let (answered, ()) = tokio::join!(join_all(calls), watch);
    assert!(answered.iter().all(Result::is_ok));
    let names = [&one, &other].map(|server| format!("127.0.0.1:{}", server.port()));
    let uses = gateway.servers();
    for (server, (name, requests)) in uses.iter().zip(names.into_iter().zip([40, 20])) {
        let expected = ServerUse {
            name,
            requests,
            failures: 0,
            in_flight: 0,
            is_ejected: false,
            waiting: 0,
            learned_per_minute: None,
        };
        assert_eq!(*server, expected);
    }
}

#[actix_rt::test]
async fn the_second_attempt_goes_to_the_other_server() {
    for status in [429, 500, 503, 529] {
        let (failing, well) = (
            refusing(status),
            ModelServer::start(ScriptedReply::answers()),
        );
        let gateway = gateway(&[&failing, &well]);
        let (model, version) = (gateway.model(), yes_no());
        for call in 1..=20 {
            let before = requests(&failing);
            let submission = submission(&version, "Where is my order?");
            let reply = model.answer(&version, &submission).await;
            assert!(reply.outcome.is_ok(), "{status}");
            let refused = requests(&failing) - before;
            assert!(refused <= 1);
            assert_eq!(usize::try_from(reply.report.attempts).unwrap(), 1 + refused);
            assert_eq!((reply.report.requests, requests(&well)), (1, call));
        }
        let [failing, well] = &gateway.servers()[..] else {
            panic!("there are two")
        };
        assert_eq!(failing.failures, failing.requests);
        assert_eq!((well.failures, well.is_ejected), (0, false));
    }
}

#[actix_rt::test]
async fn both_attempts_are_made_when_every_server_refuses() {
    let (one, other) = (refusing(503), refusing(500));
    let gateway = gateway(&[&one, &other]);
    let (model, version) = (gateway.model(), yes_no());
    for call in 1..=10 {
        let failure = ask(&model, &version).await.unwrap_err();
        assert!(matches!(failure, ModelError::Status(500 | 503)));
        assert_eq!([&one, &other].map(requests), [call, call]);
    }
    let uses = gateway.servers();
    assert!(uses.iter().all(|server| server.is_ejected), "{uses:?}");
    // a server that answers is healthy again
    one.then_always(ScriptedReply::answers());
    assert!(ask(&model, &version).await.is_ok());
    assert!(!gateway.servers()[0].is_ejected);
}

#[actix_rt::test]
async fn errors_of_callers_eject_no_server() {
    let too_long = r#"{"error":{"message":"Context size has been exceeded."}}"#;
    let too_long = ScriptedReply::body(too_long).with_status(500);
    for reply in [
        ScriptedReply::status(400),
        ScriptedReply::status(413),
        ScriptedReply::status(422),
        ScriptedReply::body("{}"),
        too_long.header("Retry-After", "0"),
    ] {
        let servers = [ModelServer::start(reply.clone()), ModelServer::start(reply)];
        let gateway = gateway(&servers.each_ref());
        let (model, version) = (gateway.model(), yes_no());
        for _ in 0..10 {
            ask(&model, &version).await.unwrap_err();
        }
        for server in gateway.servers() {
            assert_eq!((server.failures, server.is_ejected), (0, false));
        }
    }
}

#[actix_rt::test]
async fn each_server_is_asked_at_the_path_of_its_own_address() {
    let servers = [(); 2].map(|()| ModelServer::start(ScriptedReply::answers()));
    let [one, other] = &servers;
    let urls = [
        format!("http://127.0.0.1:{}/one/v1", one.port()),
        format!("http://localhost:{}", other.port()),
    ];
    let gateway = gateway_to(&urls);
    assert_eq!(
        gateway.describe(),
        format!("{} (systemone)", urls.join(", "))
    );
    let (model, version) = (gateway.model(), yes_no());
    while servers.iter().any(|server| requests(server) == 0) {
        ask(&model, &version).await.unwrap();
    }
    for (server, (path, host)) in servers.iter().zip([
        ("/one/v1/systemone", format!("127.0.0.1:{}", one.port())),
        ("/systemone", format!("localhost:{}", other.port())),
    ]) {
        for request in server.requests() {
            assert_eq!(request.path, path);
            assert_eq!(request.header("host"), Some(host.as_str()));
        }
    }
}

#[actix_rt::test]
async fn addresses_of_one_host_and_port_are_counted_as_one_server() {
    let server = ModelServer::start(ScriptedReply::answers());
    let base = format!("http://127.0.0.1:{}", server.port());
    let gateway = gateway_to(&[format!("{base}/a/v1"), format!("{base}/b/v1")]);
    let (model, version) = (gateway.model(), yes_no());
    for _ in 0..5 {
        ask(&model, &version).await.unwrap();
    }
    let [only] = &gateway.servers()[..] else {
        panic!("there is one name")
    };
    assert_eq!((only.requests, only.in_flight), (5, 0));
}

#[actix_rt::test]
async fn all_requests_of_a_call_go_to_one_server() {
    let servers = [(); 3].map(|()| ModelServer::start(ScriptedReply::answers()));
    let gateway = ModelGateway::new(ModelSettings {
        request_tokens: 1,
        ..gateway_settings(&servers)
    });
    let model = gateway.unwrap().model();
    let version = triage();
    for _ in 0..10 {
        let before = servers.each_ref().map(requests);
        ask(&model, &version).await.unwrap();
        let after = servers.each_ref().map(requests);
        let mut asked: Vec<_> = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before)
            .collect();
        asked.sort_unstable();
        assert_eq!(asked, [0, 0, 3]);
    }
}

fn gateway_settings(servers: &[ModelServer]) -> ModelSettings {
    let urls: Vec<String> = servers.iter().map(ModelServer::url).collect();
    settings(&urls.join(","))
}

#[actix_rt::test]
async fn the_only_server_is_asked_twice_as_ever_and_never_ejected() {
    let server = ModelServer::start(Script::from(
        ScriptedReply::status(503).header("Retry-After", "0"),
    ));
    let gateway = gateway(&[&server]);
    let (model, version) = (gateway.model(), yes_no());
    for call in 1..=5 {
        let failure = ask(&model, &version).await.unwrap_err();
        assert_eq!(failure, ModelError::Status(503));
        assert_eq!(requests(&server), 2 * call);
    }
    let [only] = &gateway.servers()[..] else {
        panic!("there is one")
    };
    assert_eq!((only.requests, only.failures), (10, 10));
    assert!(!only.is_ejected);
}
