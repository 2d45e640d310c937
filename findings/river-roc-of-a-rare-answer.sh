#!/bin/sh
# river, a library for learning from streams, has a ROCAUC that finds 0.5, as of answers by chance, for any model of a
# rare answer: it keeps counts for ten thresholds only, evenly from 0 to 1, and probabilities below 0.11 lie all between
# the first two. Its documentation says that the error is not significant as long as the probabilities are well
# calibrated, and that models can be compared with it reliably in any case. The probabilities below are calibrated
# exactly, from 1 to 10 percent, and scikit-learn finds 0.66; a model that knows every answer, with 0.10 for yes and 0
# for no, has 1 in truth, and one that says the opposite 0; river has 0.5 for each of them. No error, no warning. River's
# own RollingROCAUC is right. Most would expect about 0.66, 1 and 0: a stream with few complaints shows nothing.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet river==0.26.1 scikit-learn==1.9.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(river|scikit-learn) '
echo "expected: about the figures of scikit-learn"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from river import metrics
from sklearn.metrics import roc_auc_score

# Of 1,000 texts with a probability of 1 percent, 10 are complaints, of 1,000 with 2 percent 20, and so on.
TEXTS = [(percent / 100, row < percent * 10) for percent in range(1, 11) for row in range(1000)]
MODELS = {
    "calibrated": [probability for probability, _ in TEXTS],
    "knows": [0.10 if complaint else 0.0 for _, complaint in TEXTS],
    "opposite": [0.0 if complaint else 0.10 for _, complaint in TEXTS],
    "sure": [0.9 if complaint else 0.1 for _, complaint in TEXTS],
}
marks = [complaint for _, complaint in TEXTS]
found = {}
for name, probabilities in MODELS.items():
    online, rolling = metrics.ROCAUC(), metrics.RollingROCAUC(window_size=len(marks))
    for mark, probability in zip(marks, probabilities):
        online.update(mark, probability)
        rolling.update(mark, probability)
    found[name] = [round(value, 2) for value in (online.get(), rolling.get(), roc_auc_score(marks, probabilities))]
    print(f"{name}: ROCAUC {found[name][0]}, RollingROCAUC {found[name][1]}, scikit-learn {found[name][2]}")
EXPECTED = {"calibrated": [0.5, 0.66, 0.66], "knows": [0.5, 1, 1], "opposite": [0.5, 0, 0], "sure": [1, 1, 1]}
sys.exit(0 if found == EXPECTED else 1)
PYTHON
