#!/bin/sh
# nannyml ignores how it is asked to compute the drift of a number. `computation_params` of its univariate calculator is
# a dictionary by method, with `calculation_method` and `n_bins` in it; the methods look for these two names in the
# outer dictionary, where they never are, so that "exact" is "auto" and 10 bins are 10,000. With 10,000 reference rows
# or more, "auto" cuts the numbers into bins of equal width, where its text promises bins by quantiles: probabilities
# below 0.0001 share the first one. A model gives three fifths of the texts ten times the probability that it gave
# before, 0.00005 instead of 0.000005; the Kolmogorov-Smirnov statistic is 0.01, and no alert. So it is with "exact",
# for which the text names scipy's test, which has 0.6. No error, no warning. Most would expect that. Rare labels have
# such probabilities, and nothing but the number of reference rows decides whether they are seen.
# (Installed without what this does not need, which is some hundred megabytes, for graphics cards among others.)
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==2.3.3 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 lightgbm==4.5.0 \
  'plotly<6' pydantic pyarrow seaborn statsmodels pyfiglet python-dotenv rich segment-analytics-python \
  'APScheduler<4' category_encoders jinja2 click PyYAML fsspec || exit 2
"$folder/venv/bin/pip" install --quiet --no-deps nannyml==0.13.1 FLAML==2.8.0 xgboost-cpu==3.2.0 2>/dev/null || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(nannyml|scipy) '
echo "expected: another statistic with 10 bins, and with \"exact\" that of scipy, about 0.6"
NML_DISABLE_USAGE_LOGGING=1 "$folder/venv/bin/python" -W ignore - <<'PYTHON'
import sys

import nannyml
import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

random = np.random.default_rng(0)


def answers(size, rare):
    few = rare * random.uniform(0.2, 1.8, size)
    return pd.DataFrame({"p": np.where(random.random(size) < 0.6, few, random.random(size))})


reference, current = answers(20_000, 0.000005), answers(2_000, 0.00005)
OPTIONS = {
    "none": None,
    "10 bins": {"kolmogorov_smirnov": {"calculation_method": "estimated", "n_bins": 10}},
    "exact": {"kolmogorov_smirnov": {"calculation_method": "exact", "n_bins": 10_000}},
}
found = {}
for rows in (20_000, 9_999):
    for name, options in OPTIONS.items():
        calculator = nannyml.UnivariateDriftCalculator(
            column_names=["p"], continuous_methods=["kolmogorov_smirnov"], chunk_size=1_000, computation_params=options
        ).fit(reference[:rows])
        result = calculator.calculate(current).filter(period="analysis").to_df()["p"]["kolmogorov_smirnov"]
        found[rows, name] = result["value"].round(3).tolist()
        print(f"{rows} reference rows, options {name}: {found[rows, name]}, alerts {result['alert'].tolist()}")
scipy = [round(float(ks_2samp(reference["p"], current["p"][i : i + 1_000]).statistic), 3) for i in (0, 1_000)]
print(f"scipy: {scipy}")
large = [found[20_000, name] for name in OPTIONS]
is_so = large[0] == large[1] == large[2] and max(large[0]) < 0.05 and min(scipy) > 0.5
sys.exit(0 if is_so and min(found[9_999, "10 bins"]) > 0.5 and found[9_999, "10 bins"] == found[9_999, "exact"] else 1)
PYTHON
