#!/bin/sh
# calzone, which measures how well probabilities are calibrated, computes Cox's slope and intercept of any option from
# the second option's probabilities. `class_to_calculate=0` of a calibrated yes/no model, which should have a slope of
# 1, has -1, as if the model said no where it is yes; of a calibrated choice among three options, the first and the
# third have -0.4. CalibrationMetrics does not even hand the option on: with `class_to_calculate=2` its "COX" figures
# are the second option's, beside a calibration error of the third, and a third option whose probabilities are much too
# cautious, with a slope of 1.7, has 1 there. No error, no warning. The manual promises each option against the rest,
# and the code's text names the option for this measure. Most would expect a slope of about 1 for each calibrated
# option, and 1.7 for the cautious one, as a logistic regression finds.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile calzone-tool==0.1.0 statsmodels==0.14.6 numpy==2.3.5 scipy==1.16.3 \
    pandas==2.3.3 matplotlib==3.10.7 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(calzone-tool|statsmodels|numpy) '
echo "expected: slopes of about 1 for calibrated options, more for one whose probabilities are too cautious"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from calzone.metrics import CalibrationMetrics, cox_regression_analysis


def reference(came_true, given):
    """Slope of a logistic regression on the logits, by Newton's method."""
    logits = np.column_stack([np.ones(len(given)), np.log(given / (1 - given))])
    weights = np.zeros(2)
    for _ in range(30):
        expected = 1 / (1 + np.exp(-logits @ weights))
        curve = logits.T @ (logits * (expected * (1 - expected))[:, None])
        weights += np.linalg.solve(curve, logits.T @ (came_true - expected))
    return weights[1]


def drawn(probabilities):
    return (rng.uniform(size=len(probabilities))[:, None] > probabilities.cumsum(axis=1)).sum(axis=1)


rng = np.random.default_rng(1)
yes = rng.uniform(0.02, 0.98, size=6000)
three = rng.dirichlet([1, 1, 1], size=6000) * 0.97 + 0.01
is_so = True
for name, given in (("yes/no", np.column_stack([1 - yes, yes])), ("three options", three)):
    right = drawn(given)
    for option in range(given.shape[1]):
        slope = cox_regression_analysis(right, given, class_to_calculate=option)[0]
        expected = reference((right == option).astype(float), given[:, option])
        print(f"{name}, option {option}: slope {slope:.2f}, manually {expected:.2f}")
        is_so = is_so and abs(expected - 1) < 0.15 and (abs(slope - 1) < 0.15 if option == 1 else slope < -0.2)

# The second option's probabilities are right; those of the others are too close to each other.
odds = (three[:, 2] / three[:, 0]) ** 0.3
rest = 1 - three[:, 1]
blurred = np.column_stack([rest / (1 + odds), three[:, 1], rest * odds / (1 + odds)])
right = drawn(three)
found = [CalibrationMetrics(class_to_calculate=option).calculate_metrics(right, blurred, metrics=["COX", "ECE-H"])
         for option in (1, 2)]
expected = [reference((right == option).astype(float), blurred[:, option]) for option in (1, 2)]
for option, measures, slope in zip((1, 2), found, expected):
    print(f"CalibrationMetrics, option {option}: slope {measures['COX coef']:.2f}, manually {slope:.2f}, "
          f"calibration error {measures['ECE-H']:.3f}")
is_so = is_so and found[0]["COX coef"] == found[1]["COX coef"] and found[0]["ECE-H"] != found[1]["ECE-H"]
sys.exit(0 if is_so and expected[1] > 1.4 else 1)
PYTHON
