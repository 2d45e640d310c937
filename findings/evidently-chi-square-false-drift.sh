#!/bin/sh
# evidently finds a change of topics where there is none, in one comparison of three. It is its default for a column of
# labels with up to 1,000 reference rows: a chi-square test, of the new rows against the shares of the reference as if
# those were known exactly. They are a sample as well, and vary as much as the new rows. Of 400 pairs of samples of 500
# texts from one and the same source, with five topics, some 140 have a p-value below 0.05, for which it reports drift;
# with a larger batch against 200 reference rows nearly all. diagnost's check_drift does the same, of any size. No
# error, no warning. Most would expect some 20 of 400, as scipy's test of two samples finds. evidently's text calls it a
# test of two samples. Another library, alibi-detect, had this test until 2021 and replaced it for that reason; public
# issues of evidently have labels that only one sample has, and not this.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet evidently==0.7.23 diagnost==0.1.2 pandas==2.3.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(evidently|diagnost|scipy) '
echo "expected: drift in about 5 % of the comparisons, since all samples have one source"
DO_NOT_TRACK=1 MPLBACKEND=Agg "$folder/venv/bin/python" -W ignore - <<'PYTHON'
import contextlib
import io
import sys

import numpy as np
import pandas as pd
from diagnost.drift import check_drift
from evidently import DataDefinition, Dataset, Report
from evidently.metrics import ValueDrift
from scipy.stats import chi2_contingency

random = np.random.default_rng(0)
COLUMNS = DataDefinition(categorical_columns=["topic"])


def sample(size):
    topics = ["billing", "login", "refund", "delivery", "other"]
    return pd.DataFrame({"topic": random.choice(topics, size, p=[0.3, 0.25, 0.2, 0.15, 0.1])})


def p_values(reference, current):
    data = [Dataset.from_pandas(frame, data_definition=COLUMNS) for frame in (current, reference)]
    metric = Report([ValueDrift(column="topic")]).run(*data).dict()["metrics"][0]
    assert metric["config"]["method"] == "chi-square p_value", metric
    with contextlib.redirect_stdout(io.StringIO()):
        other = check_drift(reference, current, plot=False)["topic"]["p_value"]
    counts = pd.concat([frame["topic"].value_counts() for frame in (reference, current)], axis=1).fillna(0)
    return float(metric["value"]), other, chi2_contingency(counts)[1]


found = {}
for sizes in ((500, 500), (200, 5000)):
    values = np.array([p_values(sample(sizes[0]), sample(sizes[1])) for _ in range(400)])
    found[sizes] = [int(share) for share in (100 * (values < 0.05).mean(axis=0)).round()]
    print(f"{sizes[0]} and {sizes[1]} texts: drift in {found[sizes][0]} % (evidently), {found[sizes][1]} % (diagnost),"
          f" {found[sizes][2]} % (scipy's test of two samples)")
evidently, diagnost, scipy = found[500, 500]
is_so = 25 <= evidently <= 45 and 25 <= diagnost <= 45 and scipy <= 9
sys.exit(0 if is_so and min(found[200, 5000][:2]) >= 85 and found[200, 5000][2] <= 9 else 1)
PYTHON
