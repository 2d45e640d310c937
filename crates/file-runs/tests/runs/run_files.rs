//! The files of runs: formats by extension, standard input, refused rows, two runs with one output,
//! and the cost of a resumed run.

use refract_test_stack::program::Ended;
use refract_test_stack::runs::{numbered, service, texts};
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    only_what_is_not_answered_is_priced,
    a_file_comes_from_standard_input,
);

async fn only_what_is_not_answered_is_priced(backend: Backend) {
    let service = service(backend).await;
    // more rows than one look-up takes
    service.write("in.csv", numbered(300));
    let price = async |arguments: &[&str]| {
        let all = [arguments, &["--dry-run"]].concat();
        let ended = service.run_file("in.csv", &all).await;
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stderr.lines().last().unwrap().to_owned()
    };
    let all = price(&[]).await;
    assert!(all.starts_with("  300 rows to ask about: about "), "{all}");
    assert!(
        all.contains(" tokens in 300 model requests; no price"),
        "{all}"
    );
    service.write("in.csv", numbered(200));
    let output = ["--output", "out.csv"];
    service.run_file("in.csv", &output).await.done();
    // a failed row is asked about again
    service.write("in.csv", numbered(201));
    service.model.then_once(ScriptedReply::status(400));
    let ended = service.run_file("in.csv", &output).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    service.write("in.csv", numbered(300));
    let rest = price(&[]).await;
    let words = "  300 rows: 200 answered before, 100 to ask about: about ";
    assert!(rest.starts_with(words), "{rest}");
    assert!(rest.contains(" tokens in 100 model requests;"), "{rest}");
    let shard = price(&["--shard", "2/2"]).await;
    let words = "  150 rows: 100 answered before, 50 to ask about: about ";
    assert!(shard.starts_with(words), "{shard}");
    let asked = service.asked();
    let ended = service.run_file("in.csv", &output).await;
    assert!(ended.stderr.contains(&format!("\n{rest}\n")), "{ended:?}");
    assert_eq!(service.asked() - asked, 100, "as many as were priced");
    let none = price(&[]).await;
    assert_eq!(none, "  300 rows: 300 answered before, 0 to ask about");
    let again = price(&["--name", "again"]).await;
    assert_eq!(again, all);
    // a refused row is not asked about
    let rows = numbered(300) + &format!("x,{}\n", "r".repeat(201));
    service.write("in.csv", rows);
    let ended = service.run_file("in.csv", &["--dry-run"]).await;
    let words = "  301 rows: 300 answered before, 1 refused, 0 to ask about";
    assert!(ended.stderr.lines().any(|line| line == words), "{ended:?}");
}

async fn a_file_comes_from_standard_input(backend: Backend) {
    let service = service(backend).await;
    let rows = "{\"text\":\"one\",\"ref\":7}\n{\"text\":\"two\",\"ref\":false}\n\
        {\"text\":\"three\",\"ref\":null}\n";
    let run = ["run", PRISM, "-", "--format", "jsonl"];
    let ended = service.run_with_input(&run, rows.as_bytes()).await;
    let first = "standard input: JSON Lines, 3 rows; support-triage version 1\n";
    assert!(ended.stderr.starts_with(first), "{ended:?}");
    let rows_of = |ended: Ended| {
        let lines = ended.lines().into_iter();
        lines.map(|row| row["ref"].clone()).collect::<Vec<Value>>()
    };
    // numbers and booleans are text, as written
    assert_eq!(rows_of(ended), [json!("7"), json!("false"), Value::Null]);
    let csv = format!("{}\n", numbered(2).trim_end());
    let ended = service.run_with_input(&run, csv.as_bytes()).await;
    assert_eq!(texts(&ended.done()), ["row 1", "row 2"]);
    assert_eq!(service.asked(), 5);
    // rows from a pipe are the rows of a file
    service.write("in.csv", csv);
    service.run_file("in.csv", &["--output", "-"]).await.done();
    assert_eq!(service.asked(), 5);
    let ended = service.run_with_input(&run, b"").await;
    assert_eq!(ended.refused(), "error: standard input: it is empty");
    let ended = service.run_with_input(&run, b"\x1f\x8b\x08\0\0").await;
    let words = "error: standard input: it is compressed with gzip: unpack it first";
    assert_eq!(ended.refused(), words);
    let gold = "text,expected_topic\none,billing\n";
    let check = ["check", PRISM, "-", "--json"];
    let ended = service.run_with_input(&check, gold.as_bytes()).await;
    assert_eq!(ended.object()["question"], "topic");
    let marks = "ref,topic\n7,delivery\n";
    let import = ["marks", "import", PRISM, "-"];
    let ended = service.run_with_input(&import, marks.as_bytes()).await;
    assert_eq!(
        ended.object(),
        json!({"marks": 1, "results": 1, "changed": 1})
    );
}

