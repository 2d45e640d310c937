use std::io::{Cursor, Read as _};

use calamine::{Data, Reader as _, Xlsx};
use proptest::prelude::*;
use zip::ZipArchive;

use super::*;
use crate::input::{InputError, InputFile, InputSource, RawValue, StoredInput};
use crate::input::{WantedColumn, WantedColumns};

/// The bytes of a workbook with these columns and rows, and the number of its cut texts.
fn workbook(
    columns: &[(&str, SheetColumn)],
    rows: &[Vec<SheetCell<'_>>],
) -> io::Result<(Vec<u8>, u64)> {
    let columns: Vec<_> = columns
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), *kind))
        .collect();
    let mut writer = WorkbookWriter::new("Results", &columns)?;
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend(writer.write_row(row.iter().copied())?);
    }
    let cut = writer.cut_texts();
    bytes.extend(writer.finish()?);
    Ok((bytes, cut))
}

/// The texts of the column `text` as a run reads them.
fn read_again(bytes: Vec<u8>) -> Result<Vec<String>, InputError> {
    let wanted = WantedColumns(vec![WantedColumn {
        name: "text".to_owned(),
        is_required: true,
    }]);
    let stored = StoredInput::of_bytes("a.xlsx", bytes);
    let file = InputFile::open(InputSource::Stored(stored), &wanted)?;
    let mut rows = file.rows(&wanted)?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        for value in row.values {
            let RawValue::Text { text, .. } = value else {
                panic!("{value:?}");
            };
            texts.push(text);
        }
    }
    Ok(texts)
}

fn part(bytes: &[u8], name: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    let mut part = archive.by_name(name).unwrap();
    part.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn cells_have_types_and_none_is_a_formula() {
    let moment = "2026-05-04T09:08:07.060Z".parse().unwrap();
    let row = |text| {
        vec![
            SheetCell::Text(text),
            SheetCell::Number(0.912_345),
            SheetCell::Moment(moment),
            SheetCell::Empty,
        ]
    };
    let columns = [
        ("text", SheetColumn::LongText),
        ("p", SheetColumn::Number),
        ("at", SheetColumn::Moment),
        ("=x & <y>", SheetColumn::Text),
    ];
    let (bytes, cut) = workbook(&columns, &[row("=1+1"), row("007")]).unwrap();
    assert_eq!(cut, 0);
    let sheet = part(&bytes, "xl/worksheets/sheet1.xml");
    assert!(!sheet.contains("<f"), "{sheet}");
    assert!(sheet.contains(r#"state="frozen""#) && sheet.contains("customWidth"));
    let mut read: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).unwrap();
    let range = read.worksheet_range("Results").unwrap();
    let rows: Vec<_> = range.rows().collect();
    let text = |text: &str| Data::String(text.to_owned());
    assert_eq!(
        rows[0],
        [text("text"), text("p"), text("at"), text("=x & <y>")]
    );
    assert_eq!(rows[1][..2], [text("=1+1"), Data::Float(0.912_345)]);
    assert_eq!(rows[2][0], text("007"));
    let Data::DateTime(at) = &rows[1][2] else {
        panic!("{:?}", rows[1][2]);
    };
    assert_eq!(at.to_ymd_hms_milli(), (2026, 5, 4, 9, 8, 7, 60));
}

#[test]
fn a_text_beyond_a_cell_is_cut_between_characters_and_marked() {
    let long = format!("a{}", "😀".repeat(20_000));
    let columns = [("text", SheetColumn::LongText), ("b", SheetColumn::Text)];
    let row = |text| vec![SheetCell::Text(text), SheetCell::Empty];
    let (bytes, cut) = workbook(&columns, &[row("short"), row(&long)]).unwrap();
    assert_eq!(cut, 1);
    let mut read: Xlsx<_> = Xlsx::new(Cursor::new(bytes.clone())).unwrap();
    let range = read.worksheet_range("Results").unwrap();
    let rows: Vec<_> = range.rows().collect();
    assert_eq!(rows[2][0].to_string().encode_utf16().count(), 32_767);
    assert_eq!(rows[2][2].to_string(), "cut off: text");
    // what is not whole is not taken for an input
    let refused = read_again(bytes).unwrap_err().to_string();
    assert!(
        refused.starts_with("line 3 has a text that was cut off"),
        "{refused}"
    );
    let whole = "b".repeat(32_767);
    let (bytes, cut) = workbook(&columns, &[row(&whole)]).unwrap();
    assert_eq!((cut, read_again(bytes).unwrap()), (0, vec![whole]));
}

#[test]
fn a_sheet_has_no_more_rows_and_columns_than_a_spreadsheet_takes() {
    let mut writer = WorkbookWriter::new("a", &[("text".to_owned(), SheetColumn::Text)]).unwrap();
    writer.row = WORKBOOK_ROWS;
    assert!(writer.write_row([SheetCell::Text("last")]).is_ok());
    let full = writer.write_row([SheetCell::Text("one more")]);
    assert!(full.unwrap_err().to_string().contains("1,048,575 rows"));
    let wide = vec![("a".to_owned(), SheetColumn::Text); COLUMNS];
    assert!(WorkbookWriter::new("a", &wide).is_err());
    assert_eq!(
        [0, 25, 26, 701, 702, 16_383].map(letters),
        ["A", "Z", "AA", "ZZ", "AAA", "XFD"]
    );
}

proptest! {
    #[test]
    fn texts_come_back_as_they_were(
        texts in prop::collection::vec("(?s)[=+@'\"&<>a_x0-9A-F\\PC\u{1}\t\r\n ]{1,12}", 1..20),
    ) {
        // rows of nothing but white space are no rows of a sheet
        let texts: Vec<_> = texts.into_iter().map(|text| format!("{text}.")).collect();
        let rows: Vec<_> = texts.iter().map(|text| vec![SheetCell::Text(text)]).collect();
        let (bytes, _) = workbook(&[("text", SheetColumn::LongText)], &rows).unwrap();
        prop_assert_eq!(read_again(bytes).unwrap(), texts);
    }
}
