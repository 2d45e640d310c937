#!/bin/sh
# venn-abers calibrates a choice of three options wrongly if one of the first two was never the right answer among
# the calibration texts, as happens to a rare option. It then takes the choice for a yes/no question, the second
# option's probability for that of yes, and the options' numbers for how often yes came true. Every text gets the
# same two probabilities, nearly sure or even -0.49 and 1.49, without an error or a warning. Most would expect next
# to nothing for the option that never came true, and the other two as before: with a single such answer among
# the calibration texts it is so.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet venn-abers==1.5.4 numpy==1.26.4 scikit-learn==1.9.1 pandas==2.3.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(venn-abers|numpy|scikit-learn) '
echo "expected: about 0.8 for billing in a text about it, and for delivery in a text about that"
"$folder/venv/bin/python" - <<'PYTHON'
import sys, warnings

import numpy as np
from venn_abers import VennAbersCalibrator

# What the model says comes true as often as it says: 80 of 100 texts are about what it takes them for.
BILLING = {"billing": 0.8, "delivery": 0.15, "legal": 0.05}
DELIVERY = {"billing": 0.15, "delivery": 0.8, "legal": 0.05}
SAID = [BILLING] * 100 + [DELIVERY] * 100
RIGHT = ["billing"] * 80 + ["delivery"] * 20 + ["delivery"] * 80 + ["billing"] * 20


def calibrated(options, said, right):
    def rows(answers):
        return np.array([[answer[option] for option in options] for answer in answers])

    numbers = np.array([options.index(option) for option in right])
    return VennAbersCalibrator().predict_proba(p_cal=rows(said), y_cal=numbers, p_test=rows([BILLING, DELIVERY]))


warnings.simplefilter("ignore")
orders = [["billing", "legal", "delivery"], ["legal", "billing", "delivery"]]
good = [calibrated(options, [*SAID, BILLING], [*RIGHT, "legal"]) for options in orders]
warnings.simplefilter("error")
bad = [calibrated(options, SAID, RIGHT) for options in orders]
for options, once, never in zip(orders, good, bad):
    for name, found in (("legal right once", once), ("legal never right", never)):
        for text, row in zip(("billing", "delivery"), found.round(2).tolist()):
            print(f"{', '.join(options)}; {name}; a text about {text}: {row}")
apart = all(once.shape == (2, 3) and np.allclose(once.max(axis=1), 0.8, atol=0.03) for once in good)
alike = all(never.shape == (2, 2) and np.allclose(never[0], never[1]) and never.max() > 0.95 for never in bad)
sys.exit(0 if apart and alike and bad[1].min() < 0 else 1)
PYTHON
