//! The environment's variables about HTTP proxies, which belong to the whole process.

use refract_test_stack::knowing_models::knowing_system_one;
use refract_test_support::model_server::{ModelServer, ScriptedReply};

use crate::program::run;

#[tokio::test]
async fn a_server_on_this_machine_is_asked_without_a_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let (server, proxy) = (
        ModelServer::start(knowing_system_one()),
        ModelServer::start(ScriptedReply::status(502)),
    );
    let (url, proxy_url) = (server.url(), proxy.url());
    let names = [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ];
    let mut settings = names.map(|name| (name, proxy_url.as_str())).to_vec();
    settings.push(("REFRACT_MODEL_URL", url.as_str()));
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    ended.done();
    assert_eq!(proxy.counts().connections, 0);
}

#[tokio::test]
async fn a_server_elsewhere_is_asked_through_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = ModelServer::start(knowing_system_one());
    let settings = [
        ("REFRACT_MODEL_URL", "http://models.example/v1"),
        ("HTTP_PROXY", &proxy.url()),
    ];
    let ended = run(folder.path(), &settings, &["model", "check"]).await;
    ended.done();
    for request in proxy.requests() {
        assert_eq!(request.path, "http://models.example/v1/systemone");
    }
    assert!(proxy.counts().requests > 0);
}

#[tokio::test]
async fn an_unusable_proxy_stops_the_start_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_MODEL_URL", "https://models.example/v1"),
        ("HTTPS_PROXY", "socks5://user:secret@proxy.example:1080"),
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
    ];
    let line = run(folder.path(), &settings, &["serve"]).await.refused();
    let words = "HTTPS_PROXY must be the address of an HTTP proxy, such as";
    assert!(line.contains(words), "{line}");
    assert!(!line.contains("secret"), "{line}");
}
