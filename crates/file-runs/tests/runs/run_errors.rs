//! The errors of file runs: unusable files, unwritable outputs, failing models.

use std::fmt::Write as _;

use refract_test_stack::runs::{numbered, service};
use refract_test_stack::service::Backend;
use refract_test_support::model_server::ScriptedReply;

#[tokio::test]
async fn the_whole_file_is_checked_before_anything_is_asked() {
    let service = service(Backend::Sqlite).await;
    let mut rows = numbered(3);
    let (over, large, long) = ("x".repeat(100_001), "y".repeat(99_999), "r".repeat(201));
    let _ = write!(rows, "{over},4\n{large},5\nrow 6,{long}\nb\0d,7\n");
    service.write("in.csv", &rows);
    let ended = service.run_file("in.csv", &["--dry-run"]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let printed: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(printed[0], "in.csv: CSV, 7 rows; support-triage version 1");
    assert_eq!(
        printed[1..4],
        [
            "  line 5 is refused: fields.text: String must contain at most 100000 character(s)",
            "  line 7 is refused: ref: String must contain at most 200 character(s)",
            "  line 8 is refused: fields.text: must not contain NUL or unpaired surrogate characters",
        ]
    );
    assert!(
        printed[4].starts_with("  4 rows to ask about: about 2"),
        "{}",
        printed[4]
    );
    assert!(
        printed[4].contains(" tokens in 4 model requests; no price is known"),
        "{}",
        printed[4]
    );
    assert_eq!(printed[5], "error: 3 rows cannot be asked about");
    assert_eq!(service.asked(), 0);
    let ended = service.run_file("in.csv", &["--format", "jsonl"]).await;
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stdout.lines().count(), 4);
    let last = ended.stderr.lines().last().unwrap();
    assert_eq!(last, "error: 3 rows cannot be asked about");
    // a broken line refuses the whole file before the model is asked
    rows.push_str("one cell\n");
    service.write("in.csv", &rows);
    let asked = service.asked();
    let line = service.run_file("in.csv", &[]).await.refused();
    assert_eq!(line, "error: in.csv: line 9 has 1 cell, the header has 2");
    let line = service.run_file("nothing.csv", &[]).await.refused();
    assert!(
        line.starts_with("error: nothing.csv: it cannot be read: "),
        "{line}"
    );
    assert_eq!(service.asked(), asked);
}

#[tokio::test]
async fn a_summary_describes_the_columns() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", numbered(4));
    service.model.then_once(ScriptedReply::status(400));
    let ended = service.run_file("in.csv", &["--concurrency", "1"]).await;
    let printed = ended.stderr;
    for words in [
        "4 rows in ",
        ": 3 ok, 1 failed\n",
        "\ntokens: ",
        "\ncost: no price is known (unless the host states one, set REFRACT_MODEL_PRICES)\n",
        "\nfailed, 1 row: The model server answered with status 400.\n",
        "\n  topic    Billing 100%\n",
        "\n  angry    Yes 100%\n",
        "\n  urgency  Can wait 100%\n",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[tokio::test]
async fn a_model_that_goes_away_ends_the_run_with_a_line() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", numbered(500));
    for _ in 0..10 {
        service.model.then_once(ScriptedReply::answers());
    }
    service.model.then_always(ScriptedReply::status(401));
    let ended = service
        .run_file("in.csv", &["--concurrency", "1", "--format", "jsonl"])
        .await;
    assert_eq!(ended.code, Some(1));
    let last = ended.stderr.lines().last().unwrap();
    let words = "error: in.csv: the model failed 51 times in a row, from line 12 on: The model \
        server answered with status 401; everything that was answered is saved: run the same \
        command again to go on";
    assert_eq!(last, words);
    assert_eq!(service.asked(), 61);
    assert_eq!(ended.stdout.lines().count(), 61);
    service.model.then_always(ScriptedReply::answers());
    let rows = service
        .run_file("in.csv", &["--format", "jsonl"])
        .await
        .done();
    assert_eq!(rows.matches("\"status\":\"ok\"").count(), 500);
    assert_eq!(service.asked(), 551);
    // `--keep-going` goes on despite the failures
    service.model.then_always(ScriptedReply::status(401));
    let going = [
        "--keep-going",
        "--name",
        "n",
        "--concurrency",
        "1",
        "--format",
        "jsonl",
    ];
    let ended = service.run_file("in.csv", &going).await;
    assert_eq!(ended.stdout.lines().count(), 500);
}

#[tokio::test]
async fn an_output_that_cannot_be_written_loses_nothing() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", numbered(50));
    let line = service
        .run_file("in.csv", &["--output", "nowhere/out.csv"])
        .await;
    let last = line.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("error: cannot write to nowhere/out.csv.part: "),
        "{last}"
    );
    assert_eq!(service.asked(), 0);
    // an output that would overwrite the input is refused, however the paths are written
    service.write("out.csv.part", numbered(1));
    for (input, output) in [("in.csv", "./in.csv"), ("out.csv.part", "out.csv")] {
        let line = service.run_file(input, &["--output", output]).await;
        let words = "error: --output would be written over the input: name another file";
        assert_eq!(line.refused(), words);
    }
    // enough rows to fill more than one write buffer
    service.write("in.csv", numbered(1_000));
    let full = service.run_file("in.csv", &["--output", "/dev/full"]).await;
    assert_eq!(full.code, Some(1));
    let last = full.stderr.lines().last().unwrap();
    assert!(last.starts_with("error: in.csv: line "), "{last}");
    let words = "the output cannot be written: No space left on device";
    assert!(last.contains(words), "{last}");
    assert!(service.asked() < 1_000);
    let rows = service
        .run_file("in.csv", &["--format", "jsonl"])
        .await
        .done();
    assert_eq!(rows.lines().count(), 1_000);
    assert_eq!(service.asked(), 1_000, "none twice");
}
