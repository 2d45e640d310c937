//! `refract model detect`: what it finds, prints and refuses.

use refract_test_stack::program::{Ended, run};
use refract_test_support::model_server::{
    ModelServer, ReceivedRequest, ScriptedReply, tokens_reply,
};
use serde_json::{Value, json};

const KEY: (&str, &str) = ("REFRACT_MODEL_API_KEY", "sk-sentinel");

/// Runs `refract model detect` with these settings.
async fn detect(settings: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let ended = run(folder.path(), settings, &["model", "detect"]).await;
    assert!(!format!("{ended:?}").contains("sentinel"), "{ended:?}");
    ended
}

/// Runs `refract model detect` at this address.
async fn detect_at(url: &str) -> Ended {
    detect(&[("REFRACT_MODEL_URL", url)]).await
}

/// A server that answers at these paths, and 404 elsewhere.
fn serving(endpoints: Vec<(&'static str, Value)>) -> ModelServer {
    ModelServer::start(ScriptedReply::answering(move |request| {
        let mut endpoints = endpoints.iter();
        match endpoints.find(|(path, _)| request.path == *path) {
            Some((_, body)) => (200, body.clone()),
            None => (404, json!({"detail": "Not Found"})),
        }
    }))
}

fn root(server: &ModelServer) -> String {
    server.url().replace("/v1", "")
}

/// System One answers to the tiny question.
fn system_one() -> Value {
    json!({"model": "jev-1", "answers": {"late": {"type": "noul", "noul": 0.9}}})
}

fn decisions() -> Value {
    json!({"answers": [{"type": "predicate", "name": "late", "probability": 0.9}]})
}

fn gemini() -> Value {
    json!({"answers": {"late": {"type": "noul", "noul": 0.9, "confidence": 0.9}}})
}

fn chat() -> Value {
    tokens_reply(&[vec![("yes".to_owned(), 0.9), ("no".to_owned(), 0.1)]], 20)
}

/// Percentages for the question of a request with a schema.
fn stated(request: &ReceivedRequest) -> Value {
    let body = request.json();
    let schema = &body["response_format"]["json_schema"]["schema"]["properties"];
    let (key, schema) = schema.as_object().unwrap().iter().next().unwrap();
    let codes = schema["properties"].as_object().unwrap().keys();
    let percents = codes.map(|code| (code.clone(), json!(if code == "yes" { 90 } else { 10 })));
    let answer: Value = percents.collect::<serde_json::Map<_, _>>().into();
    json!({"choices": [{"message": {"content": json!({key: answer}).to_string()}}]})
}

#[tokio::test]
async fn every_protocol_is_found_with_and_without_v1() {
    let models = json!({"data": [{"id": "qwen 3"}, {"id": "gemma"}]});
    for (path, body, protocol, name, base) in [
        (
            "/v1/systemone",
            system_one(),
            "systemone",
            "jev-latest",
            "/v1",
        ),
        ("/systemone", system_one(), "systemone", "jev-latest", ""),
        ("/v1/decisions", decisions(), "decisions", "'qwen 3'", "/v1"),
        ("/decisions", decisions(), "decisions", "'qwen 3'", ""),
        (
            "/v1beta/decisions",
            gemini(),
            "gemini",
            "gemini-decision-1",
            "/v1beta",
        ),
        ("/v1/chat/completions", chat(), "chat", "'qwen 3'", "/v1"),
        ("/chat/completions", chat(), "chat", "'qwen 3'", ""),
        // hosts that take System One's questions at `decisions`
        (
            "/v1/decisions",
            system_one(),
            "systemone",
            "jev-latest",
            "/v1/decisions",
        ),
    ] {
        for given in ["", "/v1", "/"] {
            let server = serving(vec![(path, body.clone()), ("/v1/models", models.clone())]);
            let root = root(&server);
            let ended = detect_at(&format!("{root}{given}")).await;
            let expected = format!(
                "REFRACT_MODEL_URL={root}{base}\nREFRACT_MODEL_PROTOCOL={protocol}\n\
                 REFRACT_MODEL_NAME={name}\n"
            );
            assert_eq!(ended.stdout, expected, "{path} {given} {ended:?}");
            assert!(ended.stderr.contains("qwen 3, gemma"), "{ended:?}");
            ended.done();
        }
    }
}

#[tokio::test]
async fn the_best_of_several_protocols_is_taken() {
    let all = [
        ("/v1/chat/completions", chat()),
        ("/v1/decisions", decisions()),
        ("/v1/systemone", system_one()),
    ];
    for (known, protocol) in [(1, "chat"), (2, "decisions"), (3, "systemone")] {
        let server = serving(all[..known].to_vec());
        let printed = detect_at(&server.url()).await.done();
        let line = format!("REFRACT_MODEL_PROTOCOL={protocol}\n");
        assert!(printed.contains(&line), "{printed}");
    }
}

#[tokio::test]
async fn chat_without_log_probabilities_is_asked_to_state_them() {
    let mut silent = chat();
    silent["choices"][0]["logprobs"] = Value::Null;
    let server = ModelServer::start(ScriptedReply::answering(move |request| {
        match (
            request.path.as_str(),
            request.json()["response_format"].is_object(),
        ) {
            ("/v1/chat/completions", true) => (200, stated(request)),
            ("/v1/chat/completions", false) => (200, silent.clone()),
            _ => (404, json!({})),
        }
    }));
    let ended = detect_at(&server.url()).await;
    let words = format!(
        "chat at {}/chat/completions: The model gave no usable",
        server.url()
    );
    assert!(ended.stderr.contains(&words), "{ended:?}");
    assert!(ended.done().contains("REFRACT_MODEL_PROTOCOL=stated\n"));
}

#[tokio::test]
async fn the_name_that_is_set_is_asked_for_and_printed() {
    let server = ModelServer::start(ScriptedReply::answering(|request| {
        let body = request.json();
        match (request.path.as_str(), body["model"].as_str()) {
            ("/v1/models", _) => (200, json!({"models": [{"name": "jev-latest"}]})),
            ("/v1/systemone", Some("jev-1.13.0")) => (200, system_one()),
            ("/v1/systemone", _) => (400, json!({"detail": "Unknown model"})),
            _ => (404, json!({})),
        }
    }));
    let url = server.url();
    let named = ("REFRACT_MODEL_NAME", "jev-1.13.0");
    let ended = detect(&[("REFRACT_MODEL_URL", &url), named]).await;
    assert!(ended.done().contains("REFRACT_MODEL_NAME=jev-1.13.0\n"));
    let line = detect_at(&url).await;
    assert_eq!(line.code, Some(1), "{line:?}");
    let words = format!(
        "error: {url} answered no question. systemone at {url}/systemone: The model server \
         answered with status 400. The server says: \"Unknown model\". The server lists \
         jev-latest: set REFRACT_MODEL_NAME."
    );
    assert!(line.stderr.contains(&words), "{line:?}");
}

#[tokio::test]
async fn the_header_that_carries_the_key_is_found() {
    for header in ["authorization", "x-api-key", "api-key"] {
        let server = ModelServer::start(ScriptedReply::answering(move |request| {
            let sent = request.header(header).unwrap_or_default();
            match request.path.as_str() {
                _ if sent.trim_start_matches("Bearer ") != KEY.1 => (401, json!({})),
                "/v1/systemone" => (200, system_one()),
                _ => (404, json!({})),
            }
        }));
        let url = server.url();
        let printed = detect(&[("REFRACT_MODEL_URL", &url), KEY]).await.done();
        let line = format!("REFRACT_MODEL_KEY_HEADER={header}\n");
        assert_eq!(
            printed.contains(&line),
            header != "authorization",
            "{printed}"
        );
        // the header that is set is the only one
        let set = ("REFRACT_MODEL_KEY_HEADER", "x-other");
        let ended = detect(&[("REFRACT_MODEL_URL", &url), KEY, set]).await;
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(
            ended
                .stderr
                .contains("status 401. Check REFRACT_MODEL_API_KEY.")
        );
    }
}

#[tokio::test]
async fn a_whole_address_is_asked_as_it_is() {
    let path = "/serving-endpoints/jev/invocations";
    let server = serving(vec![(path, json!({"response": system_one()}))]);
    let url = format!("{}{path}", root(&server));
    let printed = detect_at(&url).await.done();
    assert!(
        printed.starts_with(&format!("REFRACT_MODEL_URL={url}\n")),
        "{printed}"
    );
    assert_eq!(server.counts().requests, 1);
    // the base of an endpoint that the server lacks
    let server = serving(vec![("/v1/chat/completions", chat())]);
    let url = format!("{}/systemone", server.url());
    let printed = detect_at(&url).await.done();
    let expected = format!(
        "REFRACT_MODEL_URL={}\nREFRACT_MODEL_PROTOCOL=chat\n",
        server.url()
    );
    assert!(printed.starts_with(&expected), "{printed}");
}

#[tokio::test]
async fn servers_of_a_list_must_agree() {
    let [one, other, chatting] = [
        serving(vec![("/v1/systemone", system_one())]),
        serving(vec![("/systemone", system_one())]),
        serving(vec![("/v1/chat/completions", chat())]),
    ];
    let urls = format!("{},{}", one.url(), other.url());
    let printed = detect_at(&urls).await.done();
    let line = format!("REFRACT_MODEL_URL={},{}\n", one.url(), root(&other));
    assert!(printed.contains(&line), "{printed}");
    let urls = format!("{},{}", one.url(), chatting.url());
    let ended = detect_at(&urls).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains("must serve one model"), "{ended:?}");
}

