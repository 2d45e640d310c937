#!/bin/sh
# judge-audit corrects the scores of a model that judges texts by isotonic regression against people's scores, and the
# corrected score depends on the order of the rows that it learnt from; no error, no warning. Isotonic regression puts
# rows of one score together; here they stay apart, and the last or the last few of them are taken. With scores from 1
# to 5, the manual's scale, nearly all rows have another of the same score. A lenient model whose 5 people score with 3
# on average keeps its 5 if the table is sorted by people's scores, gets 4 in another order, and 3, as most would
# expect, if the highest come first. The same texts, the same scores: what is corrected is chance.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet judge-audit==0.1.0 numpy==2.4.6 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^judge-audit '
echo "expected: one corrected score for each score, whatever the order of the rows"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from judge_audit import IsotonicCalibrator, calibration_error

# The model's score, and what people gave to the texts that got it: each mark as often as the others.
people = {3: [1, 1, 2, 2], 4: [1, 2, 3, 4], 5: [1, 2, 3, 4, 5] * 2}
rows = [(score, mark) for score, marks in people.items() for mark in marks]
means = [sum(marks) / len(marks) for marks in people.values()]


def corrected(name, table):
    judge, human = zip(*table)
    calibrator = IsotonicCalibrator().fit(judge, human)
    scores = [round(float(score), 2) for score in calibrator.transform(list(people))]
    error = round(calibration_error(calibrator.transform(judge), human, scale=(1, 5))["ece"], 2)
    print(f"{name}: scores 3, 4 and 5 become {scores}, calibration error {error}")
    return scores


print(f"means of people's scores: {means}")
found = [
    corrected("people's scores, highest last", sorted(rows, key=lambda row: row[1])),
    corrected("people's scores, highest first", sorted(rows, key=lambda row: -row[1])),
    corrected("every seventh row", [rows[number * 7 % len(rows)] for number in range(len(rows))]),
]
sys.exit(0 if found == [[1, 2, 5], means, [1.67, 2.03, 4]] else 1)
PYTHON
