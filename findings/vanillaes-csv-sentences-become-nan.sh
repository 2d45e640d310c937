#!/bin/sh
# @vanillaes/csv, a CSV parser and writer for JavaScript, makes a number of each text with a full stop when it reads
# with `typed`: "Thanks. All is well." is NaN, and null once it is saved as JSON, "3 parcels are lost. Again." is 3 and
# the version "1.10.2" is 1.1. Numbers that are short in JavaScript go wrong as well: the probability 1e-7, which the
# package itself writes as "1e-7", is read back as 1, that is, the least likely option as a certain one, and ".5" and an
# empty cell are NaN. No error, no warning. A text without a full stop stays a text, and so does "5e84123". Most would
# expect numbers for what is a number as a whole, and the texts, as csv-parse's `cast` gives: the manual says that
# `typed` infers types, and no more. What counts as a number with decimals is any character before a full stop; the rest
# goes to `parseInt`, which stops at the "e".
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @vanillaes/csv@3.0.8 csv-parse@7.0.3 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'csv' || exit 2
cat >typed.js <<'JS'
import { parse, stringify } from "@vanillaes/csv";
import { parse as other } from "csv-parse/sync";

const rows = [
  ["Thanks. All is well.", 0.25],
  ["3 parcels are lost. Again.", 1e-7],
  ["1.10.2", 0.000002],
  ["Thanks", 1],
];
const csv = stringify(rows) + "Where is it?,.5\nNo answer,\n";
const found = JSON.stringify(parse(csv, { typed: true }));
const expected = JSON.stringify(other(csv, { cast: true }));
console.log(csv);
console.log("expected:", expected);
console.log("found:   ", found);
const isSo =
  expected ===
    '[["Thanks. All is well.",0.25],["3 parcels are lost. Again.",1e-7],["1.10.2",0.000002],["Thanks",1],' +
      '["Where is it?",0.5],["No answer",""]]' &&
  found === '[[null,0.25],[3,1],[1.1,0.000002],["Thanks",1],["Where is it?",null],["No answer",null]]';
process.exit(isSo ? 0 : 1);
JS
node typed.js
