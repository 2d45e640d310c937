//! `refract results export`: rows equal to the API's, in bounded memory, into a file or a pipe.

use refract_test_stack::expected::{CSV, JSONL, TSV};
use refract_test_stack::service::{Backend, PRISM, Service, TEXT, text};
use refract_test_stack::varied::{make_results, read_all, varied_service};
use refract_test_support::model_server::{ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    every_row_equals_the_apis_to_the_byte,
    filters_keep_what_they_name,
    an_empty_export_is_a_header,
    an_export_is_chosen_by_version_model_refs_and_answers,
    an_export_shows_another_lens_or_every_probability_and_changes_none,
    an_export_adds_how_answers_came_about,
);

async fn every_row_equals_the_apis_to_the_byte(backend: Backend) {
    let service = varied_service(backend).await;
    let count = match backend {
        Backend::Sqlite => 1_200,
        Backend::Postgres => 400,
    };
    let ids = make_results(&service, count).await;
    for (format, end) in [("csv", "\r\n"), ("tsv", "\n"), ("jsonl", "")] {
        let arguments = ["results", "export", PRISM, "--format", format];
        let exported = service.run(&arguments).await.done();
        let bodies = read_all(&service, &ids, format).await;
        let header = match format {
            "jsonl" => "",
            _ => bodies[0].split_inclusive(end).next().unwrap(),
        };
        let mut expected = header.to_owned();
        for body in &bodies {
            expected.push_str(body.strip_prefix(header).unwrap());
        }
        assert!(
            exported == expected,
            "{format}: {}",
            first_difference(&exported, &expected)
        );
    }
    // csv is the default format, and an id names the prism as a slug does
    let by_id = service
        .run(&["results", "export", &service.prism_id])
        .await
        .done();
    let by_slug = service
        .run(&["results", "export", PRISM, "--format", "csv"])
        .await
        .done();
    assert!(by_id == by_slug);
    assert!(by_id.contains(",failed,") && by_id.contains("'=HYPERLINK"));
}

fn first_difference(exported: &str, expected: &str) -> String {
    let lines = exported.lines().zip(expected.lines());
    let differing = lines.into_iter().find(|(one, other)| one != other);
    format!(
        "{} and {} bytes: {differing:?}",
        exported.len(),
        expected.len()
    )
}

async fn filters_keep_what_they_name(backend: Backend) {
    let service = Service::start(backend).await;
    let mut made = Vec::new();
    for number in 0..5 {
        let body = json!({"text": TEXT, "ref": number.to_string()});
        let answer = match number {
            1 | 3 => service.failed(&body).await,
            _ => service.create(&body).await,
        };
        made.push(text(&answer.value(), "created_at"));
    }
    let refs = async |filter: &[&str]| {
        let mut arguments = vec!["results", "export", PRISM, "--format", "jsonl"];
        arguments.extend(filter);
        let rows = service.run(&arguments).await.lines();
        let refs: Vec<_> = rows.iter().map(|row| text(row, "ref")).collect();
        refs.concat()
    };
    assert_eq!(refs(&[]).await, "01234");
    assert_eq!(refs(&["--status", "ok"]).await, "024");
    assert_eq!(refs(&["--status", "failed"]).await, "13");
    // results may share a millisecond, so the split is at the first one with that time
    let from = |moment: &str| made.iter().position(|made| made == moment).unwrap();
    let parted = |moment| "01234".split_at(from(moment));
    let third = made[3].as_str();
    assert_eq!(refs(&["--since", third]).await, parted(third).1);
    assert_eq!(refs(&["--until", third]).await, parted(third).0);
    let in_paris = third.replace('Z', "+00:00");
    assert_eq!(refs(&["--until", &in_paris]).await, parted(third).0);
    let far = [
        "--since",
        "2020-01-01T00:00:00Z",
        "--until",
        "2999-01-01T00:00:00Z",
    ];
    assert_eq!(refs(&far).await, "01234");
    let dates = ["--since", "2020-01-01", "--until", "2999-01-01"];
    assert_eq!(refs(&dates).await, "01234");
    assert_eq!(refs(&["--until", "2020-01-01"]).await, "");
    assert_eq!(refs(&["--since", "2999-01-01T00:00:00Z"]).await, "");
    for wrong in [
        ["--since", "yesterday"],
        ["--until", "2026-05-04T09:00:00"],
        ["--status", "lost"],
        ["--format", "json"],
    ] {
        let mut arguments = vec!["results", "export", PRISM];
        arguments.extend(wrong);
        let ended = service.run(&arguments).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
    }
}

async fn an_empty_export_is_a_header(backend: Backend) {
    let service = Service::start(backend).await;
    service.run(&["prism", "archive", PRISM]).await.done();
    let export = async |format| {
        let arguments = ["results", "export", PRISM, "--format", format];
        service.run(&arguments).await.done()
    };
    let header = "result_id,ref,version,status,error,created_at,text,topic,angry,urgency";
    assert_eq!(export("csv").await, format!("{header}\r\n"));
    assert_eq!(
        export("tsv").await,
        format!("{}\n", header.replace(',', "\t"))
    );
    assert_eq!(export("jsonl").await, "");
    let line = service
        .run(&["results", "export", "nothing"])
        .await
        .refused();
    assert_eq!(line, "error: Prism not found: see `refract prism list`");
}

