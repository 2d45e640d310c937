#!/bin/sh
# arquero turns answers of a CSV file into `true`: a column that is empty in the first 1,000 rows is one of yes/no
# answers for it, and of such a column it makes `false` of the text "false" and `true` of every other, such as "no",
# "billing" and 0.25. Corrections by people, which few texts of a long table have, are so made; no error, no warning.
# A column that has true and false alone for 1,000 rows and then "unsure" has `true` there too. With 999 rows before
# it, all is read as written: a test with a part of the table passes. Most would expect the texts that are there, or
# null, as for an unknown number NaN. The manual names the 1,000 rows (`autoMax`), not what becomes of the others.
# (Version 8 is had with the older flechette, since a newer one asks for a package that the registry may not have.)
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact arquero@8.0.3 @uwdata/flechette@2.0.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'arquero' || exit 2
cat >answers.js <<'JS'
import { fromCSV } from "arquero";

const later = [
  { ref: "M-a", angry: "unsure", corrected: "no", probability: "0.25" },
  { ref: "M-b", angry: "false", corrected: "billing", probability: "0.75" },
  { ref: "M-c", angry: "true", corrected: "", probability: "" },
];
const columns = Object.keys(later[0]);
const show = (rows) => rows.map((row) => columns.map((name) => JSON.stringify(row[name])).join(" ")).join("\n");

function read(before) {
  const earlier = Array.from({ length: before }, (_, i) => `M-${i},${i % 3 ? "true" : "false"},,`);
  const lines = later.map((row) => columns.map((name) => row[name]).join(","));
  const table = fromCSV([columns.join(","), ...earlier, ...lines].join("\n"));
  const rows = table.objects({ offset: before });
  console.log(`read after ${before} rows:\n${show(rows)}`);
  return show(rows);
}

console.log(`written:\n${show(later)}`);
const asWritten = ['"M-a" "unsure" "no" 0.25', '"M-b" "false" "billing" 0.75', '"M-c" "true" null null'];
const asTrue = ['"M-a" true true true', '"M-b" false true true', '"M-c" true null null'];
const isSo = read(999) === asWritten.join("\n") && read(1000) === asTrue.join("\n");
process.exit(isSo ? 0 : 1);
JS
echo "expected: the same answers, however many rows stand before them"
node answers.js
