#!/bin/sh
# confidenceinterval gives metrics with their confidence intervals, computed from a formula by default. Its intervals of
# 95 % of macro metrics are not: that of the macro F1 of three common topics is nearly twice as wide as that of its own
# bootstrap, and holds the truth every time; that of the macro precision is too narrow if a topic is rare, and misses
# the truth one time in seven. The covariance of the shares of answers is computed from their squares instead of their
# products, for all macro metrics. Micro averages and binary F1 are right; no error, no warning. Most would expect 95 %,
# and about what the bootstrap of the same function finds: it decides whether two models differ. The manual names a
# paper and the delta method, and the interval of macro F1 in its own example ends at 1.113.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet confidenceinterval==1.0.5 scikit-learn==1.9.1 numpy==2.4.6 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(confidenceinterval|numpy|scikit-learn) '
echo "expected: intervals of 95 % that hold the truth 95 times of 100, as wide as those of the bootstrap"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy
from confidenceinterval import f1_score, precision_score

TRUTH, TEXTS, ROUNDS = 1_000_000, 400, 400


def answers(seed, texts, shares):
    """The right topics, and those of a model that knows four of five and guesses the others."""
    random = numpy.random.default_rng(seed)
    right = random.choice(len(shares), texts, p=shares)
    return right, numpy.where(random.random(texts) < 0.8, right, random.integers(0, len(shares), texts))


def share_that_holds(metric, shares, average):
    truth = metric(*answers(ROUNDS, TRUTH, shares), average=average, compute_ci=False)
    intervals = [metric(*answers(seed, TEXTS, shares), average=average)[1] for seed in range(ROUNDS)]
    return sum(low <= truth <= high for low, high in intervals) / ROUNDS


def width(shares, **options):
    low, high = f1_score(*answers(0, TEXTS, shares), average="macro", **options)[1]
    return high - low


even, uneven = [0.5, 0.3, 0.2], [0.8, 0.15, 0.05]
by_formula = width(even)
by_bootstrap = width(even, method="bootstrap_percentile", n_resamples=2000, random_state=numpy.random.default_rng(0))
print(f"macro F1 of {TEXTS} texts: {by_formula:.3f} wide by the formula, {by_bootstrap:.3f} by the bootstrap")
held = {}
for name, metric, shares, average in [
    ("micro F1, three topics", f1_score, even, "micro"),
    ("macro F1, three topics", f1_score, even, "macro"),
    ("micro precision, a rare topic", precision_score, uneven, "micro"),
    ("macro precision, a rare topic", precision_score, uneven, "macro"),
]:
    held[name] = share_that_holds(metric, shares, average)
    print(f"{name}: intervals of 95 % that hold the truth: {held[name]:.1%} of {ROUNDS}")
micro, f1, uneven_micro, precision = held.values()
right = all(0.92 < it < 0.98 for it in (micro, uneven_micro)) and 0.06 < by_bootstrap < 0.09
sys.exit(0 if right and f1 > 0.99 and precision < 0.89 and by_formula > 1.5 * by_bootstrap else 1)
PYTHON
