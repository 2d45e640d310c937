//! Writes the parts of an Excel workbook (.xlsx) with one sheet, row by row: what is ready is handed
//! over, so memory stays the same at any number of rows, and no text is kept in a temporary file.
//!
//! No cell is ever a formula: texts are texts whatever they begin with.

use std::fmt::Write as _;
use std::io::{self, Write};

use chrono::{DateTime, Utc};
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};

use super::WORKBOOK_ROWS;
use super::ready_bytes::ReadyBytes;
use super::row_cells::{SheetCell, SheetColumn};
use crate::input::{CUT_MARK, listed};

/// Upper bound on the columns of a sheet.
const COLUMNS: usize = 16_384;
/// Upper bound on the UTF-16 code units of a cell.
const CELL_UNITS: usize = 32_767;
/// Upper bound on the bytes of the sheet: the archive's entry counts them in 32 bits.
const SHEET_BYTES: u64 = 0xF000_0000;
/// Widths of columns, in characters.
const NARROW: u32 = 14;
const MIDDLE: u32 = 22;
const WIDE: u32 = 60;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// Style of a text that a spreadsheet would take for a formula once a person edits it.
const QUOTED: u8 = 2;

/// A workbook that is being written.
pub(crate) struct WorkbookWriter {
    zip: ZipWriter<StreamWriter<ReadyBytes>>,
    ready: ReadyBytes,
    names: Vec<String>,
    row: u64,
    bytes: u64,
    cut_texts: u64,
}

impl WorkbookWriter {
    /// A workbook whose sheet has this name, and a header with the names of these columns.
    pub(crate) fn new(sheet: &str, columns: &[(String, SheetColumn)]) -> io::Result<Self> {
        if columns.len() >= COLUMNS {
            return Err(io::Error::other(
                "a sheet has at most 16,384 columns: write csv, tsv or jsonl",
            ));
        }
        let ready = ReadyBytes::default();
        let mut zip = ZipWriter::new_stream(ready.clone());
        let escaped = |text: &str| {
            let mut out = String::new();
            push_escaped(text, &mut out);
            out
        };
        for (name, content) in [
            ("[Content_Types].xml", content_types()),
            ("_rels/.rels", relation("officeDocument", "xl/workbook.xml")),
            (
                "xl/workbook.xml",
                format!(
                    r#"{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="{}" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
                    escaped(sheet)
                ),
            ),
            ("xl/_rels/workbook.xml.rels", workbook_relations()),
            ("xl/styles.xml", styles()),
        ] {
            zip.start_file(name, SimpleFileOptions::default())
                .map_err(failed)?;
            zip.write_all(content.as_bytes())?;
        }
        let name = "xl/worksheets/sheet1.xml";
        zip.start_file(name, SimpleFileOptions::default())
            .map_err(failed)?;
        let mut writer = Self {
            zip,
            ready,
            names: columns.iter().map(|(name, _)| name.clone()).collect(),
            row: 0,
            bytes: 0,
            cut_texts: 0,
        };
        writer.put(&begin_of_sheet(columns))?;
        writer.write_header()?;
        Ok(writer)
    }

    fn write_header(&mut self) -> io::Result<()> {
        let names = std::mem::take(&mut self.names);
        self.row += 1;
        let mut row = format!(r#"<row r="{}">"#, self.row);
        for (column, name) in names.iter().enumerate() {
            push_text(column, self.row, 3, name, &mut row);
        }
        row.push_str("</row>");
        self.names = names;
        self.put(&row)
    }

    /// Writes a row. Returns the bytes that are ready, mostly none.
    pub(crate) fn write_row<'c>(
        &mut self,
        cells: impl IntoIterator<Item = SheetCell<'c>>,
    ) -> io::Result<Vec<u8>> {
        if self.row > WORKBOOK_ROWS {
            return Err(io::Error::other(
                "a workbook has at most 1,048,575 rows: write csv, tsv or jsonl",
            ));
        }
        self.row += 1;
        let mut row = format!(r#"<row r="{}">"#, self.row);
        let mut cut = Vec::new();
        for (column, cell) in cells.into_iter().take(self.names.len()).enumerate() {
            match cell {
                SheetCell::Empty | SheetCell::Text("") => {}
                SheetCell::Text(text) => {
                    let whole = within_cell(text);
                    if whole.len() < text.len() {
                        cut.extend(self.names.get(column).cloned());
                    }
                    let style = if is_like_formula(text) { QUOTED } else { 0 };
                    push_text(column, self.row, style, whole, &mut row);
                }
                SheetCell::Number(number) => push_number(column, self.row, 0, number, &mut row),
                SheetCell::Moment(moment) => {
                    push_number(column, self.row, 1, serial(moment), &mut row);
                }
            }
        }
        if !cut.is_empty() {
            self.cut_texts += u64::try_from(cut.len()).unwrap_or_default();
            let mark = format!("{CUT_MARK}{}", listed(&cut));
            push_text(self.names.len(), self.row, 0, &mark, &mut row);
        }
        row.push_str("</row>");
        self.put(&row)?;
        Ok(self.ready.take())
    }

    /// Number of texts that were too long for a cell.
    pub(crate) fn cut_texts(&self) -> u64 {
        self.cut_texts
    }

    /// Ends the workbook and returns its last bytes.
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        self.put("</sheetData></worksheet>")?;
        self.zip.finish().map_err(failed)?;
        Ok(self.ready.take())
    }

