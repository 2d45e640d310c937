#!/bin/sh
# prometheus-parse, a Rust crate for metrics in Prometheus' text format, loses labels and series of valid metrics. A
# label whose value has an equals sign is left out, so that two series of `question="a=1"` and `question="a=2"` come out
# as one and the same; of a value with a comma, the part after it is cut off; a series whose value has a closing brace
# is not there at all. Escaped quotes and backslashes stay as they are written, one of them without its end. All without
# an error. Most would expect the labels: the format allows any character in a value, and escapes backslash, quote and
# line feed alone. Names of options, paths and versions of models have such characters. The manual has no word on it; a
# public proposal has had the equals sign, and a comment on it the comma, since 2024.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "labels"
version = "0.0.0"
edition = "2021"

[dependencies]
prometheus-parse = "=0.2.5"
TOML
cat >"$folder/src/main.rs" <<'RUST'
use prometheus_parse::Scrape;

const METRICS: &str = r#"# TYPE answers_total counter
answers_total{model="small",question="angry"} 1
answers_total{model="small",question="level=1"} 2
answers_total{model="small",question="level=2"} 3
answers_total{model="small",question="billing, refund"} 4
answers_total{model="small",question="{topic}"} 5
answers_total{model="small",question="is it \"spam\""} 6
"#;

fn main() {
    let scrape = Scrape::parse(METRICS.lines().map(|line| Ok(line.to_owned()))).expect("metrics");
    let found: Vec<_> = scrape
        .samples
        .iter()
        .map(|sample| (format!("{:?}", sample.value), sample.labels.get("question").map(str::to_owned)))
        .collect();
    for (value, question) in &found {
        println!("{value}: question {question:?}");
    }
    let expected = [
        ("Counter(1.0)", Some("angry")),
        ("Counter(2.0)", None),
        ("Counter(3.0)", None),
        ("Counter(4.0)", Some("billing")),
        ("Counter(6.0)", Some(r#"is it \"spam\"#)),
    ];
    let as_expected = found.len() == expected.len()
        && found.iter().zip(expected).all(|((value, question), (a, b))| value == a && question.as_deref() == b);
    std::process::exit(if as_expected { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'prometheus-parse'
echo "expected: six series, each with its question"
"$folder/target/debug/labels"
