#!/bin/sh
# mlxtend's test of two accuracies, `proportion_difference`, has a p-value that depends on which model is named first:
# 90 of 100 texts right and 80 of 100 have 0.98, as if there were no difference at all, and the same two the other way
# round have 0.02. It takes the area below z, which is right for one question only, whether the first is worse. Its
# manual has the two-tailed question, whether they differ, and the rule of 1.96 for z; yet its example, 84 and 92 of
# 100, is called significant with a p-value of 0.040, at a z of -1.754. The text of the function says "the p-value" and
# nothing of a side. No error, no warning. Most would expect what statsmodels finds, 0.046 in either order, and 0.079
# for the example. A model that is better than the one before it is held for no better if it is named first.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mlxtend==0.25.0 statsmodels==0.15.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(mlxtend|statsmodels) '
echo "expected: one and the same p-value in either order, that of statsmodels"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from mlxtend.evaluate import proportion_difference
from statsmodels.stats.proportion import test_proportions_2indep

found = []
for first, second in ((90, 80), (80, 90), (84, 92), (92, 84)):
    z, p = proportion_difference(first / 100, second / 100, n_1=100)
    right = test_proportions_2indep(first, 100, second, 100, method="wald", correction=False)
    assert abs(right.statistic - z) < 1e-9
    found.append([float(round(value, 3)) for value in (z, p, right.pvalue)])
    print(f"{first} and {second} of 100: z {z:.3f}, mlxtend {p:.3f}, statsmodels {right.pvalue:.3f}")
expected = [[2.0, 0.977, 0.046], [-2.0, 0.023, 0.046], [-1.754, 0.04, 0.079], [1.754, 0.96, 0.079]]
sys.exit(0 if found == expected else 1)
PYTHON