#[tokio::test]
async fn a_file_takes_its_place_when_it_is_whole() {
    let service = Service::start(Backend::Sqlite).await;
    let saved = service.create(&json!({"text": TEXT})).await;
    let id = text(&saved.value(), "id");
    for (format, content_type) in [("csv", CSV), ("tsv", TSV), ("jsonl", JSONL)] {
        let place = service.folder.path().join("rows");
        std::fs::write(&place, "what was there before").unwrap();
        let arguments = [
            "results", "export", PRISM, "--format", format, "--output", "rows",
        ];
        let ended = service.run(&arguments).await;
        assert_eq!(ended.stderr, "1 result written to rows.\n");
        assert_eq!(ended.done(), "");
        let body = std::fs::read_to_string(&place).unwrap();
        let answer = service.read(&id, &format!("?format={format}")).await;
        answer.assert(200, content_type, &body);
    }
    let names = || {
        let entries = service.folder.path().read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.contains("refract-") || name.contains("partial"))
    };
    assert_eq!(names().count(), 0);
    let arguments = ["results", "export", PRISM, "--output", "nowhere/rows.csv"];
    let line = service.run(&arguments).await.refused();
    assert_eq!(
        line,
        "error: cannot write nowhere/rows.csv: there is no folder nowhere"
    );
    // a full disk
    let arguments = ["results", "export", PRISM, "--output", "/dev/full"];
    let line = service.run(&arguments).await.refused();
    assert!(
        line.starts_with("error: cannot write /dev/full: No space left"),
        "{line}"
    );
}

async fn an_export_is_chosen_by_version_model_refs_and_answers(backend: Backend) {
    let service = Service::start(backend).await;
    for number in 0..4 {
        let body = json!({"text": TEXT, "ref": number.to_string()});
        assert_eq!(service.create(&body).await.status, 200);
    }
    let shown = service.run(&["results", "list", PRISM, "--ref", "3", "--json"]);
    let shown = shown.await.lines();
    assert_eq!((shown.len(), &shown[0]["ref"]), (1, &json!("3")));
    let id = text(&shown[0], "id");
    let model = service
        .run(&["results", "show", &id, "--json"])
        .await
        .object();
    let model = text(&model["provenance"], "model");
    let answered = service.read(&id, "?format=raw").await.value();
    let topic = format!("topic={}", text(&answered["answers"]["topic"], "value"));
    let refs = service.folder.path().join("refs.txt");
    std::fs::write(&refs, "\n 1\r\n2\n").unwrap();
    let refs = refs.to_str().unwrap();
    for (arguments, expected) in [
        (&["--ref", "1", "--ref", "3"][..], "13"),
        (&["--ref-file", refs], "12"),
        (&["--ref", "0", "--ref-file", refs, "--version", "1"], "012"),
        (&["--model", &model, "--answer", &topic], "0123"),
        (&["--model", "another"], ""),
        (&["--answer", "topic=other"], ""),
    ] {
        let arguments = [&["results", "export", PRISM, "--json"][..], arguments].concat();
        let rows = service.run(&arguments).await.lines();
        let found: Vec<_> = rows.iter().map(|row| text(row, "ref")).collect();
        assert_eq!(found.concat(), expected, "{arguments:?}");
    }
    let line = service
        .run(&["results", "list", PRISM, "--version", "2"])
        .await;
    assert!(line.refused().contains("its latest is 1"));
    // the outcomes of both versions are listed once
    let prism = service.run(&["prism", "show", PRISM]).await.object();
    let prism = service.file("prism.json", &prism);
    service.run(&["prism", "save", PRISM, &prism]).await.done();
    std::fs::write(refs, "1\nnobody\n").unwrap();
    for (arguments, words) in [
        (["--answer", "topc=billing"], "did you mean `topic`?"),
        (["--answer", "topic=biling"], "did you mean `billing`?"),
        (
            ["--answer", "urgency=nope"],
            "it has can_wait, this_week, today\n",
        ),
        (
            ["--ref-file", refs],
            "1 ref that no result of the prism has, such as nobody",
        ),
    ] {
        let arguments = [&["results", "export", PRISM][..], &arguments].concat();
        let ended = service.run(&arguments).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
        assert!(ended.stderr.contains(words), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
}

async fn an_export_shows_another_lens_or_every_probability_and_changes_none(backend: Backend) {
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": TEXT, "ref": "r"})).await;
    let id = text(&made.value(), "id");
    service.failed(&json!({"text": TEXT})).await;
    let before = service.run(&["lens", "show", PRISM]).await.done();
    let lens = json!({"columns": [{"name": "mood", "question": "angry", "output": "probability"}]});
    let lens = service.file("mood.lens.json", &lens);
    let rows = ["results", "export", PRISM, "--lens", &lens];
    let rows = service.run(&rows).await.done();
    assert!(rows.starts_with("result_id,ref,version,status,error,created_at,text,mood\r\n"));
    let raw = service.read(&id, "?format=raw").await.value();
    let lines = service.run(&["results", "export", PRISM, "--raw", "--json"]);
    let lines = lines.await.lines();
    let mut with_fields = raw.clone();
    with_fields["fields"] = json!({"text": TEXT});
    assert_eq!(lines[0], with_fields);
    assert_eq!(lines[1]["answers"], json!(null));
    let table = service
        .run(&["results", "export", PRISM, "--raw"])
        .await
        .done();
    let mut rows = table.split("\r\n");
    let header: Vec<_> = rows.next().unwrap().split(',').collect();
    let cells: Vec<_> = rows.next().unwrap().split(',').collect();
    assert_eq!(header.len(), cells.len(), "{table}");
    let cell = |name: &str| cells[header.iter().position(|it| *it == name).expect(name)];
    assert_eq!(cell("topic"), text(&raw["answers"]["topic"], "value"));
    let probabilities = raw["answers"]["topic"]["probabilities"]
        .as_object()
        .unwrap();
    for (outcome, probability) in probabilities {
        let shown: f64 = cell(&format!("topic.{outcome}")).parse().unwrap();
        assert_eq!(Some(shown), probability.as_f64());
    }
    let yes: f64 = cell("angry.yes").parse().unwrap();
    assert_eq!(Some(yes), raw["answers"]["angry"]["probability"].as_f64());
    assert_eq!(service.run(&["lens", "show", PRISM]).await.done(), before);
    let other = service.file(
        "other.lens.json",
        &json!({"columns": [{"question": "x", "output": "top"}]}),
    );
    let ended = service
        .run(&["results", "export", PRISM, "--lens", &other])
        .await;
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(2), ""),
        "{ended:?}"
    );
}

