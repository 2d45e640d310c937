#!/bin/sh
# Two Parquet libraries for JavaScript: hyparquet-writer writes yes/no answers, parquetjs reads every one of them as
# no, without an error. From the 17th value on the writer uses the format's run-length encoding for booleans, as
# pyarrow does with data pages of version 2; parquetjs takes the width of a boolean from a place in the schema where
# there is none, and reads zeros. hyparquet reads the same file as written, and parquetjs its texts and numbers. Most
# would expect the answers that were written, or an error: in a test of 16 rows all is well. (The newest parquetjs,
# 1.9.3, comes without its code.)
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact \
    hyparquet@1.31.5 hyparquet-writer@0.17.0 @dsnp/parquetjs@1.8.9 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'parquet' || exit 2
cat >answers.js <<'JS'
import parquetjs from "@dsnp/parquetjs";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";

async function readByParquetjs(file) {
  const reader = await parquetjs.ParquetReader.openBuffer(Buffer.from(file));
  const cursor = reader.getCursor();
  const rows = [];
  for (let row = await cursor.next(); row; row = await cursor.next()) rows.push(row);
  await reader.close();
  return rows;
}

const asText = (rows) => rows.map((row) => (row.angry === true ? "y" : row.angry === false ? "n" : "?")).join("");
const found = [];
for (const count of [16, 40]) {
  const row = (_, i) => ({ ref: `M-${i}`, probability: i / count, angry: i % 3 === 0 });
  const written = Array.from({ length: count }, row);
  const column = (name, type) => ({ name, data: written.map((row) => row[name]), type });
  const file = parquetWriteBuffer({
    columnData: [column("ref", "STRING"), column("probability", "DOUBLE"), column("angry", "BOOLEAN")],
  });
  const hyparquet = await parquetReadObjects({ file });
  const parquetjsRows = await readByParquetjs(file);
  console.log(`written:   ${asText(written)}\nhyparquet: ${asText(hyparquet)}\nparquetjs: ${asText(parquetjsRows)}`);
  const others = (rows) => JSON.stringify(rows.map((row) => [row.ref, row.probability]));
  found.push([
    asText(hyparquet) === asText(written),
    asText(parquetjsRows) === asText(written),
    asText(parquetjsRows) === "n".repeat(count),
    others(hyparquet) === others(written) && others(parquetjsRows) === others(written),
  ]);
}
const expected = [[true, true, false, true], [true, false, true, true]];
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
echo "expected: both readers read what was written"
node answers.js
