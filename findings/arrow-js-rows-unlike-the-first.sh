#!/bin/sh
# apache-arrow, Arrow for JavaScript, makes other answers of those that it is given when it makes a table of rows in
# JSON. A row without a yes/no answer, as of a failed call in JSON Lines, has `false`, one without a label an empty
# text, and one without a probability NaN; where null is written, it is null. Probabilities in an object keep the
# options of the first row: those that only other rows name are left out. If the first list of labels is empty, all
# labels of all rows are null. "unsure" after a level is NaN, and after true it is false. `tableFromJSON` does all this
# without an error or a warning, where `vectorFromArray` says of such values that it cannot infer a type. Most would
# expect the rows, null for what is missing, or that error. The manual says that a table is made from an array of
# objects; a public report has rows that end in an error since 2022, not these.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact apache-arrow@21.2.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'apache-arrow' || exit 2
cat >rows.cjs <<'JS'
const { tableFromJSON, vectorFromArray } = require("apache-arrow");

// Values of one column of three rows, and what the table has of them.
const CASES = [
  ["a yes/no answer missing", [true, undefined, false], [true, false, false]],
  ["a yes/no answer null", [true, null, false], [true, null, false]],
  ["a label missing", ["billing", undefined, "refund"], ["billing", "", "refund"]],
  ["a probability missing", [0.5, undefined, 0.25], [0.5, "NaN", 0.25]],
  ["options of other rows", [{ billing: 0.7, refund: 0.3 }, { billing: 0.2, login: 0.8 }, { login: 1 }],
    [{ billing: 0.7, refund: 0.3 }, { billing: 0.2, refund: "NaN" }, { billing: "NaN", refund: "NaN" }]],
  ["lists after an empty one", [[], ["billing", "refund"], ["login"]], [[], [null, null], [null]]],
  ["unsure among levels", [2, "unsure", 3], [2, "NaN", 3]],
  ["unsure among yes/no answers", [true, "unsure", false], [true, false, false]],
];

let isSo = true;
for (const [name, values, expected] of CASES) {
  const rows = values.map((value, row) => ({ ref: `M-${row}`, ...(value === undefined ? {} : { answer: value }) }));
  const table = tableFromJSON(rows);
  const plain = JSON.stringify(table.toArray(), (key, value) => (Number.isNaN(value) ? "NaN" : value));
  const found = JSON.parse(plain).map((row) => row.answer);
  console.log(`${name}: ${JSON.stringify(rows.map((row) => row.answer))} -> ${JSON.stringify(found)}`);
  isSo = isSo && JSON.stringify(found) === JSON.stringify(expected);
}
let refused = 0;
for (const values of [[2, "unsure", 3], [true, "unsure", false]]) {
  try {
    vectorFromArray(values);
  } catch (error) {
    refused += error instanceof TypeError ? 1 : 0;
  }
}
console.log(`vectorFromArray refuses ${refused} of the last two`);
process.exit(isSo && refused === 2 ? 0 : 1);
JS
echo "expected: the values, and null for what a row does not have"
node rows.cjs
