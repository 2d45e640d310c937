//! The pairs to measure: our rendering, and a library that writes the same bytes.

use refract_lens_rendering::{Format, RowFormat};

use crate::download::Download;
use crate::ready::{Cell, ReadyJson, ReadyRecords};

/// Appends a rendering to a buffer.
pub(crate) type Write<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;

pub(crate) struct Pair<'a> {
    pub(crate) what: &'static str,
    pub(crate) library: &'static str,
    pub(crate) ours: Write<'a>,
    pub(crate) theirs: Write<'a>,
    /// Length of the rendering.
    pub(crate) bytes: u64,
}

pub(crate) fn pairs<'a>(batches: &'a Download, all_at_once: &'a Download) -> Vec<Pair<'a>> {
    let one = |format| -> Write<'a> { Box::new(move |out| batches.render_first(format, out)) };
    let rows = |download: &'a Download, format| -> Write<'a> {
        Box::new(move |out| download.render_all(format, out))
    };
    vec![
        pair("one result, json", one(Format::Json), json),
        pair("one result, raw", one(Format::Raw), json),
        pair("one result, csv", one(Format::Csv), csv),
        pair("one result, tsv", one(Format::Tsv), tsv),
        pair("one result, jsonl", one(Format::Jsonl), jsonl),
        pair("10,000 rows, csv", rows(batches, RowFormat::Csv), csv),
        pair(
            "10,000 rows, csv from text",
            rows(batches, RowFormat::Csv),
            csv_from_text,
        ),
        pair("10,000 rows, jsonl", rows(batches, RowFormat::Jsonl), jsonl),
        pair(
            "10,000 rows at once, csv",
            rows(all_at_once, RowFormat::Csv),
            csv,
        ),
        pair(
            "10,000 rows at once, jsonl",
            rows(all_at_once, RowFormat::Jsonl),
            jsonl,
        ),
    ]
}

/// Makes the library's side of a pair. It parses the values from these bytes before the
/// measurement.
type ByLibrary = fn(&[u8]) -> (&'static str, Write<'static>);

fn pair<'a>(what: &'static str, ours: Write<'a>, by_library: ByLibrary) -> Pair<'a> {
    let (mut body, mut by_their_side) = (Vec::new(), Vec::new());
    ours(&mut body);
    let (library, theirs) = by_library(&body);
    theirs(&mut by_their_side);
    assert!(body == by_their_side, "{what}: the bytes differ");
    Pair {
        what,
        library,
        ours,
        theirs,
        bytes: body.len().try_into().unwrap(),
    }
}

fn json(body: &[u8]) -> (&'static str, Write<'static>) {
    let value = ReadyJson::read(body);
    ("serde_json", Box::new(move |out| value.write(out)))
}

fn jsonl(body: &[u8]) -> (&'static str, Write<'static>) {
    let lines = ReadyJson::read(body);
    ("serde_json", Box::new(move |out| lines.write_lines(out)))
}

fn csv(body: &[u8]) -> (&'static str, Write<'static>) {
    let rows = ReadyRecords::read(body, b',', Cell::read);
    (
        "csv",
        Box::new(move |out| rows.write(out, |writer, row| writer.serialize(row))),
    )
}

fn tsv(body: &[u8]) -> (&'static str, Write<'static>) {
    let rows = ReadyRecords::read(body, b'\t', Cell::read);
    (
        "csv",
        Box::new(move |out| rows.write(out, |writer, row| writer.serialize(row))),
    )
}

/// A lower bound for any writer: every cell is text already, and all cells are adjacent in one
/// buffer.
fn csv_from_text(body: &[u8]) -> (&'static str, Write<'static>) {
    let rows = ReadyRecords::read(body, b',', |cells| cells);
    (
        "csv",
        Box::new(move |out| rows.write(out, csv::Writer::write_byte_record)),
    )
}
