#!/bin/sh
# nltk's weighted kappa takes the largest distance between two levels, `max_distance`, and makes a wrong figure of it.
# It divides the disagreement that chance would have by that distance, and leaves the observed one as it is: two people
# who differ by one level at most on a scale of five have 0.83 without the option, and 0.33 with `max_distance=4`, which
# is the largest distance. At 0.33 a question is rewritten that people agree on; on a scale of ten the same agreement
# would have less than 0. No error, no warning. A constant in both disagreements cancels out, so most would expect 0.83
# with any largest distance, as it is if the distances themselves are divided by 4. The reference names the option and
# has no word on what it does; Do_Kw, the disagreement alone, takes the same option and has it right.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet nltk==3.10.4 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^nltk '
echo "expected: one weighted kappa, whatever the distances are divided by"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from nltk.metrics.agreement import AnnotationTask

FIRST = [1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5]
SECOND = [1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 4]


def task(distance):
    marks = [("first", text, level) for text, level in enumerate(FIRST)]
    marks += [("second", text, level) for text, level in enumerate(SECOND)]
    return AnnotationTask(marks, distance=distance)


count = len(FIRST)
observed = sum(abs(a - b) for a, b in zip(FIRST, SECOND)) / count
chance = sum(abs(a - b) for a in FIRST for b in SECOND) / count**2
levels = task(lambda a, b: abs(a - b))
found = {
    "manually": 1 - observed / chance,
    "distances of levels": levels.weighted_kappa(),
    "distances divided by 4": task(lambda a, b: abs(a - b) / 4).weighted_kappa(),
    "max_distance=4": levels.weighted_kappa(max_distance=4),
}
print(f"differences of levels: {observed:.3f} observed, {chance:.3f} by chance")
for name, kappa in found.items():
    print(f"{name}: {kappa:.3f}")
print(f"Do_Kw: {levels.Do_Kw():.4f}, with max_distance=4: {levels.Do_Kw(4):.4f}")
right = [round(found[name], 6) for name in list(found)[:3]]
wrong = round(1 - observed / (chance / 4), 6)
is_so = set(right) == {0.833333} and round(found["max_distance=4"], 6) == wrong == 0.333333
sys.exit(0 if is_so and levels.Do_Kw(4) == levels.Do_Kw() / 4 else 1)
PYTHON
