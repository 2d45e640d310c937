#!/bin/sh
# pav_regression, a Rust crate for isotonic regression, gives probabilities below 0 and above 1 for the very texts that
# it learned from. It is given 200 probabilities of a model and whether each was right, 1 or 0, and asked for the same
# 200: 9 come out below 0 and 9 above 1, down to -0.05 and up to 1.05. Isotonic regression is made of means of
# neighbours, and so cannot leave what it was given; scikit-learn's has 0 to 1 there, and so has the one in the script.
# The crate keeps each group of neighbours as one point in its middle, draws lines from point to point, and goes on with
# a line beyond the middle of the first and of the last group, where half of their members are. No error, no warning; a
# Brier score or a cross-entropy of such figures is wrong or not a number. Most would expect probabilities: the manual's
# own example is the probability that somebody buys, and says of extrapolation that it is for values outside of the
# training data. Public issues have nothing of it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "isotonic"
version = "0.0.0"
edition = "2021"

[dependencies]
pav_regression = "=0.7.0"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use pav_regression::{IsotonicRegression, Point};

/// The means of neighbours that isotonic regression consists of, for outcomes in the order of their probabilities.
fn means(outcomes: &[f64]) -> Vec<f64> {
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for outcome in outcomes {
        groups.push((*outcome, 1));
        while groups.len() > 1 {
            let (last, before) = (groups[groups.len() - 1], groups[groups.len() - 2]);
            if before.0 / (before.1 as f64) < last.0 / (last.1 as f64) {
                break;
            }
            groups.truncate(groups.len() - 2);
            groups.push((before.0 + last.0, before.1 + last.1));
        }
    }
    groups.iter().flat_map(|(sum, count)| vec![sum / *count as f64; *count]).collect()
}

fn range(values: &[f64]) -> [f64; 2] {
    let [low, high] = values.iter().fold([1.0f64, 0.0], |[low, high], value| [low.min(*value), high.max(*value)]);
    [(low * 1000.0).round() / 1000.0, (high * 1000.0).round() / 1000.0]
}

fn main() {
    let probabilities: Vec<f64> = (0..200).map(|text| text as f64 / 200.0).collect();
    let outcomes: Vec<f64> =
        (0..200).map(|text| if text * 37 % 100 * 2 < text { 1.0 } else { 0.0 }).collect();
    let points: Vec<Point<f64>> = probabilities.iter().zip(&outcomes).map(|(p, y)| Point::new(*p, *y)).collect();
    let regression = IsotonicRegression::new_ascending(&points).unwrap();
    let found: Vec<f64> = probabilities.iter().map(|p| regression.interpolate(*p).unwrap()).collect();
    let expected = means(&outcomes);
    let (below, above) =
        (found.iter().filter(|p| **p < -1e-9).count(), found.iter().filter(|p| **p > 1.0 + 1e-9).count());
    println!("expected: from {} to {}", range(&expected)[0], range(&expected)[1]);
    println!("found: from {} to {}, {below} below 0, {above} above 1", range(&found)[0], range(&found)[1]);
    let is_so = range(&expected) == [0.0, 1.0] && range(&found) == [-0.05, 1.047] && (below, above) == (9, 9);
    std::process::exit(if is_so { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'pav_regression'
"$folder/target/debug/isotonic"
