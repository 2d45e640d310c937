use refract_test_support::model_server::{ModelServer, ScriptedReply};

use super::*;

/// The names of the models that a server was asked for.
fn asked_for(server: &ModelServer) -> Vec<String> {
    let requests = server.requests();
    let names = requests
        .iter()
        .map(|request| request.json()["model"].clone());
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[actix_rt::test]
async fn another_name_is_asked_for_at_the_same_server_over_the_same_connection() {
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model(&server);
    let other = model.clone().named("other");
    assert_eq!((model.name(), other.name()), ("jev-latest", "other"));
    for asked in [&model, &other, &other.clone().named("jev-latest")] {
        assert!(ask(asked, &yes_no()).await.is_ok());
    }
    assert_eq!(asked_for(&server), ["jev-latest", "other", "jev-latest"]);
    assert_eq!(server.counts().connections, 1);
}

#[actix_rt::test]
async fn another_name_shares_the_concurrency_limit() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let gateway = ModelGateway::new(ModelSettings {
        concurrency: 1,
        ..settings(&server.url())
    });
    let gateway = gateway.unwrap();
    let (model, version) = (gateway.model(), yes_no());
    let other = model.clone().named("other");
    let watch = async {
        server.wait_until(|counts| counts.requests == 1).await;
        while gateway.waiting() < 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!((gateway.in_flight(), asked_for(&server).len()), (1, 1));
        server.release_all();
    };
    let (one, two, ()) = tokio::join!(ask(&model, &version), ask(&other, &version), watch);
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(asked_for(&server).len(), 2);
}

#[test]
fn the_built_in_scorer_has_one_name() {
    let gateway = ModelGateway::new(settings("builtin:lexical")).unwrap();
    let model = gateway.model().named("other");
    assert_eq!(model.name(), "builtin:lexical");
}
