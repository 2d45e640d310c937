//! Uploads that are cut in the middle, and files with many columns and formulas.

use std::time::Duration;

use refract_test_stack::browser::joined;
use refract_test_stack::http::HttpConnection;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::on_both;
use refract_test_support::workbook::workbook;

use crate::runs::{READY, act, checked, page_with, upload};

on_both!(
    an_upload_that_is_cut_leaves_nothing,
    a_file_of_300_columns_with_formulas_is_run_and_downloaded,
    hidden_rows_of_a_sheet_are_left_out_when_wanted,
    a_file_without_rows_or_without_a_column_is_reported,
);

async fn an_upload_that_is_cut_leaves_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let rows = (0..60_000).map(|row| format!("text {row}\n"));
    let rows: Vec<_> = rows.collect();
    let whole = upload("in.csv", format!("text\n{}", rows.concat()).as_bytes());
    let sent = whole.clone().header("Cookie", &ada.cookie()).bytes();
    for share in [10, 50, 99] {
        let mut connection = HttpConnection::open(service.nodes[0].app).await;
        let (begun, _) = sent.split_at(sent.len() / 100 * share);
        connection.send(begun).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        connection.reset();
    }
    let list = ada.get(&format!("/prisms/{PRISM}/runs")).await;
    assert!(
        list.body.contains("No file was run here yet"),
        "{}",
        list.body
    );
    let answer = ada.send(whole).await;
    assert_eq!(answer.status, 303, "{answer:?}");
}

async fn a_file_of_300_columns_with_formulas_is_run_and_downloaded(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let columns: Vec<_> = (1..=299).map(|column| format!("c{column}")).collect();
    let cells: Vec<_> = (1..=299).map(|column| format!("=1+{column}")).collect();
    let file = format!("text,{}\n=SUM(A1),{}\n", columns.join(","), cells.join(","));
    let run = checked(&mut ada, "in.csv", file.as_bytes()).await;
    page_with(&mut ada, &run, READY).await;
    act(&mut ada, &run, "start", &[]).await;
    page_with(&mut ada, &run, crate::runs::DONE).await;
    let address = format!("{run}/download?format=csv&columns=keep");
    let rows = ada.download(&address).await;
    let lines: Vec<_> = rows.body.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("text,c1,c2,"), "{}", lines[0]);
    assert!(
        lines[1].starts_with("'=SUM(A1),'=1+1,'=1+2,"),
        "{}",
        lines[1]
    );
    assert!(lines[1].contains(",'=1+299,"), "{}", lines[1]);
    let jsonl = ada.download(&address.replace("csv", "jsonl")).await;
    assert!(
        jsonl.body.contains(r#""c299":"=1+299""#),
        "exact: {}",
        jsonl.body
    );
}

async fn hidden_rows_of_a_sheet_are_left_out_when_wanted(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let row = |number: u32, hidden: &str, text: &str| {
        format!(
            r#"<row r="{number}"{hidden}><c r="A{number}" t="inlineStr"><is><t>{text}</t></is></c></row>"#
        )
    };
    let hidden = r#" hidden="1""#;
    let sheet = [
        row(1, "", "text"),
        row(2, hidden, "nobody sees this"),
        row(3, "", "shown"),
        row(4, hidden, "nor this"),
    ];
    let bytes = workbook(&sheet.concat(), "<sst/>");
    let answer = ada.send(upload("in.xlsx", &bytes)).await;
    let run = answer.header("location").unwrap().to_owned();
    let page = ada.get(&run).await.body;
    assert!(
        page.contains("without its 2 hidden or filtered rows"),
        "{page}"
    );
    assert!(page.contains("nobody sees this"), "{page}");
    let choice = [("sheet", "Sales & more"), ("skip_hidden", "on")];
    ada.post(&format!("{run}/check"), &choice).await;
    let page = ada.get(&run).await.body;
    assert!(page.contains("without its hidden rows"), "{page}");
    assert!(page.contains("name=\"skip_hidden\" checked"), "{page}");
    assert!(!page.contains("nobody sees this"), "{page}");
    act(&mut ada, &run, "check", &[]).await;
    let page = page_with(&mut ada, &run, READY).await.body;
    assert!(page.contains("1 row to ask about"), "{page}");
}

async fn a_file_without_rows_or_without_a_column_is_reported(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let run = checked(&mut ada, "in.csv", b"text,ref\n").await;
    let page = ada.get(&run).await.body;
    assert!(page.contains("a header and no rows"), "{page}");
    assert!(!page.contains(">Start</button>"), "{page}");
    let answer = ada
        .send(upload("two.csv", b"Text A,Text A,no\na,b,1\n"))
        .await;
    let run = answer.header("location").unwrap().to_owned();
    let page = ada.get(&run).await.body;
    assert!(
        page.contains("Text A (1)") && page.contains("Text A (2)"),
        "{page}"
    );
    let check = format!("{run}/check");
    let chosen = [("column.text", ""), ("column.ref", "no")];
    let refused = ada.post(&check, &chosen).await;
    assert_eq!(refused.status, 422);
    let fault = "Choose a column for “Message”: every row needs it.";
    assert!(refused.body.contains(fault), "{}", refused.body);
    // the other choice is kept
    let chosen = "<option value=\"no\" selected>";
    assert!(refused.body.contains(chosen), "{}", refused.body);
    let chosen = [("column.text", "Text A (2)"), ("column.ref", "no")];
    assert_eq!(ada.post(&check, &chosen).await.status, 303);
    let page = page_with(&mut ada, &run, READY).await.body;
    assert!(page.contains("1 row to ask about"), "{page}");
}
