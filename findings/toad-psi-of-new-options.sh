#!/bin/sh
# toad's `PSI`, the population stability index between two sets of answers, leaves out each option that only one of the
# two has. Where half of the new answers are "complaint", which was never there before, it counts only what "billing"
# and "delivery" lost. Where all of them are, nothing is left, and the index is 0: "no change" for two sets without a
# single answer in common. With one "complaint" among the thousand answers of before, the index of the first pair is
# 3.45 in place of 0.35. No error, no warning. Most would expect infinity, as the formula says, or a large figure, as
# others have it that put a small share in place of none: an option that comes up or dies out is what the index is
# looked at for. The reference says "calculate PSI" and nothing of options; the frame that can be asked for along with
# it lists the new option, with no share on one side, and so does not count it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet toad==0.1.7 numpy==2.4.6 pandas==3.1.1 scipy==1.17.1 scikit-learn==1.9.1 \
  joblib seaborn || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(toad|pandas) '
export HOME="$folder" MPLBACKEND=agg
"$folder/venv/bin/python" - <<'PYTHON'
import math
import sys

from toad.metrics import PSI


def expected(now, before):
    total = 0.0
    for option in {*now, *before}:
        a, b = now.count(option) / len(now), before.count(option) / len(before)
        total += math.inf if not a or not b else (a - b) * math.log(a / b)
    return total


BEFORE = ["billing"] * 600 + ["delivery"] * 400
BUT_ONE = ["billing"] * 599 + ["delivery"] * 400 + ["complaint"]
SETS = {
    "half are new": (["billing"] * 300 + ["delivery"] * 200 + ["complaint"] * 500, BEFORE),
    "half are new, but for one": (["billing"] * 300 + ["delivery"] * 200 + ["complaint"] * 500, BUT_ONE),
    "all are new": (["complaint"] * 1000, BEFORE),
    "one option died out": (["billing"] * 1000, BEFORE),
    "nothing new": (["billing"] * 500 + ["delivery"] * 500, BEFORE),
}
found = {}
for name, (now, before) in SETS.items():
    found[name] = round(float(PSI(now, before)), 3)
    print(f"{name}: expected {expected(now, before):.3f}, toad {found[name]}")
frame = PSI(SETS["all are new"][0], BEFORE, return_frame=True)[1]
print(frame)
small = {"half are new": 0.347, "half are new, but for one": 3.446, "all are new": 0.0, "one option died out": 0.204}
sys.exit(0 if found == {**small, "nothing new": 0.041} else 1)
PYTHON
