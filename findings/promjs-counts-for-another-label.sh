#!/bin/sh
# promjs and its successor promjs-plus, which write metrics in Prometheus' text format, count for a label what is
# counted without one. If the first text that was answered had a label, `counter.inc()` afterwards is taken for that
# label's: of three answers of the model "small" and four without a model, seven are the small one's, and there is no
# series without a label. In the other order all is right. A histogram's largest bucket leaves out values that are equal
# to its bound: with bounds 0.5 and 1, no answer with a probability of 1 is in the bucket `le="1"`. And a gauge that is
# decreased first is 0, not -1. No error, no warning. Most would expect 4 without a label, 5 in `le="1"` and -1, as
# prom-client has them: Prometheus' buckets include their bound. The manual promises to stick to the practices of
# Prometheus, and its example counts without labels and with them in one counter.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "commonjs"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact promjs@0.4.2 promjs-plus@0.5.4 \
  prom-client@15.1.3 || exit 2
npm ls --depth=0 2>/dev/null | grep -E 'prom' || exit 2
cat >metrics.js <<'JS'
const client = require("prom-client");

function libraryOf(name) {
  const registry = require(name).default();
  return {
    counter: registry.create("counter", "answers", "Answers."),
    histogram: registry.create("histogram", "probability", "Probabilities.", [0.5, 1]),
    gauge: registry.create("gauge", "waiting", "Texts that wait."),
    text: async () => registry.metrics(),
  };
}
const reference = {
  counter: new client.Counter({ name: "answers", help: "Answers.", labelNames: ["model"] }),
  histogram: new client.Histogram({ name: "probability", help: "Probabilities.", buckets: [0.5, 1] }),
  gauge: new client.Gauge({ name: "waiting", help: "Texts that wait." }),
  text: () => client.register.metrics(),
};

async function metricsOf({ counter, histogram, gauge, text }) {
  for (let i = 0; i < 3; i++) counter.inc({ model: "small" });
  for (let i = 0; i < 4; i++) counter.inc();
  for (const probability of [0.2, 0.5, 0.8, 1, 1]) histogram.observe(probability);
  gauge.dec();
  const series = (await text()).split("\n").filter((line) => /^(answers|probability_bucket|waiting)/.test(line));
  return series.map((line) => line.replace(/ $/, "")).sort();
}

(async () => {
  const found = {};
  for (const [name, library] of Object.entries({
    promjs: libraryOf("promjs"), "promjs-plus": libraryOf("promjs-plus"), "prom-client": reference,
  })) {
    found[name] = JSON.stringify(await metricsOf(library));
    console.log(`${name}: ${found[name]}`);
  }
  const buckets = (one) => ["+Inf", "0.5", "1"].map((le, i) => `probability_bucket{le="${le}"} ${[5, 2, one][i]}`);
  const wrong = JSON.stringify(['answers{model="small"} 7', ...buckets(3), "waiting 0"]);
  const right = JSON.stringify(["answers 4", 'answers{model="small"} 3', ...buckets(5), "waiting -1"]);
  const isSo = found.promjs === wrong && found["promjs-plus"] === wrong && found["prom-client"] === right;
  process.exit(isSo ? 0 : 1);
})();
JS
echo 'expected: 3 and 4 answers, 5 in the bucket of 1, and -1 that wait'
node --no-deprecation metrics.js
