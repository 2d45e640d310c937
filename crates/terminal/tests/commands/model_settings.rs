//! The settings of the model server: the header of its key, its name and its address.

use refract_test_stack::program::{Ended, run};
use refract_test_support::model_server::{ModelServer, ScriptedReply};

const KEY: (&str, &str) = ("REFRACT_MODEL_API_KEY", "sk-sentinel");

/// Runs a quick check with these settings.
async fn check(settings: &[(&str, &str)]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), settings, &["model", "check", "--quick"]).await
}

#[tokio::test]
async fn a_key_is_sent_in_the_header_that_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "sk-sentinel\n").unwrap();
    let in_file = ("REFRACT_MODEL_API_KEY_FILE", file.to_str().unwrap());
    for (key, header, name, value) in [
        (KEY, "", "authorization", "Bearer sk-sentinel"),
        (KEY, "Authorization", "authorization", "Bearer sk-sentinel"),
        (KEY, "x-api-key", "x-api-key", "sk-sentinel"),
        (in_file, "api-key", "api-key", "sk-sentinel"),
    ] {
        let server = ModelServer::start(ScriptedReply::answers());
        let url = server.url();
        let header = ("REFRACT_MODEL_KEY_HEADER", header);
        let ended = check(&[("REFRACT_MODEL_URL", &url), key, header]).await;
        assert!(!format!("{ended:?}").contains("sentinel"), "{ended:?}");
        ended.done();
        assert_eq!(server.requests()[0].header(name), Some(value));
    }
}

#[tokio::test]
async fn a_header_without_a_key_or_that_carries_none_is_refused() {
    let url = ("REFRACT_MODEL_URL", "http://127.0.0.1:1/v1");
    for header in ["x-api-key", "Authorization"] {
        let line = check(&[url, ("REFRACT_MODEL_KEY_HEADER", header)]).await;
        assert_eq!(
            line.refused(),
            "error: REFRACT_MODEL_KEY_HEADER is set without a key: set REFRACT_MODEL_API_KEY or \
             REFRACT_MODEL_API_KEY_FILE, or leave it out"
        );
    }
    for header in ["two words", "Content-Length", "x-api-key: secret"] {
        let line = check(&[url, KEY, ("REFRACT_MODEL_KEY_HEADER", header)]).await;
        assert_eq!(
            line.refused(),
            "error: REFRACT_MODEL_KEY_HEADER cannot be used: the header of the model API key must \
             be `Authorization` or a name such as `x-api-key`, and none that HTTP itself uses"
        );
    }
}

#[tokio::test]
async fn the_name_is_the_protocols_unless_it_is_set() {
    for (protocol, name, reply, sent) in [
        ("systemone", "", ScriptedReply::answers(), "jev-latest"),
        ("decisions", "", ScriptedReply::decisions(), "default"),
        ("gemini", "", ScriptedReply::gemini(), "default"),
        (
            "systemone",
            "jev-1.13.0",
            ScriptedReply::answers(),
            "jev-1.13.0",
        ),
        ("decisions", "luna", ScriptedReply::decisions(), "luna"),
    ] {
        let server = ModelServer::start(reply);
        let url = server.url();
        let settings = [
            ("REFRACT_MODEL_URL", url.as_str()),
            ("REFRACT_MODEL_PROTOCOL", protocol),
            ("REFRACT_MODEL_NAME", name),
        ];
        check(&settings).await.done();
        assert_eq!(server.requests()[0].json()["model"], sent, "{protocol}");
    }
}

#[tokio::test]
async fn an_address_of_another_protocol_is_refused_in_one_line() {
    let at = |path: &str| format!("http://127.0.0.1:1{path}");
    for (path, protocol) in [("/v1/systemone", "chat"), ("/v1/decisions", "stated")] {
        let (url, protocol) = (at(path), ("REFRACT_MODEL_PROTOCOL", protocol));
        let line = check(&[("REFRACT_MODEL_URL", &url), protocol]).await;
        assert_eq!(
            line.refused(),
            "error: the model URL is the whole address of an endpoint of another protocol than \
             REFRACT_MODEL_PROTOCOL: change one of them"
        );
    }
    let line = check(&[("REFRACT_MODEL_URL", &at("/v1/chat/completions"))]).await;
    assert_eq!(
        line.refused(),
        "error: REFRACT_MODEL_URL cannot be used: the model URL must end before \
         `/chat/completions`, which Refract appends"
    );
}
