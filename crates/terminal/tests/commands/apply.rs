//! `refract apply` and its files: `prism init`, and repeated saves by `prism save`.

use refract_test_stack::runs::{numbered, service};
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, PRISM_FILE, example_prism};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    files_are_applied_and_equal_ones_ask_nobody_again,
    errors_are_listed_and_nothing_is_applied,
);

async fn files_are_applied_and_equal_ones_ask_nobody_again(backend: Backend) {
    let service = service(backend).await;
    service.define(
        "support-triage.prism.json",
        std::fs::read(PRISM_FILE).unwrap(),
    );
    service.define(
        "support-triage.lens.json",
        std::fs::read(LENS_FILE).unwrap(),
    );
    service.define("moderation.prism.json", example_prism().to_string());
    service.define("README.md", "no definition");
    service.write("in.csv", numbered(3));
    service.run_file("in.csv", &[]).await.done();
    let apply = ["apply", "prisms", "--note", "first"];
    let dry = service.run(&[&apply[..], &["--dry-run"]].concat()).await;
    assert_eq!(dry.code, Some(2), "{dry:?}");
    let last = dry.stderr.lines().last();
    assert_eq!(
        last,
        Some("Nothing is saved: 2 of 3 files would change something.")
    );
    let listed = service.run(&["prism", "list", "--json"]).await.lines();
    assert_eq!(listed.len(), 1);
    let printed = service.run(&apply).await.done();
    assert_eq!(printed, dry.stdout);
    let line = |file, kind, slug, outcome| {
        format!(
            "{{\"file\":\"prisms/{file}\",\"kind\":\"{kind}\",\"slug\":\"{slug}\",\
             \"outcome\":\"{outcome}\",\"version\":1}}\n"
        )
    };
    let expected = [
        line("moderation.prism.json", "prism", "moderation", "created"),
        line("support-triage.lens.json", "lens", PRISM, "created"),
        line("support-triage.prism.json", "prism", PRISM, "unchanged"),
    ];
    assert_eq!(printed, expected.concat());
    let lens = service.run(&["lens", "show", PRISM]).await.object();
    assert_eq!(lens["mode"], "custom");
    // nothing is saved again, and the model is not asked again
    let printed = service.run(&apply).await.done();
    assert_eq!(printed.matches("\"outcome\":\"unchanged\"").count(), 3);
    let dry = service.run(&["apply", "prisms", "--dry-run"]).await;
    assert_eq!(dry.code, Some(0), "{dry:?}");
    let asked = service.asked();
    service.run_file("in.csv", &[]).await.done();
    assert_eq!(service.asked(), asked);
    // the changes of a version are printed
    let mut worded = example_prism();
    worded["context"] = json!("We sell boats.");
    service.define("support-triage.prism.json", worded.to_string());
    let one = "prisms/support-triage.prism.json";
    // a file that is given twice is applied once
    let applied = service
        .run(&["apply", one, one, "prisms/support-triage.lens.json"])
        .await;
    assert_eq!(
        applied.stderr,
        format!(
            "{one}: version 2 changes\n  The context is worded differently: the model reads it with \
             every text.\n"
        )
    );
    let outcomes: Vec<_> = applied
        .lines()
        .iter()
        .map(|line| line["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["saved", "unchanged"]);
    service.run(&["account", "create", "acme"]).await.done();
    let there = service
        .run(&["apply", "prisms", "--account", "acme"])
        .await
        .lines();
    assert!(
        there.iter().all(|line| line["outcome"] == "created"),
        "{there:?}"
    );
}

async fn errors_are_listed_and_nothing_is_applied(backend: Backend) {
    let service = service(backend).await;
    let mut wrong = example_prism();
    wrong["questions"][0]["type"] = json!("choices");
    wrong["fields"] = json!([]);
    service.define("good.prism.json", example_prism().to_string());
    service.define("wrong.prism.json", wrong.to_string());
    service.define("nobody.lens.json", std::fs::read(LENS_FILE).unwrap());
    service.define("Upper.prism.json", "{}");
    service.define("packed.prism.json", b"\x1f\x8b\x08\0");
    service.write("other.json", "{}");
    let ended = service
        .run(&["apply", "prisms", "other.json", "nowhere.lens.json"])
        .await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let lines: Vec<_> = ended.stderr.lines().collect();
    let (last, errors) = lines.split_last().unwrap();
    assert_eq!(
        *last,
        "error: 7 faults in 6 files, so nothing is applied: correct the lines above and apply again"
    );
    for beginning in [
        "  prisms/wrong.prism.json: fields: Array must contain at least 1 element(s)",
        "  prisms/wrong.prism.json: questions.0.type: Expected ",
        "  prisms/nobody.lens.json: there is no prism nobody: ",
        "  prisms/Upper.prism.json: its name must begin with the prism's slug: ",
        "  prisms/packed.prism.json: it is compressed with gzip: unpack it first",
        "  other.json: its name ends in neither .prism.json nor .lens.json",
        "  nowhere.lens.json: it cannot be read: No such file or directory",
    ] {
        assert!(
            errors.iter().any(|error| error.starts_with(beginning)),
            "{beginning}: {ended:?}"
        );
    }
    let listed = service.run(&["prism", "list", "--json"]).await.lines();
    assert_eq!(listed.len(), 1);
    std::fs::create_dir(service.folder.path().join("empty")).unwrap();
    for (path, words) in [
        (
            "empty",
            "  empty: the folder has no file that ends in .prism.json or .lens.json\n",
        ),
        (
            "-",
            "  -: standard input has no name, and the name says which prism it is\n",
        ),
    ] {
        let ended = service.run(&["apply", path]).await;
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.starts_with(words), "{ended:?}");
    }
    let ended = service.run(&["apply"]).await;
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[tokio::test]
async fn a_prism_file_to_begin_with_can_be_used_as_it_is() {
    let service = service(Backend::Sqlite).await;
    let file = service.run(&["prism", "init"]).await.done();
    assert!(file.contains("\"$comment\""), "{file}");
    let begun: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(begun["$schema"], "prism.schema.json");
    for schema in [["prism", "schema"], ["lens", "schema"]] {
        let schema: Value = serde_json::from_str(&service.run(&schema).await.done()).unwrap();
        assert_eq!(schema["properties"]["$schema"]["type"], "string");
    }
    let made = service
        .run_with_input(&["prism", "create", "-"], file.as_bytes())
        .await;
    assert_eq!(made.object()["slug"], "my-prism");
    let linted = ["prism", "lint", "-", "--strict"];
    service
        .run_with_input(&linted, file.as_bytes())
        .await
        .done();
    let shown = service.run(&["prism", "show", "my-prism"]).await.done();
    assert!(!shown.contains("$comment"), "{shown}");
    service.define("my-prism.prism.json", &file);
    let applied = service.run(&["apply", "prisms"]).await.object();
    assert_eq!(applied["outcome"], "unchanged");
    // a save always saves, and reports an unchanged definition
    let saved = service
        .run_with_input(&["prism", "save", "my-prism", "-"], file.as_bytes())
        .await;
    assert_eq!(
        saved.stderr,
        "Nothing changed: version 2 is equal to the one before, and runs ask about every row again. \
         `refract apply` would not have saved it.\n"
    );
    assert_eq!(saved.object()["version"], 2);
    let renamed = file.replace("My prism", "Another name");
    let save = ["prism", "save", "my-prism", "-"];
    let saved = service.run_with_input(&save, renamed.as_bytes()).await;
    assert_eq!(saved.stderr, "");
    assert_eq!(saved.object()["version"], 3);
}

#[tokio::test]
async fn changes_are_reported_by_the_lens_that_is_applied_along() {
    let service = service(Backend::Sqlite).await;
    let lens = |name: &str, question: &str, output: &str| {
        let column = json!({"name": name, "question": question, "output": output});
        service.define(
            "support-triage.lens.json",
            json!({"columns": [column]}).to_string(),
        );
    };
    let mut prism: Value = serde_json::from_slice(&std::fs::read(PRISM_FILE).unwrap()).unwrap();
    service.define("support-triage.prism.json", prism.to_string());
    lens("x", "angry", "label");
    service.run(&["apply", "prisms"]).await.done();
    let questions = prism["questions"].as_array_mut().unwrap();
    questions.retain(|question| question["key"] != "angry");
    service.define("support-triage.prism.json", prism.to_string());
    lens("y", "topic", "top");
    let applied = service.run(&["apply", "prisms"]).await;
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert!(!applied.stderr.contains("automatic"), "{applied:?}");
    assert!(!applied.stderr.contains("column 'topic'"), "{applied:?}");
    assert!(applied.stderr.contains("column y"), "{applied:?}");
}