async fn an_export_adds_how_answers_came_about(backend: Backend) {
    let service = Service::start(backend).await;
    let costing = ScriptedReply::with(|request| {
        let mut reply = system_one_answers(request);
        reply["usage"] = json!({"cost": 0.000_012});
        reply
    });
    service.model.then_once(costing);
    service.create(&json!({"text": TEXT})).await;
    service.create(&json!({"text": TEXT})).await;
    let export = async |arguments: &[&str]| {
        let all = [&["results", "export", PRISM], arguments].concat();
        service.run(&all).await
    };
    // in their order, whatever the order of the argument
    let table = export(&["--columns", "run,cost,model", "--columns", "took_ms"]);
    let table = table.await.done();
    let rows: Vec<_> = table.split("\r\n").collect();
    let header = "text,topic,angry,urgency,model,took_ms,cost,run";
    assert!(rows[0].ends_with(header), "{table}");
    let first: Vec<_> = rows[1].rsplit(',').take(4).collect();
    assert_eq!(
        (first[0], first[1], first[3]),
        ("", "0.000012", "scripted-1")
    );
    assert!(first[2].parse::<u32>().is_ok(), "{table}");
    assert!(rows[2].ends_with(",,"), "{table}");
    let lines = export(&["--json", "--columns", "model,cost"]).await.lines();
    assert_eq!(lines[0]["cost"], json!(0.000_012));
    assert_eq!(lines[1]["cost"], json!(null));
    let raw = ["--raw", "--marks", "--columns", "took_ms,cost"];
    let lines = export(&[&raw[..], &["--json"]].concat()).await.done();
    let line = lines.lines().next().unwrap();
    assert_eq!(line.matches("\"took_ms\"").count(), 1, "{line}");
    assert!(
        line.ends_with(",\"urgency_marked\":null,\"cost\":0.000012}"),
        "{line}"
    );
    let table = export(&raw).await.done();
    assert!(
        table
            .lines()
            .next()
            .unwrap()
            .ends_with(",urgency_marked,took_ms,cost")
    );
    for (format, begin) in [("parquet", "PAR1"), ("xlsx", "PK")] {
        let file = format!("raw.{format}");
        let written = export(&[&raw[..], &["--output", &file]].concat()).await;
        assert_eq!(written.stderr, format!("2 results written to {file}.\n"));
        let bytes = std::fs::read(service.folder.path().join(file)).unwrap();
        assert!(bytes.starts_with(begin.as_bytes()));
    }
    let lens = json!({"columns": [{"name": "cost", "question": "topic", "output": "top"}]});
    let lens = service.file("cost.lens.json", &lens);
    for (arguments, words) in [
        (
            &["--columns", "price"][..],
            "expected model, took_ms, cost or run",
        ),
        (
            &["--columns", "cost", "--lens", &lens],
            "the export has a column cost already",
        ),
    ] {
        let ended = export(arguments).await;
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
}
