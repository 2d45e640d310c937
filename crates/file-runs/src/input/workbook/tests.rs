use std::time::Duration;

use proptest::prelude::*;
use refract_test_support::workbook::{workbook, zipped};

use super::source::FILE_BYTES;
use super::*;
use crate::input::workbook_budget::WorkbookBudget;
use crate::input::{StoredInput, WorkbookError};

const TEXTS: &str = r#"<sst uniqueCount="4"><si><t>text</t></si><si><t>when</t></si>
    <si><t xml:space="preserve"> two
lines &amp; "quotes" </t></si><si><r><t>ri</t></r><r><t>ch</t></r></si></sst>"#;

fn open(bytes: Vec<u8>) -> Result<Workbook, String> {
    open_part(bytes, SheetChoice::default())
}

fn open_part(bytes: Vec<u8>, choice: SheetChoice) -> Result<Workbook, String> {
    let opened = Workbook::open(
        InputBytes::Stored(StoredInput::of_bytes("a.xlsx", bytes)),
        choice,
    );
    opened.map_err(|error| error.to_string())
}

/// The numbers and cells of all rows.
fn rows(bytes: Vec<u8>) -> Result<Vec<(u64, Vec<String>)>, String> {
    rows_of(&open(bytes)?)
}

fn rows_of(workbook: &Workbook) -> Result<Vec<(u64, Vec<String>)>, String> {
    let message = |error: InputError| error.to_string();
    let mut records = workbook.records().map_err(message)?;
    let mut record = csv::ByteRecord::new();
    let mut rows = Vec::new();
    while let Some(number) = records.next(&mut record).map_err(message)? {
        let cells = record.iter();
        let cells = cells.map(|cell| String::from_utf8(cell.to_vec()).unwrap());
        rows.push((number, cells.collect()));
    }
    // a run reads on after the end, as it does at the end of its last chunk
    assert_eq!(records.next(&mut record).map_err(message)?, None);
    Ok(rows)
}

#[test]
fn the_first_visible_sheet_is_read_with_the_numbers_of_its_rows() {
    let sheet = r#"<row r="1"><c r="C1"><v/></c></row>
        <row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3" t="s"><v>1</v></c></row>
        <row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4"><v>5</v></c><c r="C4" s="1"><v>46146</v></c></row>
        <row r="6"><c r="B6" t="inlineStr"><is><t>in line</t></is></c><c r="E6"><v/></c></row>
        <row r="9"><c r="A9" t="s"><v>3</v></c><c r="B9" t="b"><v>1</v></c><c r="D9" t="str"><f>A1</f><v>=1+1</v></c></row>"#;
    let bytes = workbook(sheet, TEXTS);
    let opened = open(bytes.clone()).unwrap();
    let words = "Excel workbook, only sheet Sales & more of 2";
    assert_eq!(opened.describe(), words);
    let of = |number, cells: &[&str]| {
        let cells = cells.iter().map(|cell| (*cell).to_owned());
        (number, cells.collect::<Vec<_>>())
    };
    assert_eq!(
        rows(bytes).unwrap(),
        [
            of(3, &["text", "", "when"]),
            of(4, &[" two\nlines & \"quotes\" ", "5", "2026-05-04"]),
            of(6, &["", "in line", ""]),
            of(9, &["rich", "TRUE", "", "=1+1"]),
        ]
    );
}

