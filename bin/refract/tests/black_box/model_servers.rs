//! `REFRACT_MODEL_URL` with several servers: calls, metrics, the lines that name them, and
//! `refract model check`.

use refract_test_stack::knowing_models::knowing_system_one;
use refract_test_stack::service::{Backend, Service, Setup, TEXT};
use refract_test_support::model_server::{
    ChatModel, ModelServer, ReceivedRequest, Script, ScriptedReply,
};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::program::{Ended, run};
use crate::program::{setup, start};

/// A port at which connections are refused until the value is dropped.
fn refusing_port() -> (TcpSocket, u16) {
    let bound = TcpSocket::new_v4().unwrap();
    bound.set_reuseaddr(true).unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let port = bound.local_addr().unwrap().port();
    (bound, port)
}

/// The value of a metric of the server at this port, if present.
fn metric(text: &str, name: &str, port: u16) -> Option<u64> {
    let sample = format!("{name}{{server=\"127.0.0.1:{port}\"}} ");
    let value = text.lines().find_map(|line| line.strip_prefix(&sample))?;
    Some(value.parse().unwrap())
}

#[tokio::test]
async fn a_node_answers_every_call_while_one_of_two_servers_is_down() {
    let (_bound, port) = refusing_port();
    let model = ModelServer::start(ScriptedReply::answers());
    let urls = format!("http://127.0.0.1:{port}/hidden/v1, {}", model.url());
    let setup = Setup {
        settings: &[("REFRACT_MODEL_URL", &urls)],
        ..setup()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let node = &service.nodes[0];
    let calls = async {
        let mut calls = 0;
        loop {
            let answer = service.create(&json!({"text": TEXT})).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            calls += 1;
            let text = node.ops("/metrics").await.body;
            let is_ejected = metric(&text, "refract_model_server_ejected", port).unwrap();
            if is_ejected == 1 {
                break (calls, text);
            }
        }
    };
    let (calls, text) = refract_test_stack::http::within_patience(calls).await;
    assert!(!text.contains("hidden"), "{text}");
    let of = |name: &str, port| metric(&text, name, port).unwrap();
    for (name, down, up) in [
        ("refract_model_server_requests_total", 3, calls),
        ("refract_model_server_failures_total", 3, 0),
        ("refract_model_server_requests_in_flight", 0, 0),
        ("refract_model_server_ejected", 1, 0),
        // the metric's previous name, kept for one release
        ("refract_model_server_left_alone", 1, 0),
    ] {
        let found = (of(name, port), of(name, model.port()));
        assert_eq!(found, (down, up), "{name}");
    }
    let warning = node.logged(|line| line.contains("is ejected")).await;
    let warning: Value = serde_json::from_str(&warning).unwrap();
    assert_eq!(warning["level"], "WARN");
    assert_eq!(warning["server"], format!("127.0.0.1:{port}"));
    let listening = node.logged(|line| line.contains("listening")).await;
    let listening: Value = serde_json::from_str(&listening).unwrap();
    let named = format!(
        "http://127.0.0.1:{port}/hidden/v1, {} (systemone)",
        model.url()
    );
    assert_eq!(listening["model"], named);
}

#[tokio::test]
async fn a_node_begins_with_what_a_command_learned_of_a_server() {
    let codes = ChatModel::new(vec![3.0, 1.0]);
    let script = Script::from(ScriptedReply::answering(move |request| {
        let body = request.json();
        match body.get("chat_template_kwargs") {
            Some(_) => {
                let error = json!({"message": "unsupported", "param": "chat_template_kwargs"});
                (400, json!({"error": error}))
            }
            None => codes.answer_to(&body),
        }
    }));
    let settings = &[("REFRACT_MODEL_PROTOCOL", "chat")];
    let setup = Setup {
        nodes: 0,
        script,
        settings,
        ..setup()
    };
    let mut service = Service::with(Backend::Sqlite, setup).await;
    let arguments = [
        "try",
        &service.prism_id,
        "--text",
        TEXT,
        "--model-protocol",
        "chat",
    ];
    let tried = service.run(&arguments).await;
    assert_eq!(tried.code, Some(0), "{tried:?}");
    let is_refused =
        |request: &ReceivedRequest| request.json().get("chat_template_kwargs").is_some();
    let asked = service.model.requests();
    assert!(asked.iter().any(is_refused));
    service.start_node(settings).await;
    let answer = service.create(&json!({"text": TEXT})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let of_node = service.model.requests().split_off(asked.len());
    assert!(!of_node.is_empty() && !of_node.iter().any(is_refused));
}

#[tokio::test]
async fn one_server_is_counted_by_its_host_and_port_and_never_ejected() {
    let service = start(Backend::Sqlite).await;
    for _ in 0..4 {
        service.failed(&json!({"text": TEXT})).await;
    }
    let refused = || ScriptedReply::status(503).header("Retry-After", "0");
    for _ in 0..4 {
        service.model.then_once(refused());
        service.model.then_once(refused());
        let answer = service.create(&json!({"text": TEXT})).await;
        assert_eq!(answer.status, 502, "{answer:?}");
    }
    let text = service.nodes[0].ops("/metrics").await.body;
    let port = service.model.port();
    for (name, value) in [
        ("refract_model_server_requests_total", 12),
        ("refract_model_server_failures_total", 8),
        ("refract_model_server_requests_in_flight", 0),
        ("refract_model_server_ejected", 0),
        ("refract_model_server_left_alone", 0),
    ] {
        assert_eq!(metric(&text, name, port), Some(value), "{name}");
    }
}

/// Runs `refract model check` against these servers.
async fn check(servers: &[&ModelServer], more: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
    let urls = urls.join(",");
    let settings = [("REFRACT_MODEL_URL", urls.as_str())];
    let arguments = [&["model", "check"], more].concat();
    run(folder.path(), &settings, &arguments).await
}

#[tokio::test]
async fn the_model_check_asks_each_server_and_names_it() {
    let servers = [(); 2].map(|()| ModelServer::start(knowing_system_one()));
    let ended = check(&servers.each_ref(), &["--json"]).await;
    for server in &servers {
        // five rows, and as many questions as fit
        assert_eq!(server.counts().requests, 6);
        let asked = format!("Asked {} (systemone): ", server.url());
        assert!(ended.stderr.contains(&asked), "{ended:?}");
    }
    assert_eq!(ended.stderr.matches("The model can serve.").count(), 2);
    let lines = ended.lines();
    let named: Vec<&str> = lines
        .iter()
        .map(|line| line["server"].as_str().unwrap())
        .collect();
    let [one, other] = servers.each_ref().map(ModelServer::url);
    assert_eq!(named[..5], [one.as_str(); 5]);
    assert_eq!(named[5..], [other.as_str(); 5]);
    let table = check(&servers.each_ref(), &[]).await.done();
    let rows_of = |url: &str| {
        table
            .lines()
            .filter(|line| line.trim().starts_with(url))
            .count()
    };
    assert_eq!((rows_of(&one), rows_of(&other)), (5, 5), "{table}");
    // a single server needs no name
    let alone = check(&[&servers[0]], &["--json"]).await.lines();
    assert!(alone.iter().all(|line| line.get("server").is_none()));
}

#[tokio::test]
async fn the_model_check_fails_when_one_server_cannot_serve_and_asks_the_others() {
    let (refusing, knowing) = (
        ModelServer::start(ScriptedReply::status(401)),
        ModelServer::start(knowing_system_one()),
    );
    let ended = check(&[&refusing, &knowing], &[]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(knowing.counts().requests, 6);
    let url = refusing.url();
    let reason = format!(
        "Asked {url}: this model cannot serve (yes_no): The model server answered with status \
         401. The server says: \"status 401\". Check REFRACT_MODEL_API_KEY.\n"
    );
    assert!(ended.stderr.starts_with(&reason), "{ended:?}");
    assert!(ended.stderr.contains("The model can serve.\n"), "{ended:?}");
    let last = format!("error: 1 of 2 model servers cannot serve: {url}\n");
    assert!(ended.stderr.ends_with(&last), "{ended:?}");
    assert!(ended.stdout.contains(&knowing.url()), "{ended:?}");
}

#[tokio::test]
async fn the_demo_names_every_server() {
    let folder = tempfile::tempdir().unwrap();
    let servers = [(); 2].map(|()| ModelServer::start(ScriptedReply::answers()));
    let urls = servers.each_ref().map(ModelServer::url);
    let setting = urls.join(",");
    let settings = [
        ("REFRACT_MODEL_URL", setting.as_str()),
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
    ];
    let shown = run(folder.path(), &settings, &["demo", "--once"])
        .await
        .done();
    let model = format!("The model: {} (systemone)", urls.join(", "));
    assert!(shown.lines().any(|line| line == model), "{shown}");
    let asked: usize = servers.iter().map(|server| server.counts().requests).sum();
    assert_eq!(asked, 1);
}
