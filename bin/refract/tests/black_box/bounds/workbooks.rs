//! The largest workbooks that a node takes, opened by ten people at once.

use std::fmt::Write as _;

use refract_test_stack::browser::joined;
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, PRISM, Service, Setup};
use refract_test_support::workbook::workbook;
use tokio::task::JoinSet;

use crate::bounds::memory::{MemoryLimit, peak_mib};
use crate::program::setup;

/// The memory limit of the container in `docs/deploy/kubernetes`.
const CONTAINER: usize = 1024 * 1024 * 1024;
/// The most memory of the node alone, in MiB.
const PEAK_MIB: usize = 600;
/// Reviewers who open a page at once.
const PEOPLE: usize = 10;
const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// A shared text.
fn texts(count: usize, bytes: usize) -> String {
    let text = format!("<si><t>{}</t></si>", "a".repeat(bytes));
    format!("<sst><si><t>text</t></si>{}</sst>", text.repeat(count))
}

/// A sheet of a header and rows with a shared text each.
fn rows(count: usize) -> String {
    let mut rows = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#.to_owned();
    for row in 2..count + 2 {
        let _ = write!(
            rows,
            r#"<row r="{row}"><c r="A{row}" t="s"><v>1</v></c></row>"#
        );
    }
    rows
}

/// A sheet with a cell of this size, in pieces.
fn long_cell(bytes: usize) -> String {
    let piece = format!("<r><t>{}</t></r>", "a".repeat(KIB));
    let pieces = piece.repeat(bytes / piece.len());
    format!(
        r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>
        <row r="2"><c r="A2" t="inlineStr"><is>{pieces}</is></c></row>"#
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_largest_workbooks_opened_by_ten_people_leave_a_node_its_memory() {
    // minutes without optimisation, so outside the gate
    if std::env::var_os("REFRACT_TEST_BOUNDS").is_none() {
        return;
    }
    let setup = Setup {
        settings: &[
            ("REFRACT_MODEL_URL", "builtin:lexical"),
            ("REFRACT_LOG", "warn,refract::commands::serve=info"),
        ],
        ..setup()
    };
    // dropped after the service: the group can be removed only when its node has ended
    let limit;
    let mut service = Service::with(Backend::Sqlite, setup).await;
    limit = MemoryLimit::around(&service.nodes[0], CONTAINER);
    let mut owner = joined(&service, "ada@example.com", "owner").await;
    println!("before: {} MiB", peak_mib(&service.nodes[0]));
    let app = service.nodes[0].app;
    for (what, file) in [
        (
            "31 MiB of long texts",
            workbook(&rows(1_000), &texts(990, 32 * KIB)),
        ),
        (
            "a million short texts",
            workbook(&rows(1_000), &texts(990_000, 1)),
        ),
        (
            "a cell of 15 MiB",
            workbook(&long_cell(15 * MIB), &texts(1, 1)),
        ),
        ("a million rows", workbook(&rows(1_000_000), &texts(1, 9))),
    ] {
        let path = format!("/prisms/{PRISM}/runs");
        let mut visits = JoinSet::new();
        for _ in 0..PEOPLE {
            let upload = Request::upload(&path, "large.xlsx", &file);
            let upload = upload.header("Cookie", &owner.cookie());
            visits.spawn(async move { upload.send(app).await });
        }
        let mut runs = Vec::new();
        while let Some(answer) = visits.join_next().await {
            let answer = answer.unwrap();
            assert_eq!(answer.status, 303, "{what}: {answer:?}");
            runs.push(answer.header("location").unwrap().to_owned());
        }
        // the worker reads it too
        let checking = owner.post(&format!("{}/check", runs[0]), &[]).await;
        assert_eq!(checking.status, 303, "{what}");
        for run in &runs[1..] {
            let visit = Request::outside("GET", run).header("Cookie", &owner.cookie());
            visits.spawn(async move { visit.send(app).await });
        }
        while let Some(answer) = visits.join_next().await {
            let page = answer.unwrap();
            assert_eq!(page.status, 200, "{what}");
            assert!(page.body.contains("Read as Excel workbook"), "{what}");
        }
        println!(
            "{what}, {} KiB, uploaded and opened by {PEOPLE}: {} MiB at the peak",
            file.len() / KIB,
            peak_mib(&service.nodes[0])
        );
    }
    let peak = peak_mib(&service.nodes[0]);
    match limit.as_ref().map(MemoryLimit::peak_mib) {
        Some(peak) => println!("in a control group of 1,024 MiB, of which {peak:?} were used"),
        None => println!("without a control group: none can be made here"),
    }
    service.nodes.remove(0).stop().await;
    assert!(peak < PEAK_MIB, "{peak} MiB");
}
