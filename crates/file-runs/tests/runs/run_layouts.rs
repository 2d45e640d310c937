//! The layouts of outputs, and outputs written again from the results that a run left.

use std::sync::Arc;

use refract_domain::prism::PrismSelector;
use refract_file_runs::{
    ColumnMapping, FileRun, HeldOutput, InputSource, OutputFormat, RowLayout, RunOrder, Shard,
    StoredInput,
};
use refract_lens_rendering::{RowFormat, TableStyle};
use refract_service::Refract;
use refract_service::store::{DatabaseSettings, DatabaseUrl};
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;

on_both!(
    held_rows_are_the_bytes_of_the_run,
    rows_without_a_result_are_left_out,
    refused_rows_stand_where_the_file_has_them,
);

/// A file with refused rows, formulas, and names that answers have too.
fn table(rows: usize) -> String {
    let long = "r".repeat(201);
    let rows = (1..=rows).map(|number| match number % 7 {
        0 => format!("{number};{long};=1+1;refused;x\r\n"),
        1 => format!("{number};r{number};\"=1+1 \"\"quoted\"\"\";done;\r\n"),
        _ => format!("{number};r{number};\"a; \"\"b\"\"\r\nc\";@x;\u{e4}\r\n"),
    });
    let header = "id;number;Body;status;\r\n".to_owned();
    std::iter::once(header).chain(rows).collect()
}

const MAPPED: [&str; 4] = ["--map", "Body=text", "--map", "number=ref"];

/// The run of a file, as another program opens it: from stored bytes.
async fn file_run(service: &Service, name: &str) -> Arc<FileRun> {
    let mapping = |column: &str, field: &str| ColumnMapping {
        column: column.to_owned(),
        field: field.to_owned(),
    };
    let mappings = [mapping("Body", "text"), mapping("number", "ref")];
    file_run_of(service, name, &mappings).await
}

async fn file_run_of(service: &Service, name: &str, mappings: &[ColumnMapping]) -> Arc<FileRun> {
    let settings = DatabaseSettings {
        url: DatabaseUrl::from(service.database_url.as_str()),
        pool: 2,
    };
    let refract = Refract::connect_existing(&settings).await.unwrap();
    let account = refract.accounts().find("default").await.unwrap().id;
    let prism = PrismSelector::parse(PRISM).unwrap();
    let pinned = refract.runs().pin(account, &prism, None).await.unwrap();
    let bytes: Arc<[u8]> = std::fs::read(service.folder.path().join(name))
        .unwrap()
        .into();
    let order = RunOrder {
        input: InputSource::Stored(StoredInput::of_bytes(name, bytes)),
        mappings,
        shard: Shard::WHOLE,
        name: String::new(),
    };
    Arc::new(FileRun::open(pinned, order).unwrap())
}

async fn held(run: &Arc<FileRun>, layout: RowLayout) -> String {
    String::from_utf8(pieces(run.held_rows(layout)).await).unwrap()
}

async fn pieces(mut held: HeldOutput) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(chunk) = held.next_chunk().await.unwrap() {
        bytes.extend(chunk);
    }
    bytes
}

async fn refused(run: &Arc<FileRun>) -> String {
    let mut list = run.refused_list();
    let mut bytes = Vec::new();
    while let Some(chunk) = list.next_chunk().await.unwrap() {
        bytes.extend(chunk);
    }
    String::from_utf8(bytes).unwrap()
}

async fn held_rows_are_the_bytes_of_the_run(backend: Backend) {
    let service = service(backend).await;
    // several chunks, and a row that fails for good
    service.write("in.csv", table(300));
    service.model.then_once(ScriptedReply::status(400));
    let run = file_run(&service, "in.csv").await;
    let ended = service
        .run_file(
            "in.csv",
            &[
                &MAPPED[..],
                &["--concurrency", "1", "--output", "first.csv"],
            ]
            .concat(),
        )
        .await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(service.written("first.csv").contains(",failed,"));
    assert_eq!(
        held(&run, RowLayout::plain(RowFormat::Csv)).await,
        service.written("first.csv")
    );
    let list = service.written("first.csv.refused.csv");
    assert_eq!(refused(&run).await, list);
    assert_eq!(list.lines().count(), 1 + 300 / 7);
    for format in [RowFormat::Csv, RowFormat::Tsv, RowFormat::Jsonl] {
        for (keep_columns, style) in [
            (false, TableStyle::Plain),
            (true, TableStyle::Plain),
            (true, TableStyle::Excel),
            (false, TableStyle::ExcelWithCommas),
        ] {
            if style == TableStyle::ExcelWithCommas && format != RowFormat::Csv {
                continue;
            }
            let layout = RowLayout {
                format: OutputFormat::Rows(format),
                keep_columns,
                style,
            };
            let mut arguments = MAPPED.to_vec();
            arguments.extend(["--format", format.name(), "--output", "out"]);
            arguments.extend(keep_columns.then_some("--keep-columns"));
            let is_marked = style != TableStyle::Plain && format != RowFormat::Jsonl;
            arguments.extend(is_marked.then_some(match style {
                TableStyle::ExcelWithCommas => "--decimal-commas",
                TableStyle::Plain | TableStyle::Excel => "--bom",
            }));
            service.run_file("in.csv", &arguments).await;
            let written = service.written("out");
            assert_eq!(written.starts_with('\u{feff}'), is_marked);
            assert!(written.len() > 300 * 50);
            assert_eq!(held(&run, layout).await, written, "{layout:?}");
        }
    }
}

