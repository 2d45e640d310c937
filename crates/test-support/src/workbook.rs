//! Excel workbooks, made of their parts.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

const RELATIONS: &str =
    r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">"#;
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A ZIP archive of these parts.
///
/// # Panics
///
/// When a part has a name that an archive cannot have.
#[expect(clippy::expect_used, reason = "a broken fixture fails the test")]
pub fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
    try_zipped(parts).expect("parts with usual names")
}

fn try_zipped(parts: &[(&str, &str)]) -> ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive.start_file(*name, SimpleFileOptions::default())?;
        archive.write_all(content.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// A workbook with a hidden sheet, then a sheet of these rows (`<row …>`), with shared texts (`<sst>`)
/// and the style 1 for dates.
pub fn workbook(rows: &str, texts: &str) -> Vec<u8> {
    let sheets = format!(
        r#"<workbook xmlns:r="{OFFICE}"><sheets>
        <sheet name="Secret" sheetId="1" state="hidden" r:id="r1"/>
        <sheet name="Sales &amp; more" sheetId="2" r:id="r2"/></sheets></workbook>"#
    );
    let related = format!(
        r#"{RELATIONS}<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>
        <Relationship Id="r2" Type="{OFFICE}/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#
    );
    let root = format!(
        r#"{RELATIONS}<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
    );
    let styles =
        r#"<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;
    let sheet = |rows: &str| format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", &root),
        ("xl/workbook.xml", &sheets),
        ("xl/_rels/workbook.xml.rels", &related),
        ("xl/styles.xml", styles),
        ("xl/sharedStrings.xml", texts),
        (
            "xl/worksheets/sheet1.xml",
            &sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#),
        ),
        ("xl/worksheets/sheet2.xml", &sheet(rows)),
    ])
}
