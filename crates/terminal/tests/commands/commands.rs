//! The operator's commands: what each prints, changes and refuses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use refract_test_stack::expected::{ANSWERS, STORED, Saved};
use refract_test_stack::service::{
    Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, TEXT, example_prism, text,
};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    accounts_are_created_and_listed,
    keys_are_created_listed_and_revoked,
    prisms_are_created_saved_shown_and_listed,
    a_refused_prism_file_names_its_path_and_saves_nothing,
    lenses_are_shown_set_and_reset,
    a_text_is_tried,
    a_doctor_prints_a_line_about_each_check,
);

/// A service without nodes, since commands work on the database directly.
async fn service(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

/// The keys of a JSON object in the order in which they are printed.
fn keys_of(line: &str) -> Vec<&str> {
    let keys = line
        .split(['{', ','])
        .filter_map(|part| part.split_once(':'));
    keys.map(|(key, _)| key.trim_matches('"')).collect()
}

async fn accounts_are_created_and_listed(backend: Backend) {
    let service = service(backend).await;
    let printed = service.run(&["account", "create", "acme"]).await.done();
    let made: Value = serde_json::from_str(&printed).unwrap();
    let expected = format!("{{\"id\":\"{}\",\"name\":\"acme\"}}\n", text(&made, "id"));
    assert_eq!(printed, expected);
    let line = service.run(&["account", "create", "acme"]).await.refused();
    assert!(line.contains("acme"), "{line}");
    service.run(&["account", "create", " "]).await.refused();
    let listed = service.run(&["account", "list", "--json"]).await.lines();
    let names: Vec<_> = listed.iter().map(|account| text(account, "name")).collect();
    assert_eq!(names, ["acme", "default"]);
    let mut with_budget = made.clone();
    with_budget["budget"] = Value::Null;
    assert_eq!(listed[0], with_budget);
    let table = service.run(&["account", "list"]).await.done();
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains(&text(&made, "id")));
    // the account `default` is created when it is missing, any other is not
    let line = service.run(&["key", "create", "--account", "nobody"]).await;
    let line = line.refused();
    assert!(line.contains("refract account create nobody"), "{line}");
}

async fn keys_are_created_listed_and_revoked(backend: Backend) {
    let service = service(backend).await;
    let printed = service.run(&["key", "create", "--name", "CI"]).await.done();
    assert_eq!(keys_of(&printed), ["id", "account", "name", "key"]);
    let made: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&made["account"], &made["name"]),
        (&json!("default"), &json!("CI"))
    );
    let key = text(&made, "key");
    let random = key.strip_prefix("rk_").expect("the prefix");
    assert_eq!(random.len(), 32);
    assert!(
        random
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || "-_".contains(sign))
    );
    let listed = service.run(&["key", "list", "--json"]).await.lines();
    assert_eq!(listed.len(), 2);
    let shown = listed.iter().find(|key| key["id"] == made["id"]).unwrap();
    assert_eq!(shown["name"], "CI");
    assert_eq!(shown["results_made"], 0);
    assert_eq!(
        (&shown["last_used_at"], &shown["revoked_at"]),
        (&Value::Null, &Value::Null)
    );
    let first = text(shown, "first_characters");
    assert!(key.starts_with(&first) && first.len() < 12, "{first}");
    let id = text(&made, "id");
    service.run(&["key", "revoke", &id]).await.done();
    let listed = service.run(&["key", "list", "--json"]).await.lines();
    let shown = listed.iter().find(|key| key["id"] == made["id"]).unwrap();
    assert!(shown["revoked_at"].is_string());
    for list in [&["key", "list"][..], &["key", "list", "--json"]] {
        let printed = service.run(list).await.done();
        assert!(
            printed.contains("CI") && !printed.contains(random),
            "{printed}"
        );
    }
    for unknown in ["x", "01234567-89ab-7def-8123-456789abcdef"] {
        let line = service.run(&["key", "revoke", unknown]).await.refused();
        assert!(line.contains("refract key list"), "{line}");
    }
}