#[test]
fn hidden_rows_are_known_and_left_out_when_wanted() {
    // a row without a number follows the one before; a hidden header is the header all the same
    let sheet = r#"<row r="2" hidden="1"><c r="A2" t="s"><v>0</v></c></row>
        <row r="3"><c r="A3"><v>1</v></c></row>
        <row hidden="true" ht="0"><c r="A4"><v>2</v></c></row>
        <row r="7" hidden="0"><c r="A7"><v>3</v></c></row>
        <row r="8" hidden="1"><c r="A8"><v>4</v></c></row>"#;
    let bytes = workbook(sheet, TEXTS);
    let all = open(bytes.clone()).unwrap();
    let sheets = all.sheets();
    assert_eq!((sheets.hidden_rows, sheets.skips_hidden_rows), (3, false));
    assert_eq!(rows_of(&all).unwrap().len(), 5);
    let mut records = all.records().unwrap();
    let (mut record, mut hidden) = (csv::ByteRecord::new(), Vec::new());
    while let Some(number) = records.next(&mut record).unwrap() {
        hidden.extend(records.is_hidden().then_some(number));
    }
    assert_eq!(hidden, [4, 8]);
    let choice = SheetChoice {
        skips_hidden_rows: true,
        ..SheetChoice::default()
    };
    let shown = open_part(bytes, choice).unwrap();
    let numbers: Vec<_> = rows_of(&shown)
        .unwrap()
        .into_iter()
        .map(|row| row.0)
        .collect();
    assert_eq!(numbers, [2, 3, 7]);
    assert!(shown.describe().ends_with(" of 2 without its hidden rows"));
}

