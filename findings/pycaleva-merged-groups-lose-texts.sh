#!/bin/sh
# pycaleva, which tests how far a model's probabilities can be believed, has `merge_groups` for groups with too few
# events, and loses texts in it. Of 1,000 texts in ten groups the first three are merged, and the fourth is dropped: the
# table has 900, under an interval that says it reaches up to the fourth's end. The mean probability of the merged group
# is the sum of the three means, 0.09 in place of 0.03, and so is the mean of what was observed. The Hosmer-Lemeshow
# test that follows, and the errors `ace` and `mce`, are worked out from that table: a model whose fourth group has 38
# yes where 12 were predicted is refused with a p of 1e-9, and passes with a p of 1 once groups are merged. No error, no
# warning. Most would expect the test of the same texts in fewer groups, as the script works it out from them: the manual
# says that groups are merged until enough events are in one, so that the test's requirements hold.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pycaleva==0.8.2 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(pycaleva|scipy) '
export HOME="$folder" MPLBACKEND=agg
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy
from pycaleva import CalibrationEvaluator
from scipy.stats import chi2

p = ((numpy.arange(1000) + 0.5) / 1000) ** 2
# Of each hundred texts, those with the highest probabilities are yes; how many of a hundred:
YES = [1, 2, 8, 38, 20, 30, 42, 56, 72, 90]
y = numpy.concatenate([numpy.repeat([0, 1], [100 - yes, yes]) for yes in YES])
evaluator = CalibrationEvaluator(y, p, outsample=True, n_groups=10)


def statistic(groups):
    parts = [(y[group].sum(), p[group].mean(), group.stop - group.start) for group in groups]
    found = sum((yes - n * mean) ** 2 / (n * mean * (1 - mean)) for yes, mean, n in parts)
    return round(float(found), 2), float(chi2.sf(found, len(parts)))


def show(name, table, test):
    first = table.iloc[0]
    print(f"{name}: {int(table.total.sum())} texts in {len(table)} groups, the first {table.index[0]} of"
          f" {int(first.total)} with mean {first.mean_predicted:.3f}, chi-square {test.statistic:.2f}, p {test.pvalue:.2g}")


ten = [slice(i, i + 100) for i in range(0, 1000, 100)]
before = evaluator.hosmerlemeshow(verbose=False)
show("before", evaluator.contingency_table, before)
evaluator.merge_groups(5)
table, after = evaluator.contingency_table, evaluator.hosmerlemeshow(verbose=False)
show("merged", table, after)
right = statistic([slice(0, 300)] + ten[3:])
mean = p[:300].mean()
print(f"expected: 1000 texts in 8 groups, the first of 300 with mean {mean:.3f}, chi-square {right[0]}, p {right[1]:.2g}")
is_so = round(before.statistic, 2) == statistic(ten)[0] and table.total.sum() == 900 and len(table) == 7
is_so = is_so and abs(table.iloc[0].mean_predicted - 3 * p[:300].mean()) < 1e-9
sys.exit(0 if is_so and right[1] < 1e-4 and after.pvalue > 0.1 else 1)
PYTHON
