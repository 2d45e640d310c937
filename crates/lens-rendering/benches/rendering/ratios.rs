//! How fast the renderer is beside the libraries: both sides measured in turns, one table.

use std::time::{Duration, Instant};

use refract_lens_rendering::{Format, RowFormat};

use crate::downloads::Downloads;
use crate::ready::{ReadyCells, ReadyJson};

/// Turns of each side; the fastest counts, since whatever else runs here only slows one down.
const TURNS: u32 = 30;

/// Appends a rendering.
type Write<'a> = Box<dyn Fn(&mut Vec<u8>) + 'a>;

/// One line of the table: what is written, by whom else, and both ways to write it.
struct Pair<'a> {
    what: String,
    library: &'static str,
    ours: Write<'a>,
    theirs: Write<'a>,
}

#[expect(clippy::print_stdout, reason = "a bench prints what it found")]
pub(crate) fn print(downloads: &Downloads) {
    println!(
        "\n{:24} {:>12} {:>12} {:>8}",
        "same bytes, us", "refract", "library", "ratio"
    );
    for pair in pairs(downloads) {
        assert_same_bytes(&pair);
        let (ours, theirs) = measure(&pair);
        println!(
            "{:24} {:>12.2} {:>12.2} {:>8.2}  beside {}",
            pair.what,
            ours.as_secs_f64() * 1e6,
            theirs.as_secs_f64() * 1e6,
            theirs.as_secs_f64() / ours.as_secs_f64(),
            pair.library,
        );
    }
    println!("ratio: speed of refract over that of the library; 1 is as fast");
}

fn pairs(downloads: &Downloads) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    for format in [
        Format::Json,
        Format::Raw,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
    ] {
        let mut body = Vec::new();
        downloads.render_first(format, &mut body);
        pairs.push(Pair {
            what: format!("one result, {}", format.name()),
            library: library(format),
            ours: Box::new(move |out| downloads.render_first(format, out)),
            theirs: by_library(format, &body),
        });
    }
    for (format, single) in [
        (RowFormat::Csv, Format::Csv),
        (RowFormat::Tsv, Format::Tsv),
        (RowFormat::Jsonl, Format::Jsonl),
    ] {
        let mut body = Vec::new();
        downloads.render_all(format, &mut body);
        pairs.push(Pair {
            what: format!("{} rows, {}", downloads.len(), format.name()),
            library: library(single),
            ours: Box::new(move |out| downloads.render_all(format, out)),
            theirs: by_library(single, &body),
        });
    }
    pairs
}

fn library(format: Format) -> &'static str {
    match format {
        Format::Json | Format::Raw | Format::Jsonl => "serde_json",
        Format::Csv | Format::Tsv => "csv",
    }
}

fn by_library(format: Format, body: &[u8]) -> Write<'static> {
    match format {
        Format::Json | Format::Raw => {
            let ready = ReadyJson::read_lines(body);
            Box::new(move |out| ready.write(out))
        }
        Format::Jsonl => {
            let ready = ReadyJson::read_lines(body);
            Box::new(move |out| ready.write_lines(out))
        }
        Format::Csv | Format::Tsv => {
            let ready = ReadyCells::read(body, if format == Format::Csv { b',' } else { b'\t' });
            Box::new(move |out| ready.write(out))
        }
    }
}

fn assert_same_bytes(pair: &Pair<'_>) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    (pair.ours)(&mut ours);
    (pair.theirs)(&mut theirs);
    assert!(ours == theirs, "{}: not the same bytes", pair.what);
}

/// Time of one rendering, ours and theirs.
fn measure(pair: &Pair<'_>) -> (Duration, Duration) {
    let mut out = Vec::new();
    let mut fastest = (Duration::MAX, Duration::MAX);
    let times = repetitions(&pair.ours, &mut out);
    for _ in 0..TURNS {
        fastest.0 = fastest.0.min(time(&pair.ours, times, &mut out));
        fastest.1 = fastest.1.min(time(&pair.theirs, times, &mut out));
    }
    fastest
}

/// As many as take about 5 ms.
fn repetitions(write: &Write<'_>, out: &mut Vec<u8>) -> u32 {
    let mut times = 1;
    while time(write, times, out) * times < Duration::from_millis(5) {
        times *= 2;
    }
    times
}

fn time(write: &Write<'_>, times: u32, out: &mut Vec<u8>) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        out.clear();
        write(out);
        std::hint::black_box(&out);
    }
    start.elapsed() / times
}
