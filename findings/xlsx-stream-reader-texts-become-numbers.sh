#!/bin/sh
# xlsx-stream-reader, which reads large workbooks for JavaScript row by row, makes numbers of texts that exceljs, which
# writes them row by row, has put into their cells: "2 parcels are lost" is read as 2, the reference "0012" as 12, "1e5"
# as 100000 and the day "2026-11-30" as 2026. A probability of 0 and the answer "no" (false) are read as empty cells,
# and "yes" as 1. No error, no warning; "It took 2 parcels" stays a text. exceljs' stream writes a text as a cell of the
# type `str`, which the format has for texts, and the reader, where a workbook has no formats of its own, hands each
# such cell to `parseFloat`, which takes the number at its beginning; what is zero or false then gives way to "". Most
# would expect the texts, as SheetJS reads them from the same file. The manual says that `formatting` is about cells
# with formats. Public requests are about booleans in general, none about texts.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact \
    exceljs@4.4.0 xlsx-stream-reader@1.1.1 xlsx@0.18.5 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'xlsx|excel' || exit 2
cat >texts.js <<'JS'
import { createReadStream } from "node:fs";
import exceljs from "exceljs";
import sheetjs from "xlsx";
import StreamReader from "xlsx-stream-reader";

const rows = [
  ["0012", "2 parcels are lost", "2026-11-30", false, 0],
  ["1e5", "It took 2 parcels", "M-12", true, 0.25],
];
const writer = new exceljs.stream.xlsx.WorkbookWriter({ filename: "answers.xlsx" });
const sheet = writer.addWorksheet("answers");
for (const row of rows) sheet.addRow(row).commit();
sheet.commit();
await writer.commit();

const found = [];
await new Promise((resolve, reject) => {
  const reader = new StreamReader();
  reader.on("worksheet", (read) => {
    read.on("row", (row) => found.push(row.values.slice(1)));
    read.process();
  });
  reader.on("end", resolve);
  reader.on("error", reject);
  createReadStream("answers.xlsx").pipe(reader);
});
const others = sheetjs.utils.sheet_to_json(sheetjs.readFile("answers.xlsx").Sheets.answers, { header: 1 });
console.log("expected, as SheetJS reads them:", JSON.stringify(others));
console.log("found by xlsx-stream-reader:    ", JSON.stringify(found));
const isSo =
  JSON.stringify(others) === JSON.stringify(rows) &&
  JSON.stringify(found) === '[[12,2,2026,"",""],[100000,"It took 2 parcels","M-12",1,0.25]]';
process.exit(isSo ? 0 : 1);
JS
node texts.js