async fn prisms_are_created_saved_shown_and_listed(backend: Backend) {
    let service = service(backend).await;
    let printed = service.run(&["prism", "create", PRISM_FILE]).await.done();
    let made: Value = serde_json::from_str(&printed).unwrap();
    let id = text(&made, "id");
    let expected = format!("{{\"id\":\"{id}\",\"slug\":\"support-triage-2\",\"version\":1}}\n");
    assert_eq!(printed, expected);
    // `prism show` prints a file that `prism save` accepts, with every key filled in
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    let labels = example_prism();
    assert_eq!(shown["name"], labels["name"]);
    assert_eq!(shown["questions"][0]["options"][0]["key"], "billing");
    assert_eq!(shown["questions"][2]["levels"][1]["key"], "this_week");
    let file = service.file("shown.json", &shown);
    let printed = service.run(&["prism", "save", PRISM, &file]).await.done();
    let expected = format!(
        "{{\"id\":\"{}\",\"slug\":\"{PRISM}\",\"version\":2}}\n",
        service.prism_id
    );
    assert_eq!(printed, expected);
    let mut other = shown.clone();
    other["questions"][1]["text"] = json!("Is the writer furious?");
    other["name"] = json!("Renamed by a save");
    let file = service.file("other.json", &other);
    service
        .run(&["prism", "save", &service.prism_id, &file])
        .await
        .done();
    let of = |version| {
        let service = &service;
        async move {
            let arguments = ["prism", "show", PRISM, "--version", version];
            service.run(&arguments).await.object()
        }
    };
    assert_eq!(of("2").await["questions"], shown["questions"]);
    assert_eq!(of("3").await["questions"], other["questions"]);
    let line = service
        .run(&["prism", "show", PRISM, "--version", "9"])
        .await;
    assert_eq!(
        line.refused(),
        "error: the prism has no version 9: its latest is 3"
    );
    let line = service.run(&["prism", "show", "nothing"]).await.refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
    service.run(&["prism", "archive", &id]).await.done();
    let listed = service.run(&["prism", "list", "--json"]).await.lines();
    let rows: Vec<_> = listed
        .iter()
        .map(|row| json!([row["slug"], row["name"], row["version"], row["archived"]]))
        .collect();
    assert!(
        rows.contains(&json!([PRISM, "Renamed by a save", 3, false])),
        "{rows:?}"
    );
    assert!(
        rows.contains(&json!(["support-triage-2", "Support triage", 1, true])),
        "{rows:?}"
    );
    let table = service.run(&["prism", "list"]).await.done();
    assert_eq!(table.lines().count(), 3, "{table}");
}

async fn a_refused_prism_file_names_its_path_and_saves_nothing(backend: Backend) {
    let service = service(backend).await;
    let mut prism = example_prism();
    prism["questions"][0]["options"][1]["key"] = json!("Not a key");
    let file = service.file("refused.json", &prism);
    for arguments in [
        &["prism", "create", &file][..],
        &["prism", "save", PRISM, &file],
    ] {
        let line = service.run(arguments).await.refused();
        let path = "error: Invalid request: questions.0.options.1.key: ";
        assert!(line.starts_with(path), "{line}");
    }
    // a question of a saved version keeps its type
    prism["questions"][0] = json!({"key": "topic", "type": "yes_no", "text": "Is it?"});
    let file = service.file("refused.json", &prism);
    let line = service
        .run(&["prism", "save", PRISM, &file])
        .await
        .refused();
    assert!(line.contains("questions.0"), "{line}");
    let line = service
        .run(&["prism", "create", "/nowhere.json"])
        .await
        .refused();
    assert!(line.contains("/nowhere.json"), "{line}");
    let listed = service.run(&["prism", "list", "--json"]).await.lines();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["version"], 1);
}

async fn lenses_are_shown_set_and_reset(backend: Backend) {
    let service = service(backend).await;
    let automatic = service.run(&["lens", "show", PRISM]).await.object();
    assert_eq!(automatic["mode"], "automatic");
    let columns = json!([
        {"name": "topic", "question": "topic", "output": "top"},
        {"name": "angry", "question": "angry", "output": "label", "no_below": 0.5},
        {"name": "urgency", "question": "urgency", "output": "level"},
    ]);
    assert_eq!(automatic["columns"], columns);
    let set = service
        .run(&["lens", "set", PRISM, LENS_FILE])
        .await
        .object();
    assert_eq!(set["mode"], "custom");
    let column = json!({"name": "is_angry", "question": "angry", "output": "label", "no_below": 0.4, "yes_from": 0.6});
    assert_eq!(set["columns"][2], column);
    assert_eq!(set["columns"][1]["name"], "topic_probability");
    assert_eq!(service.run(&["lens", "show", PRISM]).await.object(), set);
    let wrong = json!({"columns": [{"question": "nothing", "output": "top"}]});
    let file = service.file("wrong.json", &wrong);
    let line = service.run(&["lens", "set", PRISM, &file]).await.refused();
    assert!(
        line.starts_with("error: Invalid request: columns.0.question: "),
        "{line}"
    );
    assert_eq!(service.run(&["lens", "show", PRISM]).await.object(), set);
    let reset = service.run(&["lens", "reset", PRISM]).await.object();
    assert_eq!(reset, automatic);
}

