#!/bin/sh
# best-effort-json-parser, for answers of models that are cut off or inside a fence of Markdown, reads a probability
# of 1e-7 as 1. A number ends at its exponent for it, and the rest becomes the name of the next field, whose own name
# is lost. JavaScript and Rust write each probability below 0.000001 with an exponent, so a question that a model
# surely denies is read as surely affirmed, without an error. Whole JSON is read rightly, since it goes to JSON.parse
# first: tests with whole answers, or with larger probabilities, pass. Most would expect the number that is there, as
# partial-json reads it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact \
    best-effort-json-parser@1.5.1 partial-json@0.1.7 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'json' || exit 2
cat >answers.js <<'JS'
import { parse } from "best-effort-json-parser";
import partialJson from "partial-json";

const found = [];
for (const angry of [0.25, 1e-7]) {
  const whole = JSON.stringify({ angry, urgent: 0.5, topic: "billing" });
  const texts = { whole, "cut off": whole.slice(0, -5), "in a fence": "```json\n" + whole + "\n```" };
  for (const [name, text] of Object.entries(texts)) {
    const read = parse(text);
    found.push([angry, name, read.angry, read.urgent]);
    console.log(`${name}: ${text.replaceAll("\n", " ")}\n    read as ${JSON.stringify(read)}`);
  }
  const other = partialJson.parse(texts["cut off"]);
  found.push([angry, "partial-json", other.angry, other.urgent]);
  console.log(`    read by partial-json as ${JSON.stringify(other)}`);
}
const expected = [
  ...["whole", "cut off", "in a fence", "partial-json"].map((name) => [0.25, name, 0.25, 0.5]),
  [1e-7, "whole", 1e-7, 0.5],
  [1e-7, "cut off", 1, undefined],
  [1e-7, "in a fence", 1, undefined],
  [1e-7, "partial-json", 1e-7, 0.5],
];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
echo "expected: angry is 0.25 or 1e-7 and urgent is 0.5, in each line"
node answers.js
