#!/bin/sh
# junit-parser, a Rust crate for test reports in JUnit's format, leaves out every escaped character of the texts of
# failures and of what tests print. "wanted 0.8 <= p && p < 1" is written with `&lt;` and `&amp;` in such a report, as
# XML asks for, and read as "wanted 0.8", "= p", "p" and "1", each on its own line; in outputs the pieces are put
# together without what stood between them, so that "a < b" is "a  b" and "R&D" is "RD". Numbers for characters go as
# well. No error, no warning. Messages and names, which are attributes, are right, and so are texts in CDATA. Most would
# expect the text, as Python's reader of XML finds it: a comparison is what a failed test is about. The manual has no
# word on it. Its reader of XML has handed out escaped characters as parts of their own since 2025, which junit-parser
# passes over.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "texts"
version = "0.0.0"
edition = "2021"

[dependencies]
junit-parser = "=1.7.0"
TOML
cat >"$folder/report.xml" <<'XML'
<testsuite name="answers" tests="2" failures="2">
<testcase classname="angry" name="p &lt; 1"><failure message="0.8 &lt;= p &amp;&amp; p &lt; 1">wanted 0.8 &lt;= p &amp;&amp; p &lt; 1</failure><system-out>R&amp;D: a &lt; b, &#65;</system-out></testcase>
<testcase classname="angry" name="in CDATA"><failure message="m"><![CDATA[wanted 0.8 <= p && p < 1]]></failure></testcase>
</testsuite>
XML
cat >"$folder/src/main.rs" <<'RUST'
fn main() {
    let file = std::fs::File::open(std::env::args().nth(1).expect("a file")).expect("the report");
    let report = junit_parser::from_reader(std::io::BufReader::new(file)).expect("a report");
    let mut found = Vec::new();
    for case in report.suites.iter().flat_map(|suite| &suite.cases) {
        if let junit_parser::TestStatus::Failure(failure) = &case.status {
            found.extend([case.name.clone(), failure.message.clone(), failure.text.clone()]);
        }
        found.extend(case.system_out.clone());
    }
    println!("junit-parser: {found:?}");
    let expected = [
        "angry::p < 1",
        "0.8 <= p && p < 1",
        "wanted 0.8\n= p\np\n1",
        "RD: a  b, ",
        "angry::in CDATA",
        "m",
        "wanted 0.8 <= p && p < 1",
    ];
    std::process::exit(if found == expected { 0 } else { 1 });
}
RUST
export CARGO_TARGET_DIR="$folder/target" CARGO_BUILD_JOBS=1
cargo build --quiet --manifest-path "$folder/Cargo.toml" || exit 2
cargo tree --quiet --manifest-path "$folder/Cargo.toml" --depth 2 | grep -E 'junit-parser|quick-xml'
echo "expected: the names, messages, texts and outputs of the report, as Python reads them:"
python3 - "$folder/report.xml" <<'PYTHON'
import sys
import xml.etree.ElementTree as xml

for case in xml.parse(sys.argv[1]).getroot():
    print([case.get("name"), case[0].get("message"), case[0].text, case.findtext("system-out")])
PYTHON
"$folder/target/debug/texts" "$folder/report.xml"
