#!/bin/sh
# linfa, a machine-learning crate for Rust, gives a wrong area under the ROC curve as soon as texts of both kinds have a
# probability of 0. A model that says 0, 0, 0, 0, 0.8 and 0.9, of which the last two and one of the others are right,
# has an area of 0.83: as often does a right one have the higher probability, ties counted half. linfa gives 0.67, and
# 0.83 once each 0 is a 0.01; if all are 0 it gives 0, the worst there is, and 0.5, chance, if all are 0.5. No error, no
# warning. The curve has to begin at (0, 0); linfa puts a point where a probability differs from the one before, takes 0
# as the one before the first, and so leaves that point out. Probabilities of 0 are common: rounded ones, those of rules
# and of trees, and those of options that a model server does not list. Most would expect 0.83 and 0.5. The manual has
# nothing of it, nor have public issues.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "area"
version = "0.0.0"
edition = "2021"

[dependencies]
linfa = "=0.8.1"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use linfa::dataset::Pr;
use linfa::prelude::*;

const RIGHT: [bool; 6] = [false, false, false, true, true, true];

/// How often a right one has the higher probability, ties counted half.
fn counted(probabilities: &[f32; 6]) -> f32 {
    let of = |kind: bool| (0..6).filter(move |text| RIGHT[*text] == kind).map(|text| probabilities[text]);
    let won: f32 = of(true)
        .flat_map(|yes| of(false).map(move |no| if yes > no { 1.0 } else if yes == no { 0.5 } else { 0.0 }))
        .sum();
    won / 9.0
}

fn main() {
    let mut found = Vec::new();
    for probabilities in [
        [0.0, 0.0, 0.0, 0.0, 0.8, 0.9],
        [0.01, 0.01, 0.01, 0.01, 0.8, 0.9],
        [0.0, 0.1, 0.2, 0.1, 0.8, 0.9],
        [0.0; 6],
        [0.5; 6],
    ] {
        let said: Vec<Pr> = probabilities.iter().map(|value| Pr::new(*value)).collect();
        let curve = said.as_slice().roc(&RIGHT).unwrap();
        let areas = [curve.area_under_curve(), counted(&probabilities)].map(|area| (area * 1000.0).round() / 1000.0);
        println!("{probabilities:?}: linfa {}, expected {}; curve {:?}", areas[0], areas[1], curve.get_curve());
        found.push(areas);
    }
    let is_so = found == [[0.667, 0.833], [0.833, 0.833], [0.833, 0.833], [0.0, 0.5], [0.5, 0.5]];
    std::process::exit(if is_so { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'linfa'
"$folder/target/debug/area"
