#!/bin/sh
# statsmodels takes a mark that is missing for an option of its own. Three people who never disagree have a Fleiss'
# kappa of 0.62 if a fifth of the marks is missing, and people who guess have 0.24 if half of the texts were marked by
# one of five alone, since four who did not mark a text agree. aggregate_raters makes the counts for fleiss_kappa, and
# lists `nan` among the options without an error or a warning; texts with a different number of marks each are an error
# for fleiss_kappa otherwise. Most would expect an error here too, or about 1 and about 0, as krippendorff has it: at
# 0.62 a clear question is rewritten, and guesses get agreement. The manual does not mention missing marks.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet statsmodels==0.15.0 numpy==2.4.6 krippendorff==0.9.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(krippendorff|numpy|statsmodels) '
echo "expected: about 1 from people who agree and about 0 from people who guess, or an error"
"$folder/venv/bin/python" - <<'PYTHON'
import random, sys, warnings

import krippendorff
import numpy
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

warnings.simplefilter("error")
random.seed(0)
MISSING = float("nan")


def agreeing(missing):
    """Three people who give each of 300 texts its right option, but for a share of marks that is missing."""
    right = [random.randrange(3) for _ in range(300)]
    return [[MISSING if random.random() < missing else option for _ in range(3)] for option in right]


def guessing(marking):
    """Five people who guess: all of them for one half of 300 texts, `marking` of them for the other."""
    return [[random.randrange(3) if person < (5, marking)[text % 2] else MISSING for person in range(5)]
            for text in range(300)]


found = {}
for name, marks in {
    "never disagree, all marks": agreeing(0),
    "never disagree, a fifth missing": agreeing(0.2),
    "guess, all marks": guessing(5),
    "guess, one of five on every other text": guessing(1),
}.items():
    table = numpy.array(marks, dtype=float)
    counts, options = aggregate_raters(table)
    alpha = krippendorff.alpha(table.T, level_of_measurement="nominal")
    found[name] = fleiss_kappa(counts), alpha
    print(f"{name}: statsmodels {found[name][0]:.2f} of the options {options}, krippendorff {alpha:.2f}")
[all_marks, some_marks, all_guesses, some_guesses] = found.values()
right = all_marks == (1, 1) and some_marks[1] == 1 and max(map(abs, [*all_guesses, some_guesses[1]])) < 0.1
try:
    fleiss_kappa(numpy.array([[3, 0], [1, 1]]))
    refuses = False
except AssertionError:
    refuses = True
sys.exit(0 if right and refuses and some_marks[0] < 0.7 and some_guesses[0] > 0.2 else 1)
PYTHON
