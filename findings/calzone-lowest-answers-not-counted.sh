#!/bin/sh
# calzone's calibration error over bins of equal count (`ECE-C`) leaves out all answers with the lowest probability that
# there is. Each bin begins above its lower edge, and the first edge is that probability. Language models round: a model
# gives 0.05 to 600 of 1,000 texts, of which 240 are yes, and is right about its 0.5 and 0.9; its error is 0.21, and
# ECE-C is 0. Where it says 0 in place of 0.05, bins of equal width (`ECE-H`) are 0 as well in place of 0.24, and so is
# the largest error. The test of calibration beside it, HL-C, is of the other 400 texts too. No error, no warning. Most
# would expect each answer in one bin. The code's text says that bins of this kind are equally frequent, and neither it
# nor the manual has those that are in none: that a model denies too much and misses texts, nobody learns from it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile calzone-tool==0.1.0 statsmodels==0.14.6 numpy==2.3.5 scipy==1.16.3 \
    pandas==2.3.3 matplotlib==3.10.7 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(calzone-tool|numpy) '
echo "expected: the calibration error of all 1,000 answers"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from calzone.metrics import CalibrationMetrics
from calzone.utils import reliability_diagram


def measured(lowest):
    groups = [(lowest, 600, 240), (0.5, 200, 100), (0.9, 200, 180)]
    given = np.concatenate([np.full(count, probability) for probability, count, _ in groups])
    right = np.concatenate([[1] * yes + [0] * (count - yes) for _, count, yes in groups])
    both = np.column_stack([1 - given, given])
    found = CalibrationMetrics(class_to_calculate=1).calculate_metrics(right, both, metrics=["ECE-C", "ECE-H", "MCE-C"])
    counted = {equal: int(reliability_diagram(right, both, class_to_plot=1, is_equal_freq=equal)[3].sum())
               for equal in (True, False)}
    error = sum(count * abs(probability - yes / count) for probability, count, yes in groups) / 1000
    result = [round(float(value), 3) for value in (error, found["ECE-C"], found["ECE-H"], found["MCE-C"])]
    print(f"lowest {lowest}: error manually {result[0]}, ECE-C {result[1]} of {counted[True]} answers, "
          f"ECE-H {result[2]} of {counted[False]} answers, MCE-C {result[3]}")
    return result


found = [measured(0.05), measured(0.0)]
sys.exit(0 if found == [[0.21, 0.0, 0.21, 0.0], [0.24, 0.0, 0.0, 0.0]] else 1)
PYTHON
