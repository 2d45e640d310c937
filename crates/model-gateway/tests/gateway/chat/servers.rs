//! Several servers of the protocol `chat`: the gateway learns about each one separately.

use refract_model_gateway::ModelReply;
use refract_test_support::model_server::{
    ChatModel, LlamaCppServer, ReceivedRequest, ScriptedReply,
};

use super::*;

/// A server that refuses more alternatives than 20.
fn refusing_more() -> ModelServer {
    let model = ChatModel {
        refuses_more: true,
        ..ChatModel::new(vec![3.0, 1.0])
    };
    ModelServer::start(model.reply())
}

fn taking_all() -> ModelServer {
    ModelServer::start(ChatModel::new(vec![3.0, 1.0]).reply())
}

fn model_of(servers: &[&ModelServer]) -> Model {
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    let settings = ModelSettings {
        endpoint: urls.join(",").parse().unwrap(),
        ..settings(servers[0])
    };
    ModelGateway::new(settings).unwrap().model()
}

async fn call(model: &Model, version: &PrismVersion) -> ModelReply {
    let submission = submission(version, "Where is my order?", None);
    model.answer(version, &submission).await
}

/// The number of alternatives in each request.
fn alternatives(server: &ModelServer) -> Vec<u64> {
    let asked = |request: &ReceivedRequest| request.json()["top_logprobs"].as_u64().unwrap();
    server.requests().iter().map(asked).collect()
}

#[actix_rt::test]
async fn a_parameter_is_left_out_at_the_server_that_refused_it_alone() {
    let (refusing, taking) = (refusing_more(), taking_all());
    let model = model_of(&[&refusing, &taking]);
    while alternatives(&refusing).len() < 5 || alternatives(&taking).len() < 5 {
        assert!(call(&model, &yes_no()).await.outcome.is_ok());
    }
    let refused = alternatives(&refusing);
    assert_eq!(refused[0], 100);
    assert!(refused[1..].iter().all(|asked| *asked == 20), "{refused:?}");
    let taken = alternatives(&taking);
    assert!(taken.iter().all(|asked| *asked == 100), "{taken:?}");
}

#[actix_rt::test]
async fn a_second_attempt_is_written_for_the_server_that_it_goes_to() {
    let (refusing, busy) = (refusing_more(), taking_all());
    let model = model_of(&[&refusing, &busy]);
    // a second attempt also learns what the first server accepts
    busy.then_always(ScriptedReply::status(503).header("Retry-After", "0"));
    while alternatives(&busy).len() < 3 {
        assert!(call(&model, &yes_no()).await.outcome.is_ok());
    }
    let refused = alternatives(&refusing);
    assert_eq!(refused[0], 100);
    assert!(refused[1..].iter().all(|asked| *asked == 20), "{refused:?}");
    let busy = alternatives(&busy);
    assert!(busy.iter().all(|asked| *asked == 100), "{busy:?}");
}

#[actix_rt::test]
async fn a_question_and_its_follow_ups_stay_on_one_server() {
    let flat = || ChatModel {
        top: 100,
        ..ChatModel::new(vec![1.0; 62])
    };
    let servers = [(); 2].map(|()| ModelServer::start(flat().reply()));
    let model = model_of(&servers.each_ref());
    for _ in 0..5 {
        let before = servers.each_ref().map(|server| server.counts().requests);
        let reply = call(&model, &choice(62)).await;
        assert!(reply.outcome.is_ok());
        assert!(reply.report.requests > 3);
        let asked = servers.iter().zip(before);
        let asked = asked.map(|(server, before)| server.counts().requests - before);
        assert!(asked.filter(|asked| *asked > 0).count() == 1);
    }
}

#[actix_rt::test]
async fn a_servers_own_endpoints_are_asked_of_that_server_alone() {
    let flat = ChatModel {
        top: 100,
        ..ChatModel::new(vec![1.0; 255])
    };
    let plain = ModelServer::start(flat.clone().reply());
    let llama_cpp = LlamaCppServer { model: flat };
    let llama_cpp = ModelServer::start(llama_cpp.reply());
    let model = model_of(&[&plain, &llama_cpp]);
    let paths = |server: &ModelServer| -> Vec<String> {
        server
            .requests()
            .into_iter()
            .map(|request| request.path)
            .collect()
    };
    while paths(&plain).is_empty() || paths(&llama_cpp).is_empty() {
        let reply = call(&model, &choice(255)).await;
        let answers = reply.outcome.unwrap();
        for probability in probabilities(only(&answers)) {
            assert!((probability - 1.0 / 255.0).abs() < 0.001, "{probability}");
        }
    }
    assert!(
        paths(&plain)
            .iter()
            .all(|path| path == "/v1/chat/completions")
    );
    assert!(paths(&llama_cpp).iter().any(|path| path == "/completion"));
}

#[actix_rt::test]
async fn a_refusal_at_a_servers_own_endpoint_is_not_carried_elsewhere() {
    let flat = ChatModel {
        top: 100,
        ..ChatModel::new(vec![1.0; 255])
    };
    let servers = [(); 2].map(|()| {
        let server = LlamaCppServer {
            model: flat.clone(),
        };
        ModelServer::start(ScriptedReply::answering(move |request| {
            match request.path.as_str() {
                "/completion" => (503, json!({"error": {"message": "no slot"}})),
                _ => server.answer(request),
            }
        }))
    });
    let model = model_of(&servers.each_ref());
    let reply = call(&model, &choice(255)).await;
    assert!(reply.outcome.is_ok());
    let asked = servers.iter().filter(|server| server.counts().requests > 0);
    let asked: Vec<_> = asked.collect();
    let [only] = asked.as_slice() else {
        panic!("one server answers a call")
    };
    let completions = only.requests();
    let completions = completions
        .iter()
        .filter(|request| request.path == "/completion");
    assert_eq!(completions.count(), 2);
}
