#!/bin/sh
# pyirr, a Python copy of R's package irr for the agreement of people who mark, has a wrong Krippendorff's alpha for
# two or three options: it takes other cells of the table of pairs than those above the diagonal, which is where the
# disagreements are. For two options, texts on which both say "no" are counted as the disagreements. Two people who
# mark 100 texts with yes and no and agree about 90 get an alpha of 0.80, or 0.61 if few are "yes"; pyirr has -0.79 and
# -5.24, as if they disagreed. With three options 0.85 is -0.85, and four are right. No warning. The documentation
# has alpha for nominal, ordinal, interval and ratio marks, without a word on how many options there are, and calls
# the package a port of R's line by line. Most would expect what `krippendorff` and the arithmetic below find.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyirr==0.84.1.2 krippendorff==0.9.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(pyirr|krippendorff) '
echo "expected: one and the same alpha from pyirr, from krippendorff and from the pairs"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from collections import Counter

import krippendorff
import numpy as np
import pyirr


def of_pairs(marks):
    """Of two people without gaps: what differs, by what would differ if the marks were dealt out anew."""
    counts = Counter(marks.ravel())
    n = sum(counts.values())
    expected = 1 - sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))
    return 1 - np.mean(marks[:, 0] != marks[:, 1]) / expected


def marks(**cells):
    """cells: how many texts have which two marks, such as _10=5 for five texts with 1 and 0."""
    return np.array([[float(pair[1]), float(pair[2])] for pair, count in cells.items() for _ in range(count)])


CASES = {
    "yes and no, half of each": marks(_00=45, _11=45, _01=5, _10=5),
    "yes and no, few yes": marks(_00=80, _11=10, _01=5, _10=5),
    "three options": marks(_00=30, _11=30, _22=30, _01=4, _12=3, _20=3),
    "four options": marks(_00=25, _11=25, _22=20, _33=20, _01=4, _12=3, _30=3),
}
found = []
for name, table in CASES.items():
    three = (
        pyirr.kripp_alpha(table).value,
        krippendorff.alpha(table.T, level_of_measurement="nominal"),
        of_pairs(table),
    )
    found.append([float(round(value, 2)) for value in three])
    print(f"{name}: pyirr {found[-1][0]}, krippendorff {found[-1][1]}, of the pairs {found[-1][2]}")
sys.exit(0 if found == [[-0.79, 0.8, 0.8], [-5.24, 0.61, 0.61], [-0.85, 0.85, 0.85], [0.87, 0.87, 0.87]] else 1)
PYTHON
