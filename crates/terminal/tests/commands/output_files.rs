//! The files that commands write: none replaces a file in use, and what goes to standard output has
//! it for itself.

use refract_test_stack::marked_texts::marked_texts;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM};

const GOLD: &str = "ref,text,expected_topic\nr,one,billing\n";

#[tokio::test]
async fn no_output_replaces_a_file_in_use() {
    let service = service(Backend::Sqlite).await;
    service.answered(&["r"]).await;
    let asked = service.asked();
    service.write("gold.csv", GOLD);
    service.write("lens.json", "{}");
    let database = service.database_url.strip_prefix("sqlite://").unwrap();
    let check = ["check", PRISM, "gold.csv"];
    let export = ["results", "export", PRISM, "--format", "csv"];
    let over_input = "would be written over the input: name another file";
    let over_database = "--output would be written over the database: name another file";
    for (command, arguments, words) in [
        (
            &["run", PRISM, "gold.csv"][..],
            &["--output", "gold.csv"][..],
            over_input,
        ),
        (
            &["run", PRISM, "gold.csv", "--format", "csv"],
            &["--output", database],
            over_database,
        ),
        (&check, &["--html", "gold.csv"], over_input),
        (&check, &["--junit", "gold.csv"], over_input),
        (
            &check,
            &["--junit", "gold.xml", "--html", "gold.xml"],
            "--junit and --html would be written to one file: name two",
        ),
        (
            &export,
            &["--ref-file", "gold.csv", "--output", "gold.csv"],
            over_input,
        ),
        (
            &export,
            &["--lens", "lens.json", "--output", "lens.json"],
            over_input,
        ),
        (&export, &["--output", database], over_database),
    ] {
        let refused = service.run(&[command, arguments].concat()).await.refused();
        assert!(refused.contains(words), "{arguments:?}: {refused}");
    }
    assert_eq!(service.written("gold.csv"), GOLD);
    assert_eq!(service.written("lens.json"), "{}");
    assert_eq!(service.asked(), asked);
}

#[tokio::test]
async fn a_file_on_standard_output_has_it_for_itself() {
    let service = service(Backend::Sqlite).await;
    service.write("gold.csv", GOLD);
    service.check("gold.csv", &[]).await.done();
    service.ask_and_mark(&marked_texts(60)).await;
    let check = ["check", PRISM, "gold.csv"];
    let evaluate = ["evaluate", PRISM];
    let advice = ["--advise", "angry", "--recall", "0.5"];
    let writing = [&advice[..], &["--write", "-"]].concat();
    let both = "both write to stdout: name a file";
    for (command, arguments, begin, end) in [
        (&check[..], &["--junit", "-"][..], "<?xml", "</testsuites>"),
        (&check, &["--html", "-"], "<!DOCTYPE html>", "</html>"),
        (&evaluate, &["--html", "-"], "<!DOCTYPE html>", "</html>"),
        (&evaluate, &writing, "{\n  \"columns\"", "}"),
    ] {
        let command = [command, arguments].concat();
        let printed = service.run(&command).await.done();
        let is_alone = printed.starts_with(begin) && printed.trim_end().ends_with(end);
        assert!(is_alone, "{command:?}: {printed}");
        let json = [&command[..], &["--json"]].concat();
        let refused = service.run(&json).await.refused();
        assert!(refused.contains(both), "{refused}");
    }
    let two = [&check[..], &["--junit", "-", "--html", "-"]].concat();
    assert!(service.run(&two).await.refused().contains(both));
}
