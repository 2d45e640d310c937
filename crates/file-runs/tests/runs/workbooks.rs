//! A run of an Excel workbook, to its end.

use std::fmt::Write as _;

use refract_test_stack::runs::{service, texts};
use refract_test_stack::service::Backend;
use refract_test_support::on_both;
use refract_test_support::workbook::workbook;

on_both!(
    every_row_of_a_workbook_is_answered_once,
    what_a_run_writes_as_a_workbook_is_the_same_input_again,
    a_sheet_is_chosen_by_its_name,
);

/// More rows than one message between the threads of a reader has.
const ROWS: u32 = 300;

async fn every_row_of_a_workbook_is_answered_once(backend: Backend) {
    let service = service(backend).await;
    let inline = |column: char, row: u32, text: &str| {
        format!(r#"<c r="{column}{row}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    let row = |row: u32, reference: &str, text: &str| {
        let (reference, text) = (inline('A', row, reference), inline('B', row, text));
        format!(r#"<row r="{row}">{reference}{text}</row>"#)
    };
    let mut sheet = row(1, "ref", "text");
    for number in 1..=ROWS {
        let _ = write!(
            sheet,
            "{}",
            row(number + 1, &format!("r{number}"), &format!("row {number}"))
        );
    }
    service.write("in.xlsx", workbook(&sheet, "<sst/>"));
    for asked in [300, 300] {
        let ended = service
            .run_file("in.xlsx", &["--output", "out.jsonl"])
            .await;
        ended.done();
        assert_eq!(service.asked(), asked);
        let expected: Vec<_> = (1..=ROWS).map(|number| format!("row {number}")).collect();
        assert_eq!(texts(&service.written("out.jsonl")), expected);
    }
}

async fn what_a_run_writes_as_a_workbook_is_the_same_input_again(backend: Backend) {
    let service = service(backend).await;
    service.write(
        "in.csv",
        "ref,text\n007,=1+1\n-5,\"two\nlines <&>\"\n+49,_x0041_\n",
    );
    let written = service.run_file("in.csv", &["--output", "out.xlsx"]).await;
    written.done();
    assert_eq!(service.asked(), 3);
    // every row has the place and the content that it had
    let again = service.run_file("out.xlsx", &["--output", "again.jsonl"]);
    again.await.done();
    assert_eq!(service.asked(), 3);
    let expected = ["=1+1", "two\nlines <&>", "_x0041_"];
    assert_eq!(texts(&service.written("again.jsonl")), expected);
    let long = format!("ref,text\nlong,{}\n", "a".repeat(40_000));
    service.write("long.csv", long);
    let cut = service
        .run_file("long.csv", &["--output", "long.xlsx"])
        .await;
    assert!(
        cut.stderr.contains("1 text is longer than"),
        "{}",
        cut.stderr
    );
    let refused = service.run_file("long.xlsx", &["--output", "no.csv"]).await;
    assert!(
        refused
            .refused()
            .contains("line 2 has a text that was cut off")
    );
}

async fn a_sheet_is_chosen_by_its_name(backend: Backend) {
    let service = service(backend).await;
    let cell = |column: char, row: u32, text: &str| {
        format!(r#"<c r="{column}{row}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    let sheet = format!(
        r#"<row r="1">{}</row><row r="2">{}</row>"#,
        cell('A', 1, "text"),
        cell('A', 2, "a")
    );
    service.write("in.xlsx", workbook(&sheet, "<sst/>"));
    let chosen = service
        .run_file("in.xlsx", &["--sheet", "sales & MORE", "--dry-run"])
        .await;
    assert!(
        chosen.stderr.contains("only sheet Sales & more of 2"),
        "{}",
        chosen.stderr
    );
    let none = service.run_file("in.xlsx", &["--sheet", "x"]).await;
    assert_eq!(none.code, Some(2));
    let words = "it has no sheet of that name: it has Secret, Sales & more";
    assert!(none.stderr.contains(words), "{}", none.stderr);
    for (name, damaged) in [("damaged.xlsx", "PK\x03\x04"), ("damaged.parquet", "PAR1")] {
        service.write(name, damaged);
        let refused = service.run_file(name, &[]).await.refused();
        assert!(refused.contains(" is damaged"), "{refused}");
    }
    service.write("in.csv", "text\na\n");
    let table = service.run_file("in.csv", &["--sheet", "x"]).await;
    assert_eq!(table.code, Some(2));
    assert!(table.stderr.contains("it is CSV and has no sheets"));
}