#[test]
fn a_large_sheet_is_read_in_many_messages() {
    let row =
        |number: u32| format!(r#"<row r="{number}"><c r="A{number}"><v>{number}</v></c></row>"#);
    let sheet: String = (1..=1_000).map(row).collect();
    let read = rows(workbook(&sheet, "<sst/>")).unwrap();
    assert!(read.iter().zip(1..).all(|(row, number)| row.0 == number));
    assert_eq!(read.len(), 1_000);
    // a reader that is dropped early ends the thread
    let opened = open(workbook(&sheet, "<sst/>")).unwrap();
    drop(opened.records().unwrap());
}

#[test]
fn what_is_no_workbook_or_too_large_is_refused_in_a_sentence() {
    let zip = zipped(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet")]);
    assert_eq!(
        rows(zip).unwrap_err(),
        WorkbookError::NoWorkbook.to_string()
    );
    let damaged = WorkbookError::Damaged.to_string();
    assert_eq!(
        rows(b"PK\x03\x04 and no more".to_vec()).unwrap_err(),
        damaged
    );
    let unknown_text = r#"<row r="1"><c r="A1" t="s"><v>7</v></c></row>"#;
    assert_eq!(rows(workbook(unknown_text, TEXTS)).unwrap_err(), damaged);
    let backwards = r#"<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>"#;
    assert_eq!(rows(workbook(backwards, TEXTS)).unwrap_err(), damaged);
    let far = r#"<row r="1"><c r="ZZZZ1"><v>1</v></c></row>"#;
    assert_eq!(rows(workbook(far, TEXTS)).unwrap_err(), damaged);
    let large = open(vec![0; FILE_BYTES + 1]).err().unwrap();
    assert_eq!(large, WorkbookError::TooLarge.to_string());
    let bomb = zipped(&[("a", &"<a/>".repeat(65 * 1024 * 1024))]);
    assert!(bomb.len() < FILE_BYTES / 4);
    let bomb = open(bomb).err().unwrap();
    assert_eq!(bomb, WorkbookError::UnpacksTooLarge.to_string());
    let long = zipped(&[("a", &"x".repeat(17 * 1024 * 1024))]);
    assert_eq!(open(long).err().unwrap(), damaged);
}

#[test]
fn room_is_made_only_for_texts_that_there_may_be() {
    let large = WorkbookError::TextsTooLarge.to_string();
    for announced in [
        "uniqueCount=\"4000000000\"",
        "uniqueCount = \n '99999999999999999999999'",
        "x=\"uniqueCount\" uniqueCount=\" +1000001\"",
    ] {
        let texts = format!("<sst {announced}><si><t>a</t></si></sst>");
        assert_eq!(
            rows(workbook("", &texts)).unwrap_err(),
            large,
            "{announced}"
        );
    }
    let many = format!("<sst>{}</sst>", "<si></si>".repeat(2_100_000));
    assert_eq!(rows(workbook("", &many)).unwrap_err(), large);
    let long = format!(
        "<sst><si><t>{}</t></si></sst>",
        "a".repeat(33 * 1024 * 1024)
    );
    assert_eq!(rows(workbook("", &long)).unwrap_err(), large);
    let wide: String = "<sst><si><t>a</t></si></sst>"
        .chars()
        .flat_map(|c| [c, '\0'])
        .collect();
    let damaged = WorkbookError::Damaged.to_string();
    assert_eq!(rows(workbook("", &wide)).unwrap_err(), damaged);
}

#[test]
fn a_reader_gives_way_to_others_and_goes_on_where_it_was() {
    let row =
        |number: u32| format!(r#"<row r="{number}"><c r="A{number}"><v>{number}</v></c></row>"#);
    let sheet: String = (1..=400).map(row).collect();
    let input = StoredInput::of_bytes("a.xlsx", workbook(&sheet, "<sst/>"));
    // there is room for one reader, and none keeps it for long
    let budget = WorkbookBudget::with_times(1, Duration::from_mins(1), Duration::ZERO);
    let opened = Workbook::open(
        InputBytes::Stored(input.within(&budget)),
        SheetChoice::default(),
    )
    .unwrap();
    let readers = [0; 3].map(|_| opened.records());
    let mut readers = readers.map(|records| records.map_err(|error| error.to_string()).unwrap());
    let mut record = csv::ByteRecord::new();
    for number in 1..=400_u64 {
        for records in &mut readers {
            assert_eq!(records.next(&mut record).unwrap(), Some(number));
            assert_eq!(&record[0], number.to_string().as_bytes());
        }
    }
    assert!(
        readers
            .iter_mut()
            .all(|it| it.next(&mut record).unwrap().is_none())
    );
}

#[test]
fn what_a_reader_keeps_is_bounded() {
    let part_too_large = WorkbookError::PartTooLarge.to_string();
    let damaged = WorkbookError::Damaged.to_string();
    let relations = r#"<Relationship Target="xl/book.xml"/>"#;
    let large = " ".repeat(1024 * 1024 + 1);
    let formats = format!(
        r#"<styleSheet><font><name val="{}"/></font>{}</styleSheet>"#,
        "a".repeat(1000),
        r#"<xf fontId="0"/>"#.repeat(20_000)
    );
    let cell = "<c><is><t>a</t></is></c>";
    let nested = format!("<row><c>{}</c></row>", cell.repeat(800_000));
    let in_pieces = format!(
        "<row><c><is>{}</is></c></row>",
        "<t>a</t>".repeat(2_200_000)
    );
    let many = format!("<row>{}</row>", cell.repeat(800_000));
    for (name, part, expected) in [
        ("xl/styles.xml", &large, Err(&part_too_large)),
        ("xl\\Styles.xml", &formats, Err(&part_too_large)),
        ("XL/BOOK.XML", &large, Err(&part_too_large)),
        ("xl/_rels/book.xml.rels", &large, Err(&part_too_large)),
        ("xl/media/image.png", &large, Ok(())),
        ("xl/worksheets/sheet1.xml", &nested, Err(&damaged)),
        ("xl/worksheets/sheet1.xml", &in_pieces, Err(&damaged)),
        ("xl/worksheets/sheet1.xml", &many, Ok(())),
    ] {
        let checked = parts::check(&zipped(&[("_rels/.rels", relations), (name, part)]));
        let checked = checked.map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(checked.as_ref().copied(), expected, "{name}");
    }
}

proptest! {
    #[test]
    fn a_damaged_workbook_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let row = r#"<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>4</v></c></row>"#;
        let mut bytes = workbook(row, TEXTS);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        let _ = rows(bytes);
    }
}
