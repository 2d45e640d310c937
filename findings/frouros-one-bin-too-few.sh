#!/bin/sh
# frouros, a library that tells if data have drifted, has one bin fewer than asked for in its Jensen-Shannon distance
# and its Kullback-Leibler divergence: it draws `num_bins` edges, between which lie `num_bins` - 1 bins. With two bins,
# one for "no" and one for "yes", all lies in a single one and both are 0, whatever has changed: answers of which 10
# percent are "yes" before and 90 percent after have no distance at all. The same two bins are right in its Hellinger
# distance, of the same detectors, and with three bins asked for, Jensen-Shannon's is what scipy finds for two. The
# documentation has `num_bins` as the number of bins in which to divide probabilities. No error, no warning. Most would
# expect scipy's figure for two bins; a watch over yes-or-no answers with two bins never rings.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet frouros==0.9.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(frouros|scipy) '
echo "expected: with two bins, the distances that scipy and the sum find for 0.9, 0.1 and 0.1, 0.9"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
from frouros.detectors.data_drift import JS, KL, HellingerDistance
from scipy.spatial.distance import jensenshannon
from scipy.special import rel_entr

before = np.array([0.0] * 900 + [1.0] * 100)
after = np.array([0.0] * 100 + [1.0] * 900)
shares = [np.array([np.mean(answers == 0), np.mean(answers == 1)]) for answers in (before, after)]
right = {
    "JS": jensenshannon(*shares),
    "KL": rel_entr(shares[1], shares[0]).sum(),
    "HellingerDistance": np.sqrt(np.sum((np.sqrt(shares[0]) - np.sqrt(shares[1])) ** 2) / 2),
}
found = {}
for kind in (JS, KL, HellingerDistance):
    name = kind.__name__
    for bins in (2, 3):
        detector = kind(num_bins=bins)
        detector.fit(X=before)
        found[name, bins] = detector.compare(X=after)[0].distance
    print(f"{name}: {found[name, 2]:.3f} with 2 bins, {found[name, 3]:.3f} with 3; right {right[name]:.3f}")
blind = abs(found["JS", 2]) < 1e-9 and abs(found["KL", 2]) < 1e-9
late = all(abs(found[name, 3] - right[name]) < 1e-9 for name in ("JS", "KL"))
sees = abs(found["HellingerDistance", 2] - right["HellingerDistance"]) < 1e-9
sys.exit(0 if blind and late and sees else 1)
PYTHON
