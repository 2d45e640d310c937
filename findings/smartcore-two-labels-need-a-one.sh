#!/bin/sh
# smartcore, a Rust crate for machine learning, has a precision, a recall and an F1 for any number of classes, as the
# mean over the classes. If the right answers happen to have two of them, it takes the class 1 as the one that counts,
# though there may be none: of three topics 0, 1 and 2, a batch without topic 1 that is answered without an error has a
# precision and a recall of 0 and an F1 that is not a number. With one text of topic 1 more, all three are 1. Labels 2
# and 3, or 10 and 20, have 0 as well. No error, no warning; accuracy is right. The manual has the mean over classes for
# several, and for two the positive class, "assumed to be 1.0", without a word of what holds if it is not there, nor that
# a batch decides which of the two is meant. Most would expect 1, as scikit-learn's means have, or an error for labels
# without a 1. Measured per day or per person, single figures fall to 0 where all is right.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "topics"
version = "0.0.0"
edition = "2021"

[dependencies]
smartcore = "=0.7.0"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use smartcore::metrics::{accuracy, f1, precision, recall};

fn main() {
    let batches: [(&str, Vec<i64>); 5] = [
        ("topics 0 and 2", vec![0, 2, 2, 0, 2, 0]),
        ("one of topic 1 more", vec![0, 2, 2, 0, 2, 0, 1]),
        ("topics 0 and 1", vec![0, 1, 1, 0, 1, 0]),
        ("levels 10 and 20", vec![10, 20, 20, 10]),
        ("topic 2 only", vec![2, 2, 2]),
    ];
    let mut found = Vec::new();
    for (name, labels) in batches {
        let of_ranks: Vec<f64> = labels.iter().map(|&label| label as f64).collect();
        let (right, answers) = (&of_ranks, &of_ranks.clone());
        let figures = [precision(right, answers), recall(right, answers), f1(right, answers, 1.0)];
        println!("{name}: accuracy {}, precision, recall and F1 {figures:?}", accuracy(&labels, &labels.clone()));
        found.push(figures.map(|figure| if figure.is_nan() { -1.0 } else { figure }));
    }
    let (wrong, all) = ([0.0, 0.0, -1.0], [1.0; 3]);
    std::process::exit(if found == [wrong, all, all, wrong, all] { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep smartcore
echo "expected: 1 for each figure of each batch, as all answers are right"
"$folder/target/debug/topics"
