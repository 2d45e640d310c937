#!/bin/sh
# parquetjs, which writes and reads Parquet files in JavaScript, does not read its own decimals: of a column with up to
# 9 digits, with 0.25, 0.5, 0.75 and 1 in its rows, it reads 0.25, 0, 0.5 and 0. Each second row is 0, the others have
# the number of a row before, and the second half of the numbers is gone; the references next to them are right, so that
# "M-3" has the probability of "M-2". No error, no warning. From 10 digits on all is well. The file is right: hyparquet
# and pyarrow read the numbers that were written. parquetjs writes a decimal in 8 bytes, as the format allows for any up
# to 18 digits, and reads one of up to 9 digits in 4, however wide the file says it is; numbers from pyarrow, which
# takes 4 there, are read rightly. Most would expect the numbers that were written. The manual names the type with its
# precision and scale. A public issue of 2026 is about another matter of decimals, numbers that are cut and not rounded.
# (The newest parquetjs, 1.9.3, comes without its code.)
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @dsnp/parquetjs@1.8.9 hyparquet@1.33.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'parquet' || exit 2
cat >decimals.js <<'JS'
import parquetjs from "@dsnp/parquetjs";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";

const rows = [0.25, 0.5, 0.75, 1, 0.5, 0.25].map((p, number) => ({ reference: `M-${number + 1}`, p }));
const found = {};
for (const precision of [5, 9, 10]) {
  const schema = new parquetjs.ParquetSchema({
    reference: { type: "UTF8" },
    p: { type: "DECIMAL", precision, scale: 2 },
  });
  const writer = await parquetjs.ParquetWriter.openFile(schema, "answers.parquet");
  for (const row of rows) await writer.appendRow(row);
  await writer.close();
  const reader = await parquetjs.ParquetReader.openFile("answers.parquet");
  const cursor = reader.getCursor();
  const own = [];
  for (let row = await cursor.next(); row; row = await cursor.next()) own.push(`${row.reference}: ${row.p}`);
  await reader.close();
  const others = await parquetReadObjects({ file: await asyncBufferFromFile("answers.parquet") });
  found[precision] = [own.join(", "), others.map((row) => `${row.reference}: ${row.p}`).join(", ")];
  console.log(`${precision} digits, read by hyparquet: ${found[precision][1]}`);
  console.log(`${precision} digits, read by parquetjs: ${found[precision][0]}`);
}
const written = rows.map((row) => `${row.reference}: ${row.p}`).join(", ");
const moved = "M-1: 0.25, M-2: 0, M-3: 0.5, M-4: 0, M-5: 0.75, M-6: 0";
console.log(`expected: ${written}`);
const isSo =
  Object.values(found).every(([, others]) => others === written) &&
  found[5][0] === moved && found[9][0] === moved && found[10][0] === written;
process.exit(isSo ? 0 : 1);
JS
node decimals.js
