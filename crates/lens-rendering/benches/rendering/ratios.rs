//! The table of ratios. The two sides of each pair are measured alternately.

use std::time::{Duration, Instant};

use crate::pairs::{Pair, Write};

/// Measurements of each side. The fastest one counts, since other load can only slow it down.
const TURNS: u32 = 100;

#[expect(clippy::print_stdout, reason = "a bench prints what it found")]
pub(crate) fn print(pairs: &[Pair<'_>]) {
    println!(
        "\n{:28}{:>12}{:>12}{:>8}",
        "microseconds", "refract", "library", "ratio"
    );
    for pair in pairs {
        let (ours, theirs) = fastest(pair);
        println!(
            "{:28}{:>12.2}{:>12.2}{:>8.2}  {}",
            pair.what,
            ours.as_secs_f64() * 1e6,
            theirs.as_secs_f64() * 1e6,
            theirs.as_secs_f64() / ours.as_secs_f64(),
            pair.library,
        );
    }
    println!("ratio: refract's speed over the library's; above 1 refract is faster");
}

/// The fastest time of one rendering, for our side and for the library's.
fn fastest(pair: &Pair<'_>) -> (Duration, Duration) {
    let mut out = Vec::new();
    let times = repetitions(&pair.ours, &mut out);
    let mut fastest = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        fastest.0 = fastest.0.min(time(&pair.ours, times, &mut out));
        fastest.1 = fastest.1.min(time(&pair.theirs, times, &mut out));
    }
    fastest
}

/// A number of renderings that together take at least 5 ms.
fn repetitions(write: &Write<'_>, out: &mut Vec<u8>) -> u32 {
    let mut times = 1;
    while time(write, times, out) * times < Duration::from_millis(5) {
        times *= 2;
    }
    times
}

/// Mean time of one rendering over `times` renderings.
fn time(write: &Write<'_>, times: u32, out: &mut Vec<u8>) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        out.clear();
        write(out);
        std::hint::black_box(&out);
    }
    start.elapsed() / times
}
