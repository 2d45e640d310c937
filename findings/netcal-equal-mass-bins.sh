#!/bin/sh
# netcal's calibration error over bins of equal mass (`ECE(bins, equal_intervals=False)`) fails with a
# ValueError where one probability is frequent: answers of models that round, or that are nearly always
# sure, cannot be measured with it. Most would expect a figure, from fewer bins, as with bins of equal
# width. The same forecasts before rounding have one.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet netcal==1.3.6 numpy==1.26.4 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^netcal '
echo "expected: a calibration error in each line"
"$folder/venv/bin/python" - <<'PYTHON'
import sys, warnings

warnings.simplefilter("ignore")
import numpy as np
from netcal.metrics import ECE

random = np.random.default_rng(0)
drawn = random.random(300)
came_true = (random.random(300) < drawn).astype(int)


def measured(probabilities, equal_intervals):
    try:
        return f"{ECE(bins=15, equal_intervals=equal_intervals).measure(probabilities, came_true):.4f}"
    except ValueError as error:
        return f"ValueError: {error}"


found = {
    "as drawn, equal mass": measured(drawn, False),
    "one decimal, equal mass": measured(drawn.round(1), False),
    "one decimal, equal width": measured(drawn.round(1), True),
}
for name, figure in found.items():
    print(f"{name}: {figure}")
fails = [name for name, figure in found.items() if figure.startswith("ValueError")]
sys.exit(fails != ["one decimal, equal mass"])
PYTHON
