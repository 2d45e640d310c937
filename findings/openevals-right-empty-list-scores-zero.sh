#!/bin/sh
# openevals, LangChain's library of scorers, gives an empty list the score 0 where an empty list is right, if scores are
# averaged: `create_json_match_evaluator` with `list_aggregator="average"` has nothing to average and writes 0. With
# "all" in its place, it is 1, so that the same pair is all right and wholly wrong. An answer without an object's
# fields where none are right has 0 with `aggregator="average"` as well, and 1 with "all". No error, no warning. The
# manual describes "average" as the average of the scores of the items, and says nothing of none. Most would expect 1,
# which the same library's `exact_match` and its Levenshtein scorer give. A model that finds no complaint in 80 of 100
# texts without one, and the right one in the other 20, has 0.20 instead of 1.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet openevals==0.2.2 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^openevals '
echo "expected: 1 for each answer that is the right one"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

from openevals.exact import exact_match
from openevals.json import create_json_match_evaluator
from openevals.string.levenshtein import levenshtein_distance

ONE = [{"topic": "refund"}]
CASES = {"one item": ONE, "no item": [], "no field": {}}
found = {}
for how in ("average", "all"):
    score = create_json_match_evaluator(aggregator=how, list_aggregator=how)

    def of(answer, right):
        (result,) = score(outputs=answer, reference_outputs=right)
        return float(result["score"])

    for name, answer in CASES.items():
        found[how, name] = of(answer, answer)
    found[how, "hundred texts"] = (80 * of([], []) + 20 * of(ONE, ONE)) / 100
    print(how, {name: value for (kind, name), value in found.items() if kind == how})
for name, scorer in {"exact_match": exact_match, "levenshtein": levenshtein_distance}.items():
    found[name] = [float(scorer(outputs=answer, reference_outputs=answer)["score"]) for answer in CASES.values()]
    print(name, found[name])
as_said = [found["average", name] for name in (*CASES, "hundred texts")] == [1, 0, 0, 0.2]
others = [found["all", name] for name in CASES] == found["exact_match"] == found["levenshtein"] == [1, 1, 1]
sys.exit(0 if as_said and others else 1)
PYTHON
