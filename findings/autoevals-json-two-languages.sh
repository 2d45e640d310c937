#!/bin/sh
# autoevals, a library of scorers in two languages, has one JSONDiff for Python and another for JavaScript: an answer
# {"angry": true} where false is right scores 0 in Python and 0.2 in JavaScript, which compares "true" and "false" as
# texts, of which a letter is in common. And 1 where true is right scores 1 in Python, as one number and the same, and 0
# in JavaScript. No error, no warning. The documentation has one list of scorers and one description for both: strings
# by Levenshtein's distance, numbers by NumericDiff; of true and false it says nothing. Most would expect 0 for an
# answer that is wrong in full, and the same for one pair of texts in both. A model that answers all 100 yes-or-no
# questions wrongly has 20 percent in one language and none in the other.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
./venv/bin/pip install --quiet autoevals==0.4.1 || exit 2
./venv/bin/pip list 2>/dev/null | grep -E '^autoevals '
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact autoevals@0.3.0 || exit 2
npm ls --depth=0 2>/dev/null | grep -E ' autoevals@' || exit 2
cat >pairs.json <<'JSON'
[
  [{"angry": true}, {"angry": true}],
  [{"angry": true}, {"angry": false}],
  [{"angry": 1}, {"angry": true}],
  [{"topic": "refund"}, {"topic": "login"}],
  [{"level": 3}, {"level": 4}]
]
JSON
cat >score.mjs <<'JS'
import { readFileSync, writeFileSync } from "node:fs";
import { JSONDiff } from "autoevals";

const scores = [];
for (const [output, expected] of JSON.parse(readFileSync("pairs.json", "utf8"))) {
  scores.push((await JSONDiff({ output, expected })).score);
}
writeFileSync("scores.json", JSON.stringify(scores));
JS
node score.mjs
echo "expected: one and the same score for a pair, and 0 where the answer is not the right one of two"
./venv/bin/python - <<'PYTHON'
import json
import sys

from autoevals.json import JSONDiff

with open("pairs.json") as pairs, open("scores.json") as scores:
    pairs, of_javascript = json.load(pairs), json.load(scores)
found = []
for (output, expected), other in zip(pairs, of_javascript):
    found.append((round(JSONDiff()(output, expected).score, 2), round(other, 2)))
    print(f"{json.dumps(output)} for {json.dumps(expected)}: Python {found[-1][0]}, JavaScript {found[-1][1]}")
sys.exit(0 if found == [(1, 1), (0, 0.2), (1, 0), (0.17, 0.17), (0.86, 0.86)] else 1)
PYTHON
