#!/bin/sh
# calikit repairs the probabilities of a model with a mapping that it fits to marks, and its isotonic one makes sure
# answers of rounded ones. Texts with equal probabilities are not taken together: those that are no count as if they lay
# below those that are yes. A model that says 0.1, 0.3, 0.5, 0.7 and 0.9, and is right with each of them, comes out with
# 0, 0.38, 0.63, 0.88 and 1; one that says 0.5 to every text comes out with 0 for all, though half of them are yes. Each
# text that is yes at 0.1, or no at 0.9, costs an infinite log loss then. `calikit apply` writes this into the answers.
# No error, no warning; with different probabilities the mapping is right. Most would expect the five as they are, as
# scikit-learn has it, which takes the mean of equal ones first. The manual warns of few texts, not of equal ones, and
# offers the tool for the scores from 1 to 10 of judges, each of which is equal to many others.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet calikit==0.1.0 scikit-learn==1.9.1 numpy==2.4.6 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(calikit|scikit-learn) '
cd "$folder"
python3 - <<'PYTHON'
import json
import random

texts = [{"p": p, "y": int(i < round(200 * p))} for p in (0.1, 0.3, 0.5, 0.7, 0.9) for i in range(200)]
random.Random(0).shuffle(texts)
with open("answers.jsonl", "w") as file:
    file.writelines(json.dumps(text) + "\n" for text in texts)
PYTHON
venv/bin/calikit fit answers.jsonl --method isotonic --out mapping.json
venv/bin/calikit apply mapping.json answers.jsonl --out repaired.jsonl
echo "expected: 0.1, 0.3, 0.5, 0.7 and 0.9, each as before"
venv/bin/python - <<'PYTHON'
import json
import sys

from calikit import fit_isotonic
from sklearn.isotonic import IsotonicRegression

LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]
texts = [json.loads(line) for line in open("repaired.jsonl")]
found = [round(next(text["p"] for text in texts if text["p_raw"] == level), 3) for level in LEVELS]
model = IsotonicRegression(out_of_bounds="clip").fit([text["p_raw"] for text in texts], [text["y"] for text in texts])
reference = [round(float(value), 3) for value in model.predict(LEVELS)]
single = fit_isotonic([0.5] * 100, [0, 1] * 50).apply_one(0.5)
print(f"calikit: {found}, and {single} of 0.5 for all\nscikit-learn: {reference}")
sys.exit(0 if reference == LEVELS and found == [0, 0.375, 0.625, 0.875, 1] and single == 0 else 1)
PYTHON
