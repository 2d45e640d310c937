#!/bin/sh
# MAPIE tests whether probabilities are calibrated with Spiegelhalter's test, and gives the most underconfident model
# there is the best p-value, 1. A model that says 0.6 and 0.4 and is right every time has a statistic of -26, and a
# p-value of 1: it looks for overconfidence alone. One that is right to say 0.6 has 0.5, thus less. An overconfident one
# has 0. No error, no warning. Most would expect nearly 0 for both, from both sides: the statistic's own text says that
# the closer to zero it is, the better are the scores, and the p-value's that it is the probability of the statistic if
# scores are perfectly calibrated. R's `val.prob` has it from both sides, and the other tests of the same module find
# both models wanting. Where a small p-value has to stop a model, one passes whose answers never reach 0.7. The manual
# says of it that it tests the overall calibration, and has no word on sides.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mapie==1.6.0 numpy==2.4.6 scipy==1.17.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(MAPIE|mapie|scipy) '
echo "expected: small p-values for the models that are too cautious or too sure, a large one for the other"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from mapie.metrics.calibration import kolmogorov_smirnov_p_value, spiegelhalter_p_value, spiegelhalter_statistic
from scipy.stats import norm


def model(probability, hits):
    # 500 texts with the probability, of which a share is yes, and 500 with its complement
    yes = round(500 * hits)
    truth = [1] * yes + [0] * (500 - yes) + [0] * yes + [1] * (500 - yes)
    return np.array(truth), np.array([probability] * 500 + [1 - probability] * 500)


MODELS = {"too cautious": model(0.6, 1), "slightly too cautious": model(0.6, 0.66), "calibrated": model(0.6, 0.6),
          "too sure": model(0.9, 0.5)}
found = {}
for name, (truth, scores) in MODELS.items():
    statistic = spiegelhalter_statistic(truth, scores)
    both = 2 * norm.sf(abs(statistic))
    other = kolmogorov_smirnov_p_value(truth, scores)
    found[name] = [round(float(p), 2) for p in (spiegelhalter_p_value(truth, scores), both, other)]
    print(f"{name}: statistic {statistic:.1f}, p-value {found[name][0]}; from both sides {found[name][1]},"
          f" by MAPIE's Kolmogorov-Smirnov test {found[name][2]}")
is_so = found["too cautious"][0] == 1 and found["slightly too cautious"][0] == 1 and found["calibrated"][0] < 0.6
is_so = is_so and found["too cautious"][1] == found["slightly too cautious"][1] == 0
sys.exit(0 if is_so and found["too sure"] == [0, 0, 0] and found["too cautious"][2] == 0 else 1)
PYTHON
