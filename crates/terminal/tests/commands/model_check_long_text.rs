//! `refract model check` finds out whether the server reads a long text whole.

use refract_test_stack::knowing_models::knowing_system_one;
use refract_test_stack::program::{Ended, run};
use refract_test_support::model_server::{ModelServer, ScriptedReply, system_one_answers};
use serde_json::json;

/// The estimated tokens of the long text.
const TOKENS: &str = "about 13,273";

async fn check(server: &ModelServer) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let url = server.url();
    let settings = [("REFRACT_MODEL_URL", url.as_str())];
    run(folder.path(), &settings, &["model", "check"]).await
}

/// A server that reads no more tokens of a request than these.
fn reading(most: usize) -> ScriptedReply {
    ScriptedReply::with(move |request| {
        let mut answer = system_one_answers(request);
        answer["usage"] = json!({"input_tokens": most.min(request.body.len() / 4)});
        answer
    })
}

fn is_long(server: &ModelServer) -> bool {
    let requests = server.requests();
    requests.iter().any(|request| request.body.len() > 50_000)
}

#[tokio::test]
async fn a_server_that_cuts_a_text_and_one_that_reads_it_whole_are_distinguished() {
    let server = ModelServer::start(reading(4_096));
    let ended = check(&server).await;
    let words = "The server cuts long texts without an error: it read only 4,096 of about 13,273";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert!(is_long(&server) && ended.code == Some(0), "{ended:?}");
    let server = ModelServer::start(reading(usize::MAX));
    let ended = check(&server).await;
    assert!(ended.stderr.contains("tokens was read whole."), "{ended:?}");
    assert!(ended.stderr.contains(TOKENS), "{ended:?}");
}

#[tokio::test]
async fn a_server_that_refuses_a_long_text_can_serve_short_ones() {
    let server = ModelServer::start(ScriptedReply::answering(|request| {
        if request.body.len() > 50_000 {
            let message = "the request exceeds the available context size";
            return (400, json!({"error": {"message": message}}));
        }
        (200, system_one_answers(request))
    }));
    let ended = check(&server).await;
    let words = "tokens got no answer: The text is too long for the model's context (status 400).";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert_eq!(ended.code, Some(0));
}

#[tokio::test]
async fn a_server_that_counts_no_tokens_is_not_asked_about_a_long_text() {
    let server = ModelServer::start(knowing_system_one());
    let ended = check(&server).await;
    let words = "The server reports no tokens: a text that it cuts would not be noticed.";
    assert!(ended.stderr.contains(words), "{ended:?}");
    assert!(!is_long(&server));
}
