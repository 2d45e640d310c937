#!/bin/sh
# junit2json, which reads test reports in JUnit's format for JavaScript and as a command, makes numbers of names. Tests
# are often named after their data: those of the texts "0012" and "12" come out with one and the same name, 12, and one
# of "1e3" as 1. Properties too: a model's version 1.10 is 1.1, which is another one, and a commit 5e84123 is infinite,
# and null in JSON. No error, no warning; a name with one more letter stays as it is. Most would expect texts: the
# package's own types have `name`, `classname`, `hostname` and a property's `value` as texts, so that a call of
# `startsWith`, which TypeScript lets through, fails. Numbers are right for `tests` and `time`. The manual has nothing
# of it. A comparison of two runs by version, or a search for tests that are new or gone, finds other ones.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact junit2json@4.0.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'junit2json' || exit 2
cat >report.xml <<'XML'
<testsuite name="answers" tests="5" time="0.5" hostname="007">
<properties><property name="model" value="1.10"/><property name="before" value="1.1"/>
<property name="commit" value="5e84123"/><property name="other" value="5f84123"/></properties>
<testcase classname="ref" name="0012"/><testcase classname="ref" name="12"/><testcase classname="ref" name="1e3"/>
<testcase classname="ref" name="1e3 texts"/><testcase classname="ref" name="M-12"/>
</testsuite>
XML
cat >names.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parse } from "junit2json";

const report = await parse(readFileSync("report.xml", "utf8"));
const text = JSON.stringify(report);
console.log(text);
const found = JSON.parse(text);
const names = found.testcase.map((test) => test.name);
const values = Object.fromEntries(found.properties.map((property) => [property.name, property.value]));
const isSo =
  JSON.stringify(names) === JSON.stringify([12, 12, 1, "1e3 texts", "M-12"]) &&
  JSON.stringify(values) === JSON.stringify({ model: 1.1, before: 1.1, commit: null, other: "5f84123" }) &&
  found.hostname === 7 && found.tests === 5 && found.time === 0.5;
process.exit(isSo ? 0 : 1);
JS
grep -hoE 'export type Property = .*' node_modules/junit2json/src/index.ts
echo 'expected: names "0012", "12", "1e3", "1e3 texts", "M-12"; values "1.10", "1.1", "5e84123", "5f84123"; host "007"'
node names.mjs
