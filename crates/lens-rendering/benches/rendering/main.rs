//! Compares rendering with `serde_json` and `csv`, which write the same bytes from prepared values.
//!
//! Criterion measures both sides. A table of ratios follows, measured alternately, so that other
//! load on the machine slows both sides equally. For the table alone:
//! `cargo bench --bench rendering -- ratios`.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a bench that cannot run fails where it stands"
)]

mod download;
mod pairs;
mod ratios;
mod ready;

use std::hint::black_box;

use criterion::{Criterion, Throughput};

use download::Download;
use pairs::{Pair, pairs};

fn main() {
    let mut criterion = Criterion::default().sample_size(20).configure_from_args();
    // a download reads results in batches, so that a result is in the cache when it is rendered
    let (batches, all_at_once) = (Download::new(100, 100), Download::new(10_000, 1));
    let pairs = pairs(&batches, &all_at_once);
    for pair in &pairs {
        measure(&mut criterion, pair);
    }
    criterion.final_summary();
    ratios::print(&pairs);
}

fn measure(criterion: &mut Criterion, pair: &Pair<'_>) {
    let mut group = criterion.benchmark_group(pair.what);
    group.throughput(Throughput::Bytes(pair.bytes));
    let mut out = Vec::new();
    for (name, write) in [("refract", &pair.ours), (pair.library, &pair.theirs)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                out.clear();
                write(&mut out);
                black_box(&out);
            });
        });
    }
}
