//! Rendering beside `serde_json` and `csv`, which write the same bytes from ready values.
//!
//! `cargo bench -p refract-lens-rendering --bench rendering` measures with criterion and prints a
//! table of ratios at the end.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot run fails where it stands"
)]

mod downloads;
mod ratios;
mod ready;

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use refract_lens_rendering::{Format, RowFormat};

use downloads::Downloads;
use ready::{ReadyCells, ReadyJson};

/// Rows of the download; each has 20 columns.
const ROWS: usize = 10_000;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let downloads = Downloads::of(ROWS);
    one_result(&mut criterion, &downloads);
    many_rows(&mut criterion, &downloads);
    criterion.final_summary();
    ratios::print(&downloads);
}

fn one_result(criterion: &mut Criterion, downloads: &Downloads) {
    let mut group = criterion.benchmark_group("one result");
    for format in [
        Format::Json,
        Format::Raw,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
    ] {
        let mut out = Vec::new();
        downloads.render_first(format, &mut out);
        group.throughput(Throughput::Bytes(out.len().try_into().unwrap_or(u64::MAX)));
        group.bench_function(format.name(), |bencher| {
            bencher.iter(|| {
                out.clear();
                downloads.render_first(format, &mut out);
                black_box(&out);
            });
        });
    }
}

fn many_rows(criterion: &mut Criterion, downloads: &Downloads) {
    let mut group = criterion.benchmark_group("10,000 rows");
    group.sample_size(20);
    for format in [RowFormat::Csv, RowFormat::Jsonl] {
        let mut out = Vec::new();
        downloads.render_all(format, &mut out);
        group.throughput(Throughput::Bytes(out.len().try_into().unwrap_or(u64::MAX)));
        group.bench_function(format.name(), |bencher| {
            bencher.iter(|| {
                out.clear();
                downloads.render_all(format, &mut out);
                black_box(&out);
            });
        });
    }
    let mut out = Vec::new();
    downloads.render_all(RowFormat::Csv, &mut out);
    let cells = ReadyCells::read(&out, b',');
    group.bench_function("csv by the csv crate", |bencher| {
        bencher.iter(|| {
            out.clear();
            cells.write(&mut out);
            black_box(&out);
        });
    });
    out.clear();
    downloads.render_all(RowFormat::Jsonl, &mut out);
    let rows = ReadyJson::read_lines(&out);
    group.bench_function("jsonl by serde_json", |bencher| {
        bencher.iter(|| {
            out.clear();
            rows.write_lines(&mut out);
            black_box(&out);
        });
    });
}
