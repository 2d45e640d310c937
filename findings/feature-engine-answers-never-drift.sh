#!/bin/sh
# feature-engine's DropHighPSIFeatures takes out columns whose values changed between two months, by the population
# stability index, and finds no change in answers of 0 and 1: from 5 to 95 of 100 with yes, or from 95 to 5, its index is
# 0, and the column stays. It cuts values at ten quantiles by default, leaves out equal ones, and moves the first and the
# last to infinity: of 0 and 1 nothing is left between them, and all values are in one part, where the index is 0 by
# itself. Levels from 1 to 5 with most answers at 1 go the same way. With strategy="equal_width" the same column has
# 5.3 and is taken out. No error, no warning. Most would expect 5.3 from both, as the formula says for two values, or an
# error, as one part compares nothing. The reference says that columns of numbers are cut into as many parts as `bins`
# says, and that a column is dropped if its index is above the threshold; it does not say that yes and no cannot be.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet feature-engine==1.9.4 pandas==3.1.1 numpy==2.4.6 scikit-learn==1.9.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(feature_engine|feature-engine|pandas) '
"$folder/venv/bin/python" - <<'PYTHON'
import math
import sys

import numpy
import pandas
from feature_engine.selection import DropHighPSIFeatures

MONTHS = {
    "yes, from 5 to 95 of 100": ([950, 50], [50, 950]),
    "yes, from 95 to 5 of 100": ([50, 950], [950, 50]),
    "levels 1 to 5": ([920, 30, 20, 20, 10], [100, 100, 200, 300, 300]),
}
found = {}
for name, (before, now) in MONTHS.items():
    values = numpy.arange(len(before))
    # A second column, as one must be left: it has a thousand values and does not change.
    table = pandas.DataFrame({
        "month": [1] * 1000 + [2] * 1000,
        "answer": numpy.concatenate([numpy.repeat(values, before), numpy.repeat(values, now)]),
        "length": list(range(1000)) * 2,
    })
    expected = sum((b - a) / 1000 * math.log(b / a) for a, b in zip(before, now))
    for strategy in ("equal_frequency", "equal_width"):
        selector = DropHighPSIFeatures(split_col="month", cut_off=1, variables=["answer", "length"], strategy=strategy)
        selector.fit(table)
        index = round(float(selector.psi_values_["answer"]), 3)
        found[name, strategy] = (index, selector.features_to_drop_)
        print(f"{name}, {strategy}: expected {expected:.3f}, seen {index}, dropped {selector.features_to_drop_}")
frequency = [value for (_, strategy), value in found.items() if strategy == "equal_frequency"]
width = [value for (_, strategy), value in found.items() if strategy == "equal_width"]
by_default = DropHighPSIFeatures().strategy == "equal_frequency"
is_so = frequency == [(0.0, [])] * 3 and [index for index, _ in width[:2]] == [5.3, 5.3]
sys.exit(0 if is_so and by_default and all(dropped == ["answer"] for _, dropped in width) else 1)
PYTHON
