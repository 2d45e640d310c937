use refract_domain::submission::model_input::{State, SystemOneQuestion, json_chars};
use refract_model_gateway::{ModelApiKey, ModelError, ModelSettings, PROMPT_VERSION};
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::value::RawValue;

use super::*;

#[actix_rt::test]
async fn the_request_is_the_contracts_byte_for_byte() {
    let server = ModelServer::start(ScriptedReply::answers());
    ask(&model(&server), &triage()).await.unwrap();

    let sent = server.requests().pop().unwrap();
    let expected = concat!(
        r#"{"model":"jev-latest","#,
        r#""state":{"context":"We sell bicycles online.","text":"Where is my order?"},"#,
        r#""questions":{"#,
        r#""topic":{"type":"choice","#,
        r#""instructions":"What is the message about?\nJudge by the main request.","#,
        r#""criteria":{"billing":"Billing: charges and invoices","delivery":"Delivery","#,
        r#""other":"Other: the text answers the question, but with none of the options above","#,
        r#""insufficient_information":"Not enough information: the text does not say enough to answer the question"}},"#,
        r#""angry":{"type":"noul","instructions":"Is the writer angry?"},"#,
        r#""urgency":{"type":"score","instructions":"How urgent is it?","#,
        r#""criteria":["Can wait","This week","Today"]}}}"#,
    );
    assert_eq!(sent.text(), expected);
    // raise the number when the text that every model gets changes
    assert_eq!(PROMPT_VERSION, 3);
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str()),
        ("POST", "/v1/systemone")
    );
}

#[actix_rt::test]
async fn the_headers_say_what_is_sent_by_whom() {
    let server = ModelServer::start(ScriptedReply::answers());
    let with_key = ModelSettings {
        api_key: Some("sk-secret".parse().unwrap()),
        ..settings(&server.url())
    };
    ask(&model_with(with_key), &yes_no()).await.unwrap();
    ask(&model(&server), &yes_no()).await.unwrap();

    let [with_key, without]: [_; 2] = server.requests().try_into().unwrap();
    assert_eq!(with_key.header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(without.header("authorization"), None);
    for sent in [with_key, without] {
        assert_eq!(sent.header("content-type"), Some("application/json"));
        assert_eq!(sent.header("accept"), Some("application/json"));
        assert_eq!(
            sent.header("user-agent"),
            Some(concat!("refract/", env!("CARGO_PKG_VERSION")))
        );
        // a gateway hands on refusals at once
        assert_eq!(sent.header("x-litellm-num-retries"), Some("0"));
        let length = sent.body.len().to_string();
        assert_eq!(sent.header("content-length"), Some(length.as_str()));
        let host = format!("127.0.0.1:{}", server.port());
        assert_eq!(sent.header("host"), Some(host.as_str()));
    }
}

#[actix_rt::test]
async fn a_key_that_changes_in_its_file_is_read_again_when_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "sk-old\n").unwrap();
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model_with(ModelSettings {
        api_key: Some(ModelApiKey::in_file(&file).unwrap()),
        ..settings(&server.url())
    });
    let keys = || -> Vec<_> {
        let requests = server.requests();
        let sent = requests.iter().map(|sent| sent.header("authorization"));
        sent.map(|key| key.unwrap().to_owned()).collect()
    };
    ask(&model, &yes_no()).await.unwrap();
    for refusal in [401, 403] {
        // the same key again, or an unusable file: the call fails at once
        for content in [None, Some("two words"), Some("")] {
            if let Some(content) = content {
                std::fs::write(&file, content).unwrap();
            }
            server.then_once(ScriptedReply::status(refusal));
            let failure = ask(&model, &yes_no()).await.unwrap_err();
            assert_eq!(failure, ModelError::Status(refusal));
        }
        // another key: the call is answered
        let renewed = format!("sk-after-{refusal}");
        std::fs::write(&file, &renewed).unwrap();
        server.then_once(ScriptedReply::status(refusal));
        ask(&model, &yes_no()).await.unwrap();
        assert_eq!(keys().last().unwrap(), &format!("Bearer {renewed}"));
    }
    ask(&model, &yes_no()).await.unwrap();
    let [old, after_401, after_403] = [
        "Bearer sk-old",
        "Bearer sk-after-401",
        "Bearer sk-after-403",
    ];
    let expected = [[old; 5].as_slice(), &[after_401; 5], &[after_403; 2]].concat();
    assert_eq!(keys(), expected);
    let gone = ModelApiKey::in_file(&folder.path().join("gone")).unwrap_err();
    assert!(gone.to_string().contains("gone"), "{gone}");
    std::fs::write(&file, "not a key").unwrap();
    let refused = ModelApiKey::in_file(&file).unwrap_err().to_string();
    assert!(!refused.contains("not a"), "{refused}");
}

