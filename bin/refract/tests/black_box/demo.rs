//! `refract demo` in an empty folder.

use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;

use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::http::{HttpConnection, Request, within_patience};
use refract_test_stack::service::text;
use refract_test_support::model_server::{ModelServer, ScriptedReply};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::program::{self, run};

/// Occupies the default ports until the value is dropped. A port that cannot be bound is already in
/// use by another process.
fn default_ports_taken() -> [Option<TcpListener>; 2] {
    [8080, 9090].map(|port| TcpListener::bind(("127.0.0.1", port)).ok())
}

#[tokio::test]
async fn it_runs_once_in_an_empty_folder_with_its_ports_taken() {
    let folder = tempfile::tempdir().unwrap();
    let _ports = default_ports_taken();
    for run_before in [false, true] {
        let ended = run(folder.path(), &[], &["demo", "--once"]).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let made = ended.stderr.strip_prefix("Made the database ");
        let made = made.and_then(|path| path.strip_suffix("/refract-demo.db.\n"));
        assert_eq!(made.is_none(), run_before, "{ended:?}");
        assert!(!run_before || ended.stderr.is_empty(), "{ended:?}");
        let shown = ended.stdout;
        assert!(shown.contains("It compares words and is for trying things only."));
        let database =
            "The database: refract-demo.db in this folder, with the prism support-triage";
        assert!(shown.starts_with(database), "{shown}");
        assert!(shown.contains("\nPort 8080 is taken: the API is on port "));
        assert!(shown.contains("\nPOST http://127.0.0.1:"));
        assert!(!shown.contains("127.0.0.1:8080"), "{shown}");
        let json = shown.lines().filter(|line| line.starts_with(r#"{"id":"#));
        let json: Vec<Value> = json
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(json.len(), 1);
        assert_eq!(
            (&json[0]["status"], &json[0]["prism"]),
            (&"ok".into(), &"support-triage".into())
        );
        let header = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency";
        let mut rows = shown.lines().skip_while(|line| *line != header).skip(1);
        assert!(
            rows.next()
                .unwrap()
                .starts_with(json[0]["id"].as_str().unwrap())
        );
    }
    let mut made: Vec<_> = folder
        .path()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    made.retain(|name| !name.to_string_lossy().starts_with("refract-demo.db"));
    assert_eq!(made, [""; 0], "its own database and nothing else");
}

#[tokio::test]
async fn it_asks_the_model_that_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelServer::start(ScriptedReply::answers());
    let url = model.url();
    let settings = [
        ("REFRACT_MODEL_URL", url.as_str()),
        ("REFRACT_LISTEN", "127.0.0.1:0"),
    ];
    let ended = run(
        folder.path(),
        &settings,
        &["demo", "--once", "--ops-listen", "off"],
    )
    .await;
    let shown = ended.done();
    assert!(
        shown.contains(r#""answers":{"topic":"billing","angry":"yes","urgency":"can_wait"}"#),
        "{shown}"
    );
    assert!(!shown.contains("for trying things only"));
    assert_eq!(model.counts().requests, 1);
}

#[tokio::test]
async fn it_serves_on_until_it_is_stopped_and_its_curl_line_works() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
        ("REFRACT_APP_LISTEN", "127.0.0.1:0"),
    ];
    let mut demo = program::command(folder.path(), &settings, &["demo"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut shown = String::new();
    within_patience(async {
        while !shown.contains("\nServing on ") {
            let line = lines.next_line().await.unwrap().expect("it serves on");
            shown.extend([line.as_str(), "\n"]);
        }
    })
    .await;
    let after = |words: &str| {
        let rest = shown.split_once(words).expect(&shown).1;
        rest.split([' ', '\'', '\n']).next().unwrap().to_owned()
    };
    let (url, key) = (after("curl -s http://"), after("Authorization: Bearer "));
    let (address, target) = url.split_once("/v1").unwrap();
    let call = Request::post(target)
        .bearer(&key)
        .json(&json!({"text": "Where is my order?"}));
    let answer = call.send(address.parse().unwrap()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let samples = "\nIt has the answers to 200 sample messages. Open the app";
    assert!(shown.contains(samples), "{shown}");
    assert!(!shown.contains("is taken"), "any port was wanted: {shown}");
    let (app, token) = after_app(&shown);
    let app: SocketAddr = app.parse().unwrap();
    let path = format!("/sign-in/{token}");
    for method in ["GET", "HEAD", "GET"] {
        let looked_at = looked_at(app, method, &path).await;
        assert_eq!(
            looked_at.status, 200,
            "looking uses nothing up: {looked_at:?}"
        );
        assert_eq!(looked_at.header("set-cookie"), None);
        assert_eq!(looked_at.header("referrer-policy"), Some("strict-origin"));
    }
    let link = Request::outside("POST", &path).header("Sec-Fetch-Site", "same-origin");
    let signed_in = link.send(app).await;
    assert_eq!(signed_in.header("location"), Some("/"), "{signed_in:?}");
    let cookie = signed_in.cookies().remove(0);
    // who has no password is asked before signing out
    let asked = Request::outside("POST", "/sign-out")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Cookie", &cookie);
    let asked = asked.send(app).await;
    assert_eq!(asked.header("location"), Some("/sign-out"), "{asked:?}");
    let page = Request::outside("GET", "/sign-out").header("Cookie", &cookie);
    let page = page.send(app).await.body;
    let way_back = "start <code>refract demo</code> again";
    assert!(page.contains(way_back), "{page}");
    let first = Request::outside("GET", "/").header("Cookie", &cookie);
    let page = first.send(app).await;
    // the sample's 200 messages, the demo's own call and this test's
    assert!(
        page.body.contains("Demo owner") && page.body.contains(">202<"),
        "{page:?}"
    );
    assert!(page.body.contains("The built-in scorer answers here"));
    assert_eq!(link.send(app).await.status, 410, "the link works once");
    let used = Request::outside("GET", &path).send(app).await;
    assert_eq!(used.status, 410);
    program::signal(&demo, "INT").await;
    let ended = within_patience(demo.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
    let database = [("DATABASE_URL", "sqlite://refract-demo.db")];
    let events = run(folder.path(), &database, &["events", "--json"]).await;
    let events = events.lines();
    let newest = &events[0];
    assert_eq!(newest["action"], "signed_in", "once: {newest}");
    assert_eq!(newest["by_kind"], "person");
    assert_eq!(newest["note"], "by a link that signs in");
    let before = &events[1];
    assert_eq!(before["action"], "sign_in_link_made");
}

/// The answer to a request whose body may be omitted.
async fn looked_at(app: SocketAddr, method: &str, path: &str) -> HttpAnswer {
    let request = Request::outside(method, path).header("Connection", "close");
    let mut connection = HttpConnection::open(app).await;
    connection.send(&request.bytes()).await;
    let answer = connection.rest().await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    HttpAnswer::new(head, body.to_owned())
}

#[tokio::test]
async fn its_curl_line_has_the_address_that_callers_type() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
        ("REFRACT_APP_LISTEN", "off"),
        ("REFRACT_API_URL", "https://refract.example.com/v1/"),
    ];
    let mut demo = program::command(folder.path(), &settings, &["demo"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let mut shown = Vec::new();
    within_patience(async {
        loop {
            let line = lines.next_line().await.unwrap().expect("it serves on");
            let is_last = line.starts_with("Serving on ");
            shown.push(line);
            if is_last {
                break;
            }
        }
    })
    .await;
    let url = "https://refract.example.com/v1";
    let curl = format!("curl -s {url}/prisms/support-triage/results \\");
    assert!(shown.contains(&curl), "{shown:?}");
    assert!(
        shown.contains(&format!("Serving on {url} until Ctrl-C.")),
        "{shown:?}"
    );
}

/// The address and the token in the link into the app.
fn after_app(shown: &str) -> (&str, &str) {
    let (before, after) = shown.split_once("/sign-in/").expect(shown);
    let (_, address) = before.rsplit_once("http://").unwrap();
    (address, after.split('\n').next().unwrap())
}

#[tokio::test]
async fn the_demo_writes_down_what_it_makes() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
    ];
    run(folder.path(), &settings, &["demo", "--once"])
        .await
        .done();
    let database = [("DATABASE_URL", "sqlite://refract-demo.db")];
    let events = run(folder.path(), &database, &["events", "--json"]).await;
    let mut actions: Vec<_> = events
        .lines()
        .iter()
        .map(|event| text(event, "action"))
        .collect();
    actions.reverse();
    assert_eq!(actions, ["account_created", "prism_created", "key_created"]);
}
