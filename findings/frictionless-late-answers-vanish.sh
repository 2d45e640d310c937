#!/bin/sh
# frictionless' `convert` leaves out answers of a CSV file that do not suit its first 90 rows: a column with levels
# there and "unsure" after them is taken for integers, each "unsure" becomes an empty cell, and the command says that it
# was converted, with status 0. `extract` does the same. So it goes with 0.5 after many 0 and 1, of which no half is
# left, and the mean is another. Of a short file nine tenths of the rows count: ten answers whose last is "unsure" lose
# it. With "unsure" in the first row all are kept. `validate` calls the same file invalid. Most would expect an error,
# or the texts. The manual says that types are inferred from a sample of 100 rows, with a `field_confidence` of 0.9, and
# has nothing of lost cells; public issues have had columns with a wrong type since 2022, and not these.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet frictionless==5.21.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^frictionless '
cd "$folder"
echo "expected: the answers that were written, or an error"
"$folder/venv/bin/python" - <<'PYTHON'
import csv, subprocess, sys


def frictionless(*arguments):
    command = [f"{sys.prefix}/bin/frictionless", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def converted(name, answers):
    """The answers after the conversion, its status and words, those of `extract`, and whether `validate` passes."""
    with open(f"{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([["ref", "answer"], *([f"M-{n}", it] for n, it in enumerate(answers))])
    run = frictionless("convert", f"{name}.csv", "--to-path", f"{name}-out.csv")
    with open(f"{name}-out.csv", newline="") as file:
        kept = [row["answer"] for row in csv.DictReader(file)]
    extracted = frictionless("extract", f"{name}.csv", "--csv")
    passes = frictionless("validate", f"{name}.csv").returncode == 0
    says_so = "converted" in run.stdout and not run.stderr
    return kept, run.returncode == 0 and says_so, extracted.returncode == 0 and "unsure" in extracted.stdout, passes


levels = [str(1 + n % 5) for n in range(150)]
tables = {
    "late": levels[:120] + ["unsure"] * 30,
    "first": ["unsure"] + levels[1:],
    "halves": [str(n % 2) for n in range(100)] + ["0.5"] * 50,
    "ten rows": levels[:9] + ["unsure"],
}
found = {}
for name, answers in tables.items():
    kept, done, extracted, passes = converted(name.replace(" ", "-"), answers)
    found[name] = kept.count(""), kept == answers, done, extracted, passes
    print(f"{name}: {kept.count('')} of {len(kept)} answers empty, said to be converted: {done}, valid: {passes}")
expected = {
    "late": (30, False, True, False, False),
    "first": (0, True, True, True, True),
    "halves": (50, False, True, False, False),
    "ten rows": (1, False, True, False, False),
}
sys.exit(0 if found == expected else 1)
PYTHON
