#!/bin/sh
# linfa, a machine-learning crate for Rust, calls recall what is precision, and precision what is recall. Of 20 texts,
# 10 are late; a model says "late" of 4, 3 of them rightly: the precision is 3 of 4 and the recall 3 of 10. linfa gives
# 0.3 and 0.75, for two arrays, as its manual has them, and for two datasets, also in the one-against-all matrices of
# several labels, where the means are swapped too. For an array against a dataset, as its examples have it, it gives
# 0.75 and 0.3 of the same answers: there the matrix is the other way round. No error, no warning. The matrix has the
# answers of the model in its rows for the first two, where the manual has the targets in the rows; comments on the
# layout take a row for what the model calls late, and the code of the precision a column. Most would expect 0.75 and
# 0.3 each time, as counted in the script, or at least the same figures for the same answers. A public request of 2026
# on another score says in passing that linfa's two are oriented the other way; none has that it depends on what they
# are compared with.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "scores"
version = "0.0.0"
edition = "2021"

[dependencies]
linfa = "=0.8.1"
ndarray = "=0.16.1"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use linfa::prelude::*;
use ndarray::{Array1, Array2};

fn main() {
    // What the model says, what is so, and how many texts.
    let counts = [(true, true, 3), (true, false, 1), (false, true, 7), (false, false, 9)];
    let list = |of: fn(&(bool, bool, usize)) -> bool| -> Array1<bool> {
        counts.iter().flat_map(|row| std::iter::repeat(of(row)).take(row.2)).collect()
    };
    let (said, so) = (list(|row| row.0), list(|row| row.1));
    let right = said.iter().zip(&so).filter(|(a, b)| **a && **b).count() as f32;
    let all = |values: &Array1<bool>| values.iter().filter(|value| **value).count() as f32;
    let expected = (right / all(&said), right / all(&so));

    let dataset = |labels: &Array1<bool>| DatasetBase::new(Array2::<f64>::zeros((20, 1)), labels.clone());
    let matrices = [
        ("array, array", said.confusion_matrix(&so).unwrap()),
        ("dataset, dataset", dataset(&said).confusion_matrix(&dataset(&so)).unwrap()),
        ("array, dataset", said.confusion_matrix(&dataset(&so)).unwrap()),
    ];
    println!("expected: precision {}, recall {}", expected.0, expected.1);
    let mut found = Vec::new();
    for (name, matrix) in &matrices {
        println!("{name}: precision {}, recall {}, matrix {matrix:?}", matrix.precision(), matrix.recall());
        found.push((matrix.precision(), matrix.recall()));
    }
    let swapped = (expected.1, expected.0);
    let is_so = expected == (0.75, 0.3) && found == [swapped, swapped, expected];
    std::process::exit(if is_so { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'linfa|ndarray'
"$folder/target/debug/scores"