#[actix_rt::test]
async fn a_slash_at_the_end_of_the_address_changes_nothing() {
    let server = ModelServer::start(ScriptedReply::answers());
    for url in [server.url(), format!("{}/", server.url())] {
        ask(&model_with(settings(&url)), &yes_no()).await.unwrap();
    }
    assert!(
        server
            .requests()
            .iter()
            .all(|sent| sent.path == "/v1/systemone")
    );
}

#[actix_rt::test]
async fn the_state_holds_both_contexts_and_the_fields_in_the_prisms_order() {
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model(&server);
    let with_context = version(
        r#"{"fields": [{"key": "subject", "label": "Subject"}, {"key": "body", "label": "Body"}],
            "context": "We sell bicycles.",
            "questions": [{"key": "angry", "type": "yes_no", "text": "Angry?"}]}"#,
    );
    let without_context = version(
        r#"{"fields": [{"key": "subject", "label": "Subject"}, {"key": "body", "label": "Body"}],
            "questions": [{"key": "angry", "type": "yes_no", "text": "Angry?"}]}"#,
    );
    let fields = [
        ("body", "tab\t\"quote\" é 日 \u{1F600} \u{7}"),
        ("subject", ""),
    ];
    for (version, context) in [
        (&with_context, Some("A VIP.")),
        (&without_context, Some("A VIP.")),
        (&without_context, None),
    ] {
        let submission = submission_with(version, &fields, context);
        model.answer(version, &submission).await.outcome.unwrap();
    }
    let written = r#""subject":"","body":"tab\t\"quote\" é 日 😀 \u0007""#;
    let states: Vec<String> = server
        .requests()
        .iter()
        .map(|sent| part(&sent.text(), "state"))
        .collect();
    assert_eq!(
        states,
        [
            format!(
                r#"{{"context":"We sell bicycles.\nContext for this call:\nA VIP.",{written}}}"#
            ),
            format!(r#"{{"context":"Context for this call:\nA VIP.",{written}}}"#),
            format!("{{{written}}}"),
        ]
    );
}

#[actix_rt::test]
async fn the_token_estimate_counts_what_is_sent() {
    let server = ModelServer::start(ScriptedReply::answers());
    let version = triage();
    let submission = submission_with(
        &version,
        &[("text", "Wo ist mein Fahrrad? \"日本\" \u{1F600}\n")],
        Some("Käufer\tseit 2019"),
    );
    model(&server)
        .answer(&version, &submission)
        .await
        .outcome
        .unwrap();

    let sent = server.requests().pop().unwrap().text();
    let state = State {
        prism_context: version.context(),
        submission: &submission,
    };
    assert_eq!(json_chars(&state), part(&sent, "state").chars().count());
    let questions = part(&sent, "questions");
    for (question, chars) in version.questions().iter().zip(version.question_chars()) {
        let json = serde_json::to_string(&SystemOneQuestion::from(question)).unwrap();
        assert_eq!(part(&questions, question.key.as_str()), json);
        assert_eq!(json.chars().count(), *chars);
    }
}

#[actix_rt::test]
async fn calls_share_a_connection_that_is_kept_alive() {
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model(&server);
    for _ in 0..5 {
        ask(&model, &triage()).await.unwrap();
    }
    assert_eq!(
        (server.counts().connections, server.counts().requests),
        (1, 5)
    );
}

#[actix_rt::test]
async fn a_connection_that_the_server_wants_closed_is_not_used_again() {
    let server = ModelServer::start(ScriptedReply::answers().header("Connection", "close"));
    let model = model(&server);
    for _ in 0..3 {
        ask(&model, &triage()).await.unwrap();
    }
    assert_eq!(
        (server.counts().connections, server.counts().requests),
        (3, 3)
    );
}

#[actix_rt::test]
async fn a_connection_that_the_server_closed_is_not_used_again() {
    let server = ModelServer::start(ScriptedReply::answers());
    let model = model(&server);
    ask(&model, &triage()).await.unwrap();
    let port = server.port();
    drop(server);
    // the wait lets this thread notice the closed connection
    assert!(
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
    );
    let refused = ask(&model, &triage()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "The model server could not be reached: the connection was refused."
    );
    let again = ModelServer::start_on(port, ScriptedReply::answers());
    ask(&model, &triage()).await.unwrap();
    assert_eq!(again.counts().requests, 1);
}

/// The JSON text of one value of an object, as it was sent.
fn part(json: &str, key: &str) -> String {
    let parts: std::collections::HashMap<String, Box<RawValue>> =
        serde_json::from_str(json).unwrap();
    parts.get(key).unwrap().get().to_owned()
}