async fn rows_without_a_result_are_left_out(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", table(20));
    let run = file_run(&service, "in.csv").await;
    let layout = RowLayout::plain(RowFormat::Jsonl);
    assert_eq!(held(&run, layout).await, "");
    let shard = [&MAPPED[..], &["--shard", "2/2", "--format", "jsonl"]].concat();
    let ended = service.run_file("in.csv", &shard).await;
    assert_eq!(held(&run, layout).await, ended.stdout);
    assert_eq!(ended.stdout.lines().count(), 9);
}

async fn refused_rows_stand_where_the_file_has_them(backend: Backend) {
    let service = service(backend).await;
    service.write("in.csv", table(20));
    service.run_file("in.csv", &MAPPED).await;
    assert_eq!(service.asked(), 18);
    let run = file_run(&service, "in.csv").await;
    let layout = |format, keep_columns| RowLayout {
        format,
        keep_columns,
        style: TableStyle::Plain,
    };
    let jsonl = OutputFormat::Rows(RowFormat::Jsonl);
    let rows = pieces(run.held_rows(layout(jsonl, false)).with_refused()).await;
    let rows = String::from_utf8(rows).unwrap();
    let rows: Vec<serde_json::Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 20);
    for (row, number) in rows.iter().zip(1..) {
        let is_refused = number % 7 == 0;
        assert_eq!(row["status"], if is_refused { "refused" } else { "ok" });
        assert_eq!(row["result_id"].is_null(), is_refused, "{row}");
        assert_eq!(row["ref"].as_str().unwrap().len() > 200, is_refused);
        assert_eq!(row["text"] == "=1+1", is_refused, "{row}");
        assert_eq!(row["error"].as_str().is_some(), is_refused, "{row}");
    }
    let csv = OutputFormat::Rows(RowFormat::Csv);
    let kept = pieces(run.held_rows(layout(csv, true)).with_refused()).await;
    let kept = String::from_utf8(kept).unwrap();
    let long = "r".repeat(201);
    assert!(
        kept.contains(&format!("\n14,{long},'=1+1,refused,x,,1,refused,")),
        "{kept}"
    );
    // the same rows come back from every format
    for (name, format) in [
        ("all.csv", csv),
        ("all.xlsx", OutputFormat::Workbook),
        ("all.parquet", OutputFormat::Parquet),
    ] {
        service.write(
            name,
            pieces(run.held_rows(layout(format, false)).with_refused()).await,
        );
        let ended = service.run_file(name, &["--output", "again.csv"]).await;
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert_eq!(service.asked(), 18, "{name}");
        let list = service.written("again.csv.refused.csv");
        assert_eq!(list.lines().count(), 1 + 2, "{name}: {list}");
    }
}

#[tokio::test]
async fn the_columns_of_the_file_stand_before_the_answers() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", table(1));
    let keep = [&MAPPED[..], &["--keep-columns"]].concat();
    let csv = service.run_file("in.csv", &keep).await.done();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "id,number,Body,input_status,column_5,result_id,version,status,error,created_at,topic,\
         angry,urgency"
    );
    let row = lines.next().unwrap();
    assert!(
        row.starts_with("1,r1,\"'=1+1 \"\"quoted\"\"\",done,,"),
        "{row}"
    );
    assert!(row.contains(",1,ok,,"), "{row}");
    let json = [&keep[..], &["--format", "jsonl"]].concat();
    let row = service.run_file("in.csv", &json).await.lines().remove(0);
    assert_eq!(row["Body"], "=1+1 \"quoted\"");
    assert_eq!(
        (&row["input_status"], &row["status"]),
        (&"done".into(), &"ok".into())
    );
    // the keys of JSON Lines are columns too
    service.write(
        "in.jsonl",
        "{\"text\":\"a\"}\n{\"text\":\"b\",\"a \\\"key\\\"\":[1]}\n",
    );
    let keep = ["--keep-columns", "--format", "jsonl"];
    let ended = service.run_file("in.jsonl", &keep).await;
    let rows = ended.lines();
    assert_eq!(
        (&rows[0]["a \"key\""], &rows[1]["a \"key\""]),
        (&"".into(), &"[1]".into())
    );
}