async fn a_text_is_tried(backend: Backend) {
    let service = service(backend).await;
    let tried = service.run(&["try", PRISM, "--text", TEXT]).await.done();
    let envelope: Value = serde_json::from_str(&tried).unwrap();
    assert!(
        tried.ends_with(&format!("\"answers\":{ANSWERS}}}\n")),
        "{tried}"
    );
    let arguments = [
        "try",
        PRISM,
        "--field",
        "text=a=b",
        "--context",
        "c",
        "--version",
        "1",
        "--ref",
        "r",
        "--format",
        "raw",
    ];
    let tried = service.run(&arguments).await.done();
    assert!(
        tried.ends_with(&format!("\"answers\":{STORED}}}\n")),
        "{tried}"
    );
    assert!(tried.contains(r#""ref":"r","#));
    assert_eq!(service.model.requests()[1].json()["state"]["text"], "a=b");
    let tried = service
        .run(&["try", PRISM, "--text", TEXT, "--format", "csv"])
        .await
        .done();
    assert_eq!(tried.matches("\r\n").count(), 2, "{tried:?}");
    // a failed result is printed, and the exit status is 1
    service.model.then_once(ScriptedReply::status(400));
    let ended = service.run(&["try", PRISM, "--text", TEXT]).await;
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        ended.stderr,
        "error: The model server answered with status 400.\n"
    );
    let failed: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&failed["status"], &failed["answers"]),
        (&json!("failed"), &Value::Null)
    );
    // the API returns both results
    let mut service = service;
    service.start_node(&[]).await;
    for made in [envelope, failed] {
        let id = text(&made, "id");
        assert_eq!(Saved::of(&service.read(&id, "").await).id, id);
    }
    let line = service
        .run(&["try", "nothing", "--text", TEXT])
        .await
        .refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
    let line = service
        .run(&["try", PRISM, "--field", "no=x"])
        .await
        .refused();
    assert!(
        line.starts_with("error: Missing fields: text: give --text TEXT"),
        "{line}"
    );
    service.run(&["prism", "archive", PRISM]).await.done();
    let line = service.run(&["try", PRISM, "--text", TEXT]).await.refused();
    assert_eq!(line, "error: Prism not found");
}

#[tokio::test]
async fn migrating_twice_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABASE_URL", "sqlite://new.db")];
    for _ in 0..2 {
        let ended = refract_test_stack::program::run(folder.path(), &settings, &["migrate"]).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(0), ""),
            "{ended:?}"
        );
    }
    assert!(folder.path().join("new.db").exists());
}

async fn a_doctor_prints_a_line_about_each_check(backend: Backend) {
    let service = service(backend).await;
    let checked = async |arguments: &[&str]| {
        let arguments = [&["doctor", "--json"], arguments].concat();
        let ended = service.run(&arguments).await;
        let lines = ended.stdout.lines();
        let lines: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of = |line: &Value| (text(line, "check"), line["ok"].as_bool().unwrap());
        let checks: Vec<_> = lines.iter().map(of).collect();
        let is_good = checks.iter().all(|(_, ok)| *ok);
        assert_eq!(ended.code == Some(0), is_good, "{ended:?}");
        (checks, ended.stdout)
    };
    let (checks, _) = checked(&[]).await;
    let names: Vec<_> = checks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "database",
            "encoding",
            "migration",
            "pooler",
            "clock",
            "model",
            "provider",
            "people",
            "proxies",
            "collector",
            "files",
            "disk"
        ]
    );
    assert!(checks[..11].iter().all(|(_, ok)| *ok), "{checks:?}");
    let provider = failing_provider();
    let away = [
        "--model-url",
        "http://127.0.0.1:9/v1",
        "--oidc-issuer",
        &provider,
        "--oidc-client-id",
        "x",
        "--app-url",
        "https://refract.example.com",
    ];
    let (checks, shown) = checked(&away).await;
    let failed = checks[..10].iter().filter(|(_, ok)| !ok);
    let failed: Vec<_> = failed.map(|(name, _)| name.as_str()).collect();
    assert_eq!(failed, ["clock", "model", "provider", "proxies"], "{shown}");
    let document = format!("{provider}/.well-known/openid-configuration answers with status 503");
    assert!(shown.contains(&document), "{shown}");
    assert!(
        shown.contains("s ahead of that of the sign-in provider"),
        "{shown}"
    );
    let (checks, shown) = checked(&["--database-url", "sqlite:///nowhere/refract.db"]).await;
    assert!(checks[..4].iter().all(|(_, ok)| !*ok), "{shown}");
}

/// A provider that is away, and whose clock stopped long ago; returns its address.
fn failing_provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(&stream).lines();
            while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let reply = "HTTP/1.1 503 x\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    address
}
