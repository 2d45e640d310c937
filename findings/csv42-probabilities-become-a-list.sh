#!/bin/sh
# csv42 and json-2-csv write objects with parts as CSV and read them back, and make a list of an object whose first key
# is a number. Probabilities of the levels 1 to 3 are written as columns p.1, p.2 and p.3, and read as a list of four,
# the first of which is empty, and null in JSON. A list has no other keys in JSON, so that the probability of "other" or
# of the level "-1" is gone; two codes, 404 and 500, make a list of 501. No error, no warning; keys of which none is a
# number come back as they were. Most would expect what was written: csv42's manual says "2 way" and "no risk of data
# loss", and that names with a dot become nested objects; json-2-csv's says that CSV is converted back into the original
# documents. Neither has a word on numbers.
# Probabilities by level, and counts by code, are what somebody who keeps decisions puts into one object each.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact csv42@5.0.3 json-2-csv@5.6.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'csv42|json-2-csv' || exit 2
cat >parts.mjs <<'JS'
import * as csv42 from "csv42";
import * as json2csv from "json-2-csv";

const wanted = {
  "levels 1 to 3": { 1: 0.2, 2: 0.5, 3: 0.3 },
  "a level and other": { 1: 0.2, other: 0.8 },
  "levels 1 and -1": { 1: 0.8, "-1": 0.2 },
  "codes 404 and 500": { 404: 0.2, 500: 0.8 },
  "yes and no": { yes: 0.2, no: 0.8 },
};
const inJson = {
  "levels 1 to 3": "[null,0.2,0.5,0.3]",
  "a level and other": "[null,0.2]",
  "levels 1 and -1": "[null,0.8]",
  "codes 404 and 500": JSON.stringify(Object.assign(new Array(501), { 404: 0.2, 500: 0.8 })),
  "yes and no": '{"yes":0.2,"no":0.8}',
};
let isSo = true;
for (const [name, p] of Object.entries(wanted)) {
  const answers = [{ ref: "M-12", p }];
  const written = { csv42: csv42.json2csv(answers), "json-2-csv": json2csv.json2csv(answers) };
  const read = { csv42: csv42.csv2json(written.csv42), "json-2-csv": json2csv.csv2json(written["json-2-csv"]) };
  console.log(`${name}: columns ${written.csv42.split("\r\n")[0]}, expected ${JSON.stringify(p)}`);
  for (const [reader, found] of Object.entries(read)) {
    const text = JSON.stringify(found[0].p);
    console.log(`  ${reader}: ${text.length > 60 ? `a list of ${found[0].p.length}` : text}`);
    const columns = `ref,${Object.keys(p).map((key) => `p.${key}`)}`;
    isSo = isSo && text === inJson[name] && written[reader].split(/\r?\n/)[0] === columns;
  }
}
process.exit(isSo ? 0 : 1);
JS
node parts.mjs
