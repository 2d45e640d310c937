#!/bin/sh
# stats-ci, a Rust crate for confidence intervals, counts one success too few where it is given a rate. For 29 right of
# 100 texts, `ci_wilson` has 21.0 to 38.5 percent, and `ci_wilson_ratio` for 100 texts and a rate of 0.29 has 20.1 to
# 37.5, which is the interval of 28. So it is for 57 and 58 of 100, and for 29, 57, 58, 113, 114, 115 and 116 of 200. A
# rate that was rounded fares worse: of 333 of 1000 texts as a share of 0.333 the count is right, of one third of 30
# texts as 0.333 it is 9. The manual says that the one function is simply a front for the other. It multiplies, which
# gives 28.999999999999996, and cuts off what is behind the point. No error, no warning. Most would expect the nearest
# count, and one interval from both functions for the same texts. `quantile::ci` of the same crate does round. Public
# issues have nothing of it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "intervals"
version = "0.0.0"
edition = "2021"

[dependencies]
stats-ci = "=0.1.1"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use stats_ci::{proportion, Confidence};

fn main() {
    let confidence = Confidence::new_two_sided(0.95);
    let of_count = |texts, right| proportion::ci_wilson(confidence, texts, right).unwrap();
    let of_rate = |texts, rate| proportion::ci_wilson_ratio(confidence, texts, rate).unwrap();
    println!("29 of 100: expected {}, as a rate of 0.29 {}", of_count(100, 29), of_rate(100, 0.29));
    println!("28 of 100: {}", of_count(100, 28));
    let mut found = Vec::new();
    for texts in [100, 200] {
        let differ: Vec<usize> = (2..texts - 1)
            .filter(|right| of_rate(texts, *right as f64 / texts as f64) != of_count(texts, *right))
            .collect();
        let fewer =
            differ.iter().all(|right| of_rate(texts, *right as f64 / texts as f64) == of_count(texts, right - 1));
        println!("of {texts} texts, another interval for {differ:?}; that of one fewer each time: {fewer}");
        found.push((differ, fewer));
    }
    let third = of_rate(30, 0.333) == of_count(30, 9) && of_rate(1000, 0.333) == of_count(1000, 333);
    println!("a rate of 0.333 of 30 texts is 9 of them, of 1000 texts 333: {third}");
    let wanted = [(vec![29, 57, 58], true), (vec![29, 57, 58, 113, 114, 115, 116], true)];
    std::process::exit(if found == wanted && third { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'stats-ci'
"$folder/target/debug/intervals"
