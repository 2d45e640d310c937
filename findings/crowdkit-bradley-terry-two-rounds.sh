#!/bin/sh
# crowd-kit ranks answers, prompts or models by pairwise comparisons with BradleyTerry, and stops after two rounds of
# its computation, whatever `n_iter` and `tol` are. The scores that it compares with those of the round before are one
# and the same array, so that the difference is 0. The scores lie far too close together, and the order can be wrong: A
# wins 55 of 100 against B, B 70 against C, C 70 against D and D 90 against E; A has 0.26 and B 0.27. With 1 round in
# place of 100,000 they change, with 3 they do not. No error, no warning; `loss_history_`, which is to hold the losses,
# is empty. Most would expect 0.43 and 0.35, by which A wins 55 of 100 against B: with comparisons in a chain the scores
# follow from the shares alone. The manual promises the largest likelihood, a number of rounds and a tolerance. A public
# issue of another package has had different scores since 2024, and took them for another way to measure the tolerance.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet crowd-kit==1.4.2 pandas==2.3.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(crowd-kit|pandas) '
echo "expected: scores as in the last line, and so the share of wins that each pair has"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pandas as pd
from crowdkit.aggregation import BradleyTerry

WINS = [("A", "B", 55), ("B", "C", 70), ("C", "D", 70), ("D", "E", 90)]
rows = [(left, right, left if i < wins else right) for left, right, wins in WINS for i in range(100)]
data = pd.DataFrame(rows, columns=["left", "right", "label"])
found = {}
for rounds in (1, 2, 3, 100_000):
    model = BradleyTerry(n_iter=rounds, tol=1e-12).fit(data)
    found[rounds] = [round(float(score), 2) for score in model.scores_.sort_index()]
    print(f"crowd-kit, n_iter={rounds}: {found[rounds]}, losses {model.loss_history_}")
scores = [1.0]
for _, _, wins in WINS:
    scores.append(scores[-1] * (100 - wins) / wins)
manually = [round(score / sum(scores), 2) for score in scores]
print(f"manually, from the shares of wins: {manually}")
is_so = manually == [0.43, 0.35, 0.15, 0.06, 0.01] and found[1] != found[2]
sys.exit(0 if is_so and found[2] == found[3] == found[100_000] == [0.26, 0.27, 0.23, 0.22, 0.03] else 1)
PYTHON