#[tokio::test]
async fn nothing_found_is_an_error_with_a_reason() {
    let none = serving(Vec::new());
    let url = none.url();
    let ended = detect_at(&url).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let words = format!(
        "error: {url} has none of the endpoints that Refract asks. Check REFRACT_MODEL_URL: it \
         ends in `/v1`, or is the whole address of an endpoint.\n"
    );
    assert!(ended.stderr.ends_with(&words), "{ended:?}");
    drop(none);
    let ended = detect_at(&url).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let words = "could not be reached: the connection was refused. Check REFRACT_MODEL_URL and \
                 whether the server runs.\n";
    assert!(ended.stderr.ends_with(words), "{ended:?}");
    let line = detect_at("builtin:lexical").await.refused();
    assert!(line.contains("builtin:lexical is no server"), "{line}");
}

#[tokio::test]
async fn a_line_shows_for_each_protocol_why_it_was_not_answered() {
    let server = serving(vec![("/v1/chat/completions", json!({}))]);
    let ended = detect_at(&server.url()).await;
    let begins = |name: &&str| {
        let begin = format!("{name} at ");
        ended
            .stderr
            .lines()
            .filter(|line| line.starts_with(&begin))
            .count()
            == 1
    };
    let protocols = ["systemone", "decisions", "gemini", "chat", "stated"];
    assert!(protocols.iter().all(begins), "{ended:?}");
    assert!(server.counts().requests > 8);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = ModelServer::start(ScriptedReply::answers().held());
    let url = server.url();
    let short = ("REFRACT_MODEL_TIMEOUT_MS", "200");
    let ended = detect(&[("REFRACT_MODEL_URL", &url), short]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("did not answer within 200 ms"),
        "{ended:?}"
    );
    // two lists of models and two questions
    assert_eq!(server.counts().requests, 4);
}

#[tokio::test]
async fn the_tiny_question_is_about_a_text_of_refracts_own() {
    let server = ModelServer::start(ScriptedReply::answers());
    detect_at(&server.url()).await.done();
    let asked = server.requests().pop().unwrap();
    assert_eq!(asked.path, "/v1/systemone");
    assert_eq!(
        asked.json()["state"]["text"],
        "My parcel was due on Monday and has not arrived. Where is my order?"
    );
}
