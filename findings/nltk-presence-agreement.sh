#!/bin/sh
# nltk's `presence` is one of its distances for agreement, and has 1 where it should have 0: it is for answers of
# several labels, of which one is looked at, and gives 1 to two people who both have that label, or both not, and 0 to
# two who differ. Two people who always agree about "billing" have an observed agreement of 0, a weighted kappa of -1
# and an alpha of -2.9, and two who never do have an observed agreement and a kappa of 1. No error, no warning. The
# reference of the agreement task asks for a distance, and that of the distances has `presence` with one line, which
# says that it tests the presence of a label, not which way. Most would expect 1, 1 and 1 for the first two people, and
# 0 and below for the others, as one that is written out finds.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nltk==3.10.4 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^nltk '
echo "expected: 1 for people who always agree about the label, 0 or less for people who never do"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import presence

LABELS = [{"billing"}, {"billing", "refund"}, {"refund"}, {"login"}, {"billing", "login"}, {"refund", "login"}] * 5
same = [frozenset(labels) for labels in LABELS]
opposite = [frozenset({"login"} if "billing" in labels else {"billing"}) for labels in LABELS]
DISTANCES = {
    "presence": presence("billing"),
    "manually": lambda a, b: 0.0 if ("billing" in a) == ("billing" in b) else 1.0,
}


def measures(second, distance):
    marks = [("first", text, labels) for text, labels in enumerate(same)]
    marks += [("second", text, labels) for text, labels in enumerate(second)]
    task = AnnotationTask(marks, distance=distance)
    return [round(value, 2) for value in (task.avg_Ao(), task.weighted_kappa(), task.alpha())]


found = {name: (measures(same, distance), measures(opposite, distance)) for name, distance in DISTANCES.items()}
for name, (agreed, never) in found.items():
    print(f"{name}: agreement, kappa and alpha {agreed} if both always agree about it, {never} if they never do")
right, wrong = found["manually"], found["presence"]
as_expected = right[0] == [1, 1, 1] and right[1][:2] == [0, -1] and right[1][2] < -0.9
sys.exit(0 if as_expected and wrong[0][:2] == [0, -1] and wrong[0][2] < -2.9 and wrong[1][:2] == [1, 1] else 1)
PYTHON
