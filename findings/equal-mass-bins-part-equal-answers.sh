#!/bin/sh
# Two libraries find a large calibration error in a model that has none, if it gives many texts the same probability.
# For bins of equal count they cut the sorted answers wherever a bin is full, also between equal ones. calibra sorts
# equal answers by whether they came true, so that the texts that are no fill the first bins: a model that says 0.5 to
# 1,000 texts, half of which are yes, has 0.5, the largest error it could have. calikit, whose bins are such by default,
# leaves equal answers in the order of the file: with the texts sorted by mark it is 0.5, and shuffled about 0.04. So it
# goes with five levels, 0.1 to 0.9, each of which comes true as often as it says. No error, no warning; with bins of
# equal width both have 0. Most would expect 0 for any order, with equal answers in one bin. Language models round, so
# equal answers are the rule. Neither manual has a word on equal answers.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet calibra==0.3.2 calikit==0.1.0 numpy==2.4.6 pandas==2.3.3 matplotlib || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(calibra|calikit) '
echo "expected: 0, or nearly, in each line: every probability came true as often as it says"
"$folder/venv/bin/python" - <<'PYTHON'
import random
import sys

import numpy as np
from calibra.errors import classwise_ece
from calikit import bin_predictions, ece

answers = {"one": [0.5] * 1000, "five": [level for level in (0.1, 0.3, 0.5, 0.7, 0.9) for _ in range(200)]}
found = {}
for name, probabilities in answers.items():
    size = 1000 if name == "one" else 200
    texts = [(p, int(i % size < round(size * p))) for i, p in enumerate(probabilities)]
    shuffled = random.Random(0).sample(texts, len(texts))
    for order, rows in (("sorted", sorted(texts, key=lambda row: row[1])), ("shuffled", shuffled)):
        p, y = zip(*rows)
        errors = [classwise_ece(np.array(p), np.array(y), num_bins=10, method=m) for m in ("frequency", "width")]
        errors += [ece(bin_predictions(list(p), list(y), k=10, scheme=scheme)) for scheme in ("mass", "width")]
        found[name, order] = [round(float(error), 2) for error in errors]
        print(f"{name} level(s), {order}: calibra {found[name, order][:2]}, calikit {found[name, order][2:]}"
              " (equal count, then equal width)")
is_so = found["one", "sorted"] == [0.5, 0, 0.5, 0] and found["one", "shuffled"][0] == 0.5
is_so = is_so and found["one", "shuffled"][2] < 0.1 and found["five", "shuffled"][0] == found["five", "sorted"][0] > 0.2
sys.exit(0 if is_so and found["five", "sorted"][2] > 0.2 and found["five", "sorted"][1::2] == [0, 0] else 1)
PYTHON
