//! Administration by program: what a script repeats changes nothing.

use refract_test_stack::service::{
    Backend, LENS_FILE, PRISM, PRISM_FILE, Service, Setup, events, text,
};
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::runs::started_run;

on_both!(
    what_is_made_if_missing_is_made_once,
    a_person_gets_another_role,
    a_lens_is_put_back_from_its_history,
    examples_go_in_and_out,
    the_file_of_a_run_is_deleted,
);

async fn service(backend: Backend) -> Service {
    let setup = Setup {
        nodes: 0,
        ..Setup::default()
    };
    Service::with(backend, setup).await
}

async fn what_is_made_if_missing_is_made_once(backend: Backend) {
    let service = service(backend).await;
    let account = ["account", "create", "acme", "--if-missing"];
    let made = service.run(&account).await.object();
    assert_eq!(service.run(&account).await.object(), made);
    let taken = service.run(&["account", "create", "acme"]).await.refused();
    assert!(taken.contains("'acme' already"), "{taken}");

    let key = [
        "key",
        "create",
        "--name",
        "ci",
        "--if-missing",
        "--account",
        "acme",
    ];
    let first = service.run(&key).await.object();
    assert!(first["key"].is_string(), "{first}");
    let second = service.run(&key).await.object();
    assert_eq!(
        (&second["id"], &second["key"]),
        (&first["id"], &Value::Null)
    );
    let revoke = ["key", "revoke", &text(&first, "id"), "--account", "acme"];
    service.run(&revoke).await.done();
    let third = service.run(&key).await.object();
    assert!(
        third["key"].is_string() && third["id"] != first["id"],
        "{third}"
    );

    let invite = [
        "person",
        "invite",
        "ada@example.com",
        "--if-missing",
        "--account",
        "acme",
    ];
    let first = service.run(&invite).await.object();
    assert!(first["link"].is_string(), "{first}");
    let known = events(&service).await.len();
    let second = service.run(&invite).await.object();
    let expected = json!({
        "email": "ada@example.com", "role": "owner", "link": null, "expires_at": null,
    });
    assert_eq!(second, expected);
    assert_eq!(events(&service).await.len(), known);
}

async fn a_person_gets_another_role(backend: Backend) {
    let service = service(backend).await;
    for (email, role) in [
        ("ada@example.com", "owner"),
        ("grace@example.com", "reviewer"),
    ] {
        let invite = ["person", "invite", email, "--role", role];
        service.run(&invite).await.done();
    }
    let known = events(&service).await.len();
    let set = ["person", "role", "grace@example.com", "editor"];
    for _ in 0..2 {
        let ended = service.run(&set).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_eq!(ended.stderr, "The person is an editor.\n");
    }
    let people = service.run(&["person", "list", "--json"]).await.lines();
    assert_eq!(people[1]["role"], "editor");
    assert_eq!(events(&service).await.len(), known + 1);
    let nobody = ["person", "role", "joan@example.com", "editor"];
    let nobody = service.run(&nobody).await.refused();
    assert!(nobody.contains("see `refract person list`"), "{nobody}");
    let usage = service
        .run(&["person", "role", "grace@example.com", "king"])
        .await;
    assert_eq!(usage.code, Some(2), "{usage:?}");
}

async fn a_lens_is_put_back_from_its_history(backend: Backend) {
    let service = service(backend).await;
    let set = service
        .run(&["lens", "set", PRISM, LENS_FILE])
        .await
        .object();
    service.run(&["lens", "reset", PRISM]).await.done();
    let history = ["lens", "history", PRISM, "--json"];
    let states = service.run(&history).await.lines();
    let modes: Vec<_> = states.iter().map(|state| text(state, "mode")).collect();
    assert_eq!(modes, ["automatic", "custom", "automatic"]);
    assert_eq!(
        states[1]["columns"],
        set["columns"].as_array().unwrap().len()
    );
    assert_eq!(states[0]["by"], "operator");
    let revision = states[1]["revision"].to_string();
    let back = ["lens", "put-back", PRISM, &revision];
    assert_eq!(service.run(&back).await.object(), set);
    let known = service.run(&history).await.lines().len();
    assert_eq!(service.run(&back).await.object(), set);
    assert_eq!(service.run(&history).await.lines().len(), known);
    let none = service.run(&["lens", "put-back", PRISM, "99"]).await;
    assert_eq!(none.code, Some(1), "{none:?}");
    let table = service.run(&["lens", "history", PRISM]).await.done();
    assert!(table.contains("REVISION"), "{table}");
}

async fn examples_go_in_and_out(backend: Backend) {
    let service = service(backend).await;
    let gold =
        "ref,text,expected_topic,expected_angry\nr-1,Where is it?,delivery,no\n,Again!,,yes\n";
    service.write("gold.csv", gold);
    let file = service.folder.path().join("gold.csv");
    let import = ["examples", "import", PRISM, file.to_str().unwrap()];
    let outcome = |added, changed, unchanged| json!({"added": added, "changed": changed, "unchanged": unchanged});
    assert_eq!(service.run(&import).await.object(), outcome(2, 0, 0));
    assert_eq!(service.run(&import).await.object(), outcome(0, 0, 2));
    let list = ["examples", "list", PRISM, "--json"];
    let listed = service.run(&list).await.lines();
    assert_eq!(
        listed[0]["expected"],
        json!({"topic": "delivery", "angry": "no"})
    );
    assert_eq!(
        (&listed[0]["ref"], &listed[0]["state"]),
        (&json!("r-1"), &json!("not_checked"))
    );
    let table = service.run(&["examples", "list", PRISM]).await.done();
    assert!(
        table.contains("topic=delivery angry=no") && !table.contains("Again"),
        "{table}"
    );

    let exported = service.run(&["examples", "export", PRISM]).await.done();
    service.write("gold.csv", &exported);
    assert_eq!(service.run(&import).await.object(), outcome(0, 0, 2));
    let id = text(&listed[1], "id");
    let remove = ["examples", "remove", PRISM, &id];
    service.run(&remove).await.done();
    assert_eq!(service.run(&list).await.lines().len(), 1);
    let gone = service.run(&remove).await.refused();
    assert!(gone.contains("see `refract examples list`"), "{gone}");
    service.write("gold.csv", "text,expected_topic\na,nonsense\na,billing\n");
    let refused = service.run(&import).await.refused();
    assert!(
        refused.contains("no example was kept: line 2: "),
        "{refused}"
    );
    assert_eq!(service.run(&list).await.lines().len(), 1, "all or nothing");
}

async fn the_file_of_a_run_is_deleted(backend: Backend) {
    let service = service(backend).await;
    let run = started_run(&service).await.to_string();
    let delete = ["runs", "delete-file", &run];
    let used = service.run(&delete).await.refused();
    assert!(used.contains("cancel it first"), "{used}");
    service.run(&["runs", "cancel", &run]).await.done();
    for words in ["The file is deleted.\n", "The file was deleted before.\n"] {
        let ended = service.run(&delete).await;
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), words));
    }
    let other = service.run(&["prism", "create", PRISM_FILE]).await.object();
    let missing = ["runs", "delete-file", &text(&other, "id")];
    let missing = service.run(&missing).await.refused();
    assert!(missing.contains("see `refract runs list`"), "{missing}");
}
