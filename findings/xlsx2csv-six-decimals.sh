#!/bin/sh
# xlsx2csv makes 0 of a probability of 0.0000004 and 1 of 0.9999996: it writes numbers of cells without a number format
# with six decimals, and takes the zeros off, so that nothing shows it. What a model held for nearly impossible becomes
# impossible, and a single such answer that came true makes the log loss infinite. Most would expect the number that
# the workbook has, as openpyxl reads it. Neither its manual nor `--help` names a default, `--sci-float` changes
# nothing, and only `--floatformat` keeps more decimals, of all numbers. A public issue has had the lost decimals since
# 2016, not what they do to probabilities near 0 and 1.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xlsx2csv==0.8.6 XlsxWriter==3.3.1 openpyxl==3.1.5 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -i -E '^(xlsx2csv|xlsxwriter|openpyxl) '
cd "$folder"
echo "expected: the same log loss from the workbook and from the CSV file"
"$folder/venv/bin/python" - <<'PYTHON'
import csv, math, subprocess, sys

import openpyxl
import xlsxwriter

ANSWERS = [(0.0000004, True), (0.9999996, True), (0.9999996, False), (0.25, False), (0.123456789, False)]
workbook = xlsxwriter.Workbook("answers.xlsx")
sheet = workbook.add_worksheet()
for row, (probability, came_true) in enumerate(ANSWERS):
    sheet.write_number(row, 0, probability)
    sheet.write_boolean(row, 1, came_true)
workbook.close()


def converted(*options):
    subprocess.run([f"{sys.prefix}/bin/xlsx2csv", *options, "answers.xlsx", "answers.csv"], check=True)
    with open("answers.csv", newline="") as file:
        return [row[0] for row in csv.reader(file)]


def log_loss(probabilities):
    given = [float(it) if came_true else 1 - float(it) for it, (_, came_true) in zip(probabilities, ANSWERS)]
    return sum(-math.log(it) if it > 0 else math.inf for it in given) / len(given)


by_openpyxl = [row[0] for row in openpyxl.load_workbook("answers.xlsx").active.iter_rows(values_only=True)]
by_xlsx2csv = converted()
print(f"openpyxl: {by_openpyxl}, log loss {log_loss(by_openpyxl):.3f}")
print(f"xlsx2csv: {by_xlsx2csv}, log loss {log_loss(by_xlsx2csv):.3f}")
is_so = by_xlsx2csv == ["0", "1", "1", "0.25", "0.123457"] and converted("--sci-float") == by_xlsx2csv
kept = [float(it) for it in converted("--floatformat", "%.15f")]
exact = [probability for probability, _ in ANSWERS]
sys.exit(0 if is_so and by_openpyxl == exact and kept == exact else 1)
PYTHON