#[tokio::test]
async fn a_mark_is_for_formats_that_excel_opens() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", "text\n\u{e4}\n");
    for format in ["csv", "tsv"] {
        let bom = ["--bom", "--format", format];
        let run = service.run_file("in.csv", &bom).await.done();
        assert!(run.starts_with("\u{feff}result_id"), "{run}");
        let export = [&["results", "export", PRISM][..], &bom].concat();
        assert_eq!(service.run(&export).await.done(), run);
        let list = service
            .run_file("in.csv", &["--format", format])
            .await
            .done();
        assert_eq!(format!("\u{feff}{list}"), run);
    }
    let line = service
        .run_file("in.csv", &["--bom", "--format", "jsonl"])
        .await;
    assert_eq!(
        line.refused(),
        "error: --bom is for csv and tsv, not for jsonl"
    );
}

#[tokio::test]
async fn files_of_spreadsheets_are_read_as_what_they_are() {
    let service = service(Backend::Sqlite).await;
    let table = "Nummer;text\r\n1;Wo ist sie? Gr\u{fc}\u{df}e\r\n";
    let legacy: Vec<u8> = table.chars().map(|c| u8::try_from(c).unwrap()).collect();
    service.write("legacy.csv", legacy);
    let wide = "\u{feff}".encode_utf16().chain(table.encode_utf16());
    service.write(
        "wide.csv",
        wide.flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
    );
    service.write("plain.csv", table);
    for (name, words) in [
        ("legacy.csv", ", read as Windows-1252"),
        ("wide.csv", ", read as UTF-16"),
        ("plain.csv", ""),
    ] {
        let ended = service.run_file(name, &["--format", "jsonl"]).await;
        let first = format!("{name}: CSV with semicolons{words}, 1 row; ");
        assert!(ended.stderr.starts_with(&first), "{ended:?}");
        assert_eq!(ended.lines()[0]["text"], "Wo ist sie? Gr\u{fc}\u{df}e");
    }
    // the same texts are the same rows, whatever the encoding
    assert_eq!(service.asked(), 1);
}

#[tokio::test]
async fn results_are_exported_as_parquet_alone() {
    let service = service(Backend::Sqlite).await;
    service.write("in.csv", "text,ref\none,1\ntwo,2\n");
    service
        .run_file("in.csv", &["--output", "out.csv", "--concurrency", "1"])
        .await
        .done();
    let export = ["results", "export", PRISM, "--output"];
    let ended = service
        .run(&[&export[..], &["all.parquet", "--marks"]].concat())
        .await;
    assert_eq!(ended.stderr, "2 results written to all.parquet.\n");
    let bytes = std::fs::read(service.folder.path().join("all.parquet")).unwrap();
    assert_eq!(
        (&bytes[..4], &bytes[bytes.len() - 4..]),
        (&b"PAR1"[..], &b"PAR1"[..])
    );
    let marked = |name: &[u8]| bytes.windows(name.len()).any(|found| found == name);
    assert!(marked(b"topic_marked") && marked(b"can_wait"));
    let bom = [&export[..], &["all.parquet", "--bom"]].concat();
    let line = service.run(&bom).await.refused();
    assert_eq!(line, "error: --bom is for csv and tsv, not for parquet");
    let line = service
        .run_file("in.csv", &["--output", "out.parquet"])
        .await
        .refused();
    assert!(
        line.contains("only `refract results export` writes parquet"),
        "{line}"
    );
    // what the run holds now is the same file, piece by piece
    let run = file_run_of(&service, "in.csv", &[]).await;
    let held = run.held_rows(RowLayout {
        format: OutputFormat::Parquet,
        ..RowLayout::plain(RowFormat::Csv)
    });
    let pieces = pieces(held).await;
    let rows = service
        .run(&[&export[..], &["same.parquet"]].concat())
        .await;
    rows.done();
    let exported = std::fs::read(service.folder.path().join("same.parquet")).unwrap();
    assert!(pieces == exported, "the bytes differ");
}
