#!/bin/sh
# autoevals' NumericDiff takes the largest difference that may score, `max_diff`, and ignores it. Its scorer reference
# names the option and a formula, by which a score of a level falls evenly with the distance, to 0 at that difference.
# With levels 0 to 4 and a `max_diff` of 4, an answer of one level beside costs 0.25 by it. In truth it costs 0.14 at
# the top of the scale, a third between 1 and 2, and all at the bottom: 1 instead of 0 scores no better than 4 instead
# of 0. `relative`, the reference's other option, changes nothing either; no error, no warning. The text within the
# code has neither option. Most would expect the formula, or an error for an option that there is not: a model is
# blamed for where on the scale its errors are. In JSONDiff, which uses it for numbers, 0.01 instead of a probability
# of 0 is as wrong as 1.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet autoevals==0.4.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^autoevals '
echo "expected: 1 less the difference over the largest difference, 4"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from autoevals import JSONDiff, NumericDiff

found = []
for answer, right in ((4, 4), (3, 4), (2, 1), (1, 2), (1, 0), (4, 0)):
    score = NumericDiff().eval(answer, right, max_diff=4).score
    plain = NumericDiff().eval(answer, right).score
    relative = NumericDiff().eval(answer, right, relative=True).score
    print(f"answer {answer}, right is {right}: expected {1 - abs(answer - right) / 4}, found {score:.2f}; "
          f"without the option {plain:.2f}, with `relative` {relative:.2f}")
    found.append((round(score, 2), score == plain == relative))
json_score = JSONDiff().eval({"probability": 0.01}, {"probability": 0.0}).score
print(f"JSONDiff, 0.01 instead of 0.0: {json_score}")
scores = [1, 0.86, 0.67, 0.67, 0, 0]
sys.exit(0 if found == [(score, True) for score in scores] and json_score == 0 else 1)
PYTHON
