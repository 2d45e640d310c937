#!/bin/sh
# accept-header, a Rust crate that picks the format of an answer by the `Accept` of a request, picks formats that the
# request refuses. A weight of 0 means "not acceptable" in HTTP: for "text/csv;q=0, */*", which is anything but CSV, it
# picks CSV, for "application/json;q=0" JSON, and for "*/*;q=0" the first one. It also picks what is wanted least, if it
# is named: JSON for "application/json;q=0.1, */*", where everything else has a weight of 1. And of "text/*", which is
# any text, and "application/*" it finds nothing and says 406. No error else, no warning: the answers come as CSV to a
# client that has said it cannot read CSV. Most would expect what RFC 9110 says in 12.4.2 and 12.5.1: a weight of 0
# rules a type out, the most specific range that matches gives a type its weight, the highest weight wins. The manual
# calls the crate basic, and promises "the most suitable" format. Public issues are about the wildcards of other crates.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "formats"
version = "0.0.0"
edition = "2021"

[dependencies]
accept-header = "=0.2.3"
mime = "=0.3.17"
TOML
cat >"$folder/src/main.rs" <<'RUST'
fn main() {
    let formats: Vec<mime::Mime> =
        ["text/csv", "application/json", "application/x-ndjson"].iter().map(|name| name.parse().unwrap()).collect();
    // What a request accepts, what RFC 9110 gives, and what the crate gives.
    let cases = [
        ("application/json", "application/json", "application/json"),
        ("text/csv;q=0.2, application/json;q=0.9", "application/json", "application/json"),
        ("text/csv;q=0, */*", "application/json", "text/csv"),
        ("application/json;q=0", "406", "application/json"),
        ("*/*;q=0", "406", "text/csv"),
        ("application/json;q=0.1, */*", "text/csv", "application/json"),
        ("text/*", "text/csv", "406"),
        ("application/*", "application/json", "406"),
    ];
    let mut is_so = true;
    for (accepted, expected, wanted) in cases {
        let accept: accept_header::Accept = accepted.parse().expect("a header");
        let found = match accept.negotiate(&formats) {
            Ok(format) => format.to_string(),
            Err(status) => status.as_str().to_string(),
        };
        println!("Accept: {accepted}: expected {expected}, found {found}");
        is_so &= found == wanted;
    }
    std::process::exit(if is_so { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 1 | grep -E 'accept-header|mime'
"$folder/target/debug/formats"
