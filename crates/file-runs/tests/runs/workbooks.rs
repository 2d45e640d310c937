//! A run of an Excel workbook, to its end.

use std::fmt::Write as _;

use refract_test_stack::runs::{service, texts};
use refract_test_stack::service::Backend;
use refract_test_support::on_both;
use refract_test_support::workbook::workbook;

on_both!(every_row_of_a_workbook_is_answered_once);

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
