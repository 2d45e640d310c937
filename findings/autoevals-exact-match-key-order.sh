#!/bin/sh
# autoevals' ExactMatch scores an answer in JSON with 0 if its fields stand in another order than those of the expected
# one. The manual of that very module has such a pair for its example of objects, and promises 1 for it. Objects are
# compared as the text that they are written as, so that a probability of 1 instead of 1.0 is no match either, nor is
# another order deeper inside; no error, no warning. A model is free in the order of fields unless a server fixes it,
# and Parquet files, SQL databases and tools that sort change it: right answers count as wrong, and none of the scores
# says why. Most would expect 1 for equal objects, as JSONDiff of the same library has it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet autoevals==0.4.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^autoevals '
echo "expected: 1 for equal objects, in whatever order"
"$folder/venv/bin/python" - <<'PYTHON'
import json, sys

import autoevals.value
from autoevals import ExactMatch, JSONDiff

expected = {"topic": "billing", "angry": True, "level": {"name": "high", "probability": 1.0}}
answers = {
    "as expected": '{"topic": "billing", "angry": true, "level": {"name": "high", "probability": 1.0}}',
    "without blanks": '{"topic":"billing","angry":true,"level":{"name":"high","probability":1.0}}',
    "fields in another order": '{"angry": true, "topic": "billing", "level": {"name": "high", "probability": 1.0}}',
    "order within the level": '{"topic": "billing", "angry": true, "level": {"probability": 1.0, "name": "high"}}',
    "1 instead of 1.0": '{"topic": "billing", "angry": true, "level": {"name": "high", "probability": 1}}',
}
found = {}
for name, answer in answers.items():
    text = ExactMatch().eval(answer, expected).score
    parsed = ExactMatch().eval(json.loads(answer), expected).score
    diff = JSONDiff().eval(answer, expected).score
    print(f"{name:24} ExactMatch {text} as text, {parsed} as an object; JSONDiff {diff}")
    found[name] = (text, parsed, diff)
promised = "different order" in autoevals.value.__doc__.lower()
print(f"the manual has another order for an example: {promised}")
right, wrong = (1, 1, 1), (0, 0, 1)
equal = all(json.loads(answer) == expected for answer in answers.values())
sys.exit(0 if promised and equal and list(found.values()) == [right, right, wrong, wrong, wrong] else 1)
PYTHON
