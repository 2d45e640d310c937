#!/bin/sh
# csvjson writes other texts into a CSV file than it was given: each comma and each line feed becomes a tab, also in
# "0,25". With `wrap: true`, which puts quotes around all fields, commas stay, and quotes inside are not doubled: a text
# that ends with one takes the next rows into itself, and of seven rows another reader finds five. Its own reader makes
# texts with quotes empty, and of a file that follows RFC 4180, with `quote` set, a further row out of a line feed. No
# error, no warning. Most would expect the texts, quoted where needed, or at least what its own reader undoes: an export
# has fewer rows than texts were classified. The manual names these options, and has nothing of tabs or doubled quotes.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact csvjson@5.1.0 papaparse@5.7.1 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'csvjson|papaparse' || exit 2
cat >texts.js <<'JS'
import csvjson from "csvjson";
import papaparse from "papaparse";

const TEXTS = ["late again", "late, and wet", "late\nand wet", "\"urgent\"", "they said \"soon\"", "one more", "0,25"];
const rows = TEXTS.map((text, number) => ({ ref: `M-${number}`, text }));
const asText = (rows) => rows.map((row) => row.text);
const read = (csv) => asText(papaparse.parse(csv, { header: true, skipEmptyLines: true }).data);

const found = {
  "papaparse, read by itself": read(papaparse.unparse(rows)),
  "csvjson, read by papaparse": read(csvjson.toCSV(rows, { headers: "key" })),
  "csvjson with wrap, read by papaparse": read(csvjson.toCSV(rows, { headers: "key", wrap: true })),
  "csvjson with wrap, read by itself": asText(
    csvjson.toObject(csvjson.toCSV(rows, { headers: "key", wrap: true }), { quote: true })),
  "papaparse, read by csvjson": asText(
    csvjson.toObject(papaparse.unparse(rows, { newline: "\n" }), { quote: true })),
};
console.log("given:", JSON.stringify(TEXTS));
for (const [name, texts] of Object.entries(found)) console.log(`${name}: ${texts.length} rows`, JSON.stringify(texts));
const expected = [
  TEXTS,
  ["late again", "late\t and wet", "late\tand wet", "urgent", "they said \"soon\"", "one more", "0\t25"],
  ["late again", "late, and wet", "late\tand wet", "\"urgent\"\n\"M-4", "0,25"],
  ["late again", "late, and wet", "late\tand wet", "", "", "one more", "0,25"],
  ["late again", "late, and wet", "late", "", "", "", "one more", "0,25"],
];
process.exit(JSON.stringify(Object.values(found)) === JSON.stringify(expected) ? 0 : 1);
JS
echo "expected: the texts that were given"
node texts.js
