//! The files of runs: formats by extension, standard input, refused rows, two runs with one output,
//! and the cost of a resumed run.

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::{numbered, service, texts};
use refract_test_stack::service::{Backend, PRISM};
use refract_test_support::model_server::ScriptedReply;

use crate::program::{self};
use crate::run_stops::{begun, end, held};

#[tokio::test]
async fn files_go_to_standard_output() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", "text,expected_angry\none,yes\ntwo,no\n");
    let check = ["check", PRISM, "gold.csv", "--junit", "-"];
    let checked = service.run(&check).await.done();
    let begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"refract check\"";
    assert!(checked.starts_with(begin), "{checked}");
    service
        .run_file("gold.csv", &["--output", "out.csv"])
        .await
        .done();
    let backup = ["backup", "-"];
    let settings = [("DATABASE_URL", service.database_url.as_str())];
    let output = program::command(service.folder.path(), &settings, &backup).output();
    let output = within_patience(output).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.starts_with(b"SQLite format 3\0"));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        printed,
        format!(
            "{} bytes written to stdout.\n",
            grouped(output.stdout.len())
        )
    );
    service.write("copy.db", output.stdout);
    let settings = [("DATABASE_URL", "sqlite://copy.db")];
    let listed = program::run(service.folder.path(), &settings, &["prism", "list"]).await;
    assert!(listed.done().contains(PRISM));
}

#[tokio::test]
async fn one_run_at_a_time_writes_an_output() {
    let service = held(Backend::Sqlite).await;
    service.write("in.csv", numbered(5));
    let output = ["--output", "out.jsonl", "--concurrency", "1"];
    let first = begun(&service, &output, 1).await;
    let ended = service.run_file("in.csv", &output).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        ended.stderr.lines().last().unwrap(),
        "error: cannot write to out.jsonl.part: another run writes it: wait for its end, or name \
         another --output"
    );
    assert_eq!(service.asked(), 1, "nothing is asked twice");
    service.model.release_all();
    assert_eq!(end(first).await.0, Some(0));
    assert_eq!(texts(&service.written("out.jsonl")).len(), 5);
    // a run that is killed leaves no lock
    let again = [
        "--output",
        "out.jsonl",
        "--concurrency",
        "1",
        "--name",
        "again",
    ];
    service.model.then_always(ScriptedReply::answers().held());
    let asked = service.asked();
    let mut killed = begun(&service, &again, asked + 1).await;
    killed.kill().await.unwrap();
    service.model.then_always(ScriptedReply::answers());
    service.run_file("in.csv", &again).await.done();
    assert_eq!(texts(&service.written("out.jsonl")).len(), 5);
    assert_eq!(service.files_named("part"), [""; 0]);
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups
        .map(|group| std::str::from_utf8(group).unwrap())
        .collect();
    groups.join(",")
}