#[tokio::test]
async fn definitions_come_from_standard_input() {
    let service = service(Backend::Sqlite).await;
    let prism = std::fs::read(refract_test_stack::service::PRISM_FILE).unwrap();
    let lens = std::fs::read(refract_test_stack::service::LENS_FILE).unwrap();
    let made = service
        .run_with_input(&["prism", "create", "-"], &prism)
        .await;
    assert_eq!(made.object()["slug"], "support-triage-2");
    let saved = service
        .run_with_input(&["prism", "save", PRISM, "-"], &prism)
        .await;
    assert_eq!(saved.object()["version"], 2);
    let linted = service
        .run_with_input(&["prism", "lint", "-"], &prism)
        .await;
    assert!(
        linted.stderr.starts_with("standard input has "),
        "{linted:?}"
    );
    linted.done();
    for command in ["preview", "set"] {
        let ended = service
            .run_with_input(&["lens", command, PRISM, "-"], &lens)
            .await;
        ended.done();
    }
    let tried = ["try", PRISM, "--file", "-"];
    service
        .run_with_input(&tried, b"Where is it?\n")
        .await
        .done();
    let not_text = service.run_with_input(&tried, b"PK\x03\x04\x14\0").await;
    assert!(not_text.refused().contains("it is a ZIP archive"));
    let nothing = service.run_with_input(&["prism", "create", "-"], b"").await;
    assert_eq!(
        nothing.refused(),
        "error: Invalid request: file: not valid JSON: line 1, column 0"
    );
}

#[tokio::test]
async fn the_name_of_the_output_is_its_format() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", numbered(2));
    service.write("marks.csv", "ref,topic\n1,billing\n");
    service
        .run_file("in.csv", &["--output", "out"])
        .await
        .done();
    service
        .run(&["marks", "import", PRISM, "marks.csv"])
        .await
        .done();
    let asked = service.asked();
    let writers: [&[&str]; 3] = [
        &["run", PRISM, "in.csv"],
        &["results", "export", PRISM],
        &["marks", "export", PRISM],
    ];
    for writer in writers {
        let write = async |more: &[&str]| service.run(&[writer, more].concat()).await;
        for (name, begins) in [
            ("out.csv", "result_id,ref,"),
            ("out.tsv", "result_id\tref\t"),
            ("out.JSONL", "{\"result_id\":"),
            ("out", "result_id,ref,"),
        ] {
            write(&["--output", name]).await.done();
            let written = service.written(name);
            assert!(written.starts_with(begins), "{writer:?} {name}: {written}");
        }
        write(&["-o", "out.xyz", "--format", "jsonl"]).await.done();
        assert!(service.written("out.xyz").starts_with('{'), "{writer:?}");
        for (name, words) in [
            (
                "a.csv.gz",
                "error: --output a.csv.gz: .gz is not supported, since nothing is compressed: ",
            ),
            (
                "a.xls",
                "error: --output a.xls: .xls is no format of rows: ",
            ),
        ] {
            let line = write(&["--output", name]).await.refused();
            assert!(line.starts_with(words), "{writer:?}: {line}");
            assert!(line.contains(".csv, .tsv, .jsonl or .xlsx"), "{line}");
        }
        assert_eq!(service.files_named("a."), [""; 0]);
        let stdout = write(&["--output", "-"]).await.done();
        assert_eq!(stdout, write(&[]).await.done());
        assert!(stdout.starts_with("result_id,ref,"), "{writer:?}: {stdout}");
    }
    assert_eq!(service.asked(), asked);
}

#[tokio::test]
async fn refused_rows_are_listed_beside_the_output() {
    let service = service(Backend::Sqlite).await;
    let (long, over) = ("r".repeat(201), "x".repeat(100_001));
    let rows =
        format!("note,text,ref\nfirst,one,1\n=sum,\"two, or \"\"2\"\"\",{long}\nlast,{over},3\n");
    service.write("in.csv", rows);
    let output = ["--output", "out.csv"];
    let ended = service.run_file("in.csv", &output).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let words = "refused rows: listed in out.csv.refused.csv";
    assert!(ended.stderr.lines().any(|line| line == words), "{ended:?}");
    assert_eq!(service.written("out.csv").lines().count(), 2);
    let expected = format!(
        "line,reason,note,text,ref\r\n\
         3,ref: String must contain at most 200 character(s),=sum,\"two, or \"\"2\"\"\",{long}\r\n\
         4,fields.text: String must contain at most 100000 character(s),last,{over},3\r\n"
    );
    assert_eq!(service.written("out.csv.refused.csv"), expected);
    // the list of refused rows is a file to correct and run
    let corrected = expected.replace(&long, "2").replace(&over, "three");
    service.write("out.csv.refused.csv", corrected);
    let line = service.run_file("out.csv.refused.csv", &output).await;
    let words = "error: --output would be written over the input: name another file";
    assert_eq!(line.refused(), words);
    let ended = service
        .run_file("out.csv.refused.csv", &["--output", "rest.csv"])
        .await;
    ended.done();
    assert_eq!(service.written("rest.csv").lines().count(), 3);
    // a run without refused rows removes the earlier list
    service.write("in.csv", "text\none\n");
    service.run_file("in.csv", &output).await.done();
    assert_eq!(service.files_named("refused"), [""; 0]);
    // in JSON Lines the columns are the keys
    let rows = "{\"text\":\"a\"}\n{\"text\":[1, 2],\"other\":{\"b\": 1},\"ref\":null}\n";
    service.write("in.jsonl", rows);
    let ended = service.run_file("in.jsonl", &["-o", "out.jsonl"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(
        service.written("out.jsonl.refused.csv"),
        "line,reason,text,ref,other\r\n\
         2,\"fields.text: Expected string, received array\",\"[1, 2]\",,\"{\"\"b\"\": 1}\"\r\n"
    );
    // a dry run and stdout have no list
    service
        .run_file("in.jsonl", &["--dry-run", "-o", "dry.csv"])
        .await;
    service.run_file("in.jsonl", &[]).await;
    assert_eq!(service.files_named("refused"), ["out.jsonl.refused.csv"]);
    assert_eq!(service.files_named("dry"), [""; 0]);
}