    fn put(&mut self, xml: &str) -> io::Result<()> {
        self.bytes += u64::try_from(xml.len()).unwrap_or(u64::MAX);
        if self.bytes > SHEET_BYTES {
            return Err(io::Error::other(
                "the rows have over 3.75 GiB, too many for a workbook: write csv, tsv or jsonl",
            ));
        }
        self.zip.write_all(xml.as_bytes())
    }
}

fn failed(error: ZipError) -> io::Error {
    io::Error::other(error)
}

fn relation(kind: &str, target: &str) -> String {
    format!(
        r#"{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>"#
    )
}

fn workbook_relations() -> String {
    format!(
        r#"{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>"#
    )
}

fn content_types() -> String {
    let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let relations = "application/vnd.openxmlformats-package.relationships+xml";
    format!(
        r#"{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="{relations}"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/></Types>"#
    )
}

/// The styles of cells: 0 for most, 1 for moments, [`QUOTED`], 3 for the header.
fn styles() -> String {
    format!(
        r#"{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#
    )
}

/// The sheet up to its rows: the header stays in sight, and columns have the widths of what they hold.
fn begin_of_sheet(columns: &[(String, SheetColumn)]) -> String {
    let mut sheet = format!(
        r#"{HEAD}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>"#
    );
    if !columns.is_empty() {
        sheet.push_str("<cols>");
        for ((_, kind), number) in columns.iter().zip(1..) {
            let width = match kind {
                SheetColumn::Text | SheetColumn::Moment => MIDDLE,
                SheetColumn::LongText => WIDE,
                SheetColumn::Number => NARROW,
            };
            // writing into memory cannot fail
            let _ = write!(
                sheet,
                r#"<col min="{number}" max="{number}" width="{width}" customWidth="1"/>"#
            );
        }
        sheet.push_str("</cols>");
    }
    sheet.push_str("<sheetData>");
    sheet
}

/// The letters of a column, counted from 0.
fn letters(column: usize) -> String {
    let mut letters = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        let letter = u8::try_from((left - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'A' + letter));
        left = (left - 1) / 26;
    }
    letters.iter().rev().collect()
}

fn push_text(column: usize, row: u64, style: u8, text: &str, out: &mut String) {
    let column = letters(column);
    let _ = write!(
        out,
        r#"<c r="{column}{row}" s="{style}" t="inlineStr"><is><t xml:space="preserve">"#
    );
    push_escaped(text, out);
    out.push_str("</t></is></c>");
}

fn push_number(column: usize, row: u64, style: u8, number: f64, out: &mut String) {
    let column = letters(column);
    let _ = write!(
        out,
        r#"<c r="{column}{row}" s="{style}"><v>{number}</v></c>"#
    );
}

/// A text in XML. Characters that XML has not, and text that a spreadsheet would take for one of
/// those, are written as spreadsheets do: `_x0001_`.
fn push_escaped(text: &str, out: &mut String) {
    for (place, character) in text.char_indices() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(character),
            // as itself it would be read as a line feed
            '\r' => out.push_str("&#13;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "_x{:04X}_", u32::from(character));
            }
            '_' if is_escape(text.get(place..).unwrap_or_default()) => out.push_str("_x005F_"),
            _ => out.push(character),
        }
    }
}

/// Whether a text begins with a character as spreadsheets escape it.
fn is_escape(text: &str) -> bool {
    match text.as_bytes() {
        [b'_', b'x' | b'X', digits @ ..] => {
            let digits = digits.first_chunk::<5>();
            digits.is_some_and(|[digits @ .., end]| {
                digits.iter().all(u8::is_ascii_hexdigit) && *end == b'_'
            })
        }
        _ => false,
    }
}

/// Whether a person who edits the cell would make a formula or a number of it.
fn is_like_formula(text: &str) -> bool {
    let first = text.as_bytes().first();
    first.is_some_and(|first| b"=+-@'".contains(first) || first.is_ascii_digit())
}

/// As much of a text as a cell holds.
fn within_cell(text: &str) -> &str {
    // a code unit takes at least one byte
    if text.len() <= CELL_UNITS {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16();
        units > CELL_UNITS
    });
    end.map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// A moment as days since the beginning of 1900, as spreadsheets count them.
fn serial(moment: DateTime<Utc>) -> f64 {
    /// The number of 1970-01-01.
    const EPOCH: f64 = 25_569.0;
    let days = moment.timestamp().div_euclid(86_400);
    let rest = moment.timestamp().rem_euclid(86_400);
    let days = i32::try_from(days).map_or(0.0, f64::from);
    let seconds = i32::try_from(rest).map_or(0.0, f64::from);
    let millis = f64::from(moment.timestamp_subsec_millis());
    EPOCH + days + (seconds + millis / 1000.0) / 86_400.0
}

#[cfg(test)]
mod tests;
