#!/bin/sh
# parse-prometheus-text-format makes one of the histograms of all models. A metric by model, as a server has it for the
# durations of its answers, has a histogram for each; the package gives one, without a label, with the buckets of the
# last, without its sum and count. Of 1,000 answers of a quick model and 40 of a slow one, 40 are left, none within 0.1
# seconds; with the slow one first, 1,000 are left and all but 50 are quick. Summaries likewise; counters keep their
# labels, and a histogram without labels its sum and count; no error, no warning. Most would expect one of each model,
# as in prom2json, with which the manual aims to be compatible. The manual's example has no labels; a public proposal
# has offered them since 2019.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact parse-prometheus-text-format@1.1.1 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'parse-prometheus' || exit 2
cat >metrics.js <<'JS'
import parse from "parse-prometheus-text-format";

const quick = { model: "quick", buckets: [["0.1", 950], ["1", 990], ["+Inf", 1000]], sum: 60.5 };
const slow = { model: "slow", buckets: [["0.1", 0], ["1", 5], ["+Inf", 40]], sum: 90.5 };

function lines({ model, buckets, sum }) {
  const label = model ? `model="${model}"` : "";
  const count = buckets.at(-1)[1];
  const bucket = (le) => `seconds_bucket{${[label, `le="${le}"`].filter(Boolean).join(",")}}`;
  return [
    ...buckets.map(([le, value]) => `${bucket(le)} ${value}`),
    `seconds_sum{${label}} ${sum}`,
    `seconds_count{${label}} ${count}`,
  ];
}

const histograms = (...models) =>
  parse(["# TYPE seconds histogram", ...models.flatMap(lines), ""].join("\n"))[0].metrics;

const one = histograms({ ...quick, model: "" });
const counters = parse('# TYPE answers counter\nanswers{model="quick"} 1000\nanswers{model="slow"} 40\n')[0].metrics;
const [both, turned] = [histograms(quick, slow), histograms(slow, quick)];
console.log("without a label:", JSON.stringify(one));
console.log("counters:", JSON.stringify(counters));
console.log("quick, slow:", JSON.stringify(both));
console.log("slow, quick:", JSON.stringify(turned));
const expected = [
  [{ buckets: { 0.1: "950", 1: "990", "+Inf": "1000" }, count: "1000", sum: "60.5" }],
  [{ value: "1000", labels: { model: "quick" } }, { value: "40", labels: { model: "slow" } }],
  [{ buckets: { 0.1: "0", 1: "5", "+Inf": "40" } }],
  [{ buckets: { 0.1: "950", 1: "990", "+Inf": "1000" } }],
];
const sorted = (value) => JSON.stringify(value, (_, it) =>
  it && !Array.isArray(it) && typeof it === "object" ? Object.fromEntries(Object.entries(it).sort()) : it);
process.exit(sorted([one, counters, both, turned]) === sorted(expected) ? 0 : 1);
JS
echo "expected: a histogram of each model, with its label, sum and count"
node metrics.js
