#!/bin/sh
# pyexcel reads a cell of a CSV file with a list of options, "1,3" or "1,2,3", as the number 13 or 123, and writes it so
# into the next file: a text that is about the first and the third topic is about the thirteenth then. It takes any
# comma between digits for one that separates thousands, also in "1,5", which becomes 15, and "0,25" stays a text. What
# it writes to a CSV file itself, it does not read back. The batch "2024_1" becomes 20241.0, and "2024_10" stays: the
# pattern that is to keep underscores wants two digits after the last. No error, no warning. Most would expect the
# texts, or numbers of one kind. The manual says that text becomes a number if possible, names options against it, and
# has nothing of commas or underscores. Public issues have had decimal commas since 2022, not the lists.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pyexcel==0.7.6 pyexcel-io==0.6.8 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(pyexcel|pyexcel-io) '
cd "$folder"
echo "expected: the cells that were written"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pyexcel

CELLS = ["1,3", "1,2,3", "2", "1, 3", "1,5", "0,25", "2024_1", "2024_10", "0.25"]
rows = [["ref", "answer"], *([f"M-{number}", cell] for number, cell in enumerate(CELLS))]
pyexcel.save_as(array=rows, dest_file_name="answers.csv")
with open("answers.csv") as file:
    written = file.read()
read = [row[1] for row in pyexcel.get_array(file_name="answers.csv")[1:]]
for cell, value in zip(CELLS, read):
    print(f"written {cell!r}, read {value!r}")
pyexcel.save_as(file_name="answers.csv", dest_file_name="copy.csv")
with open("copy.csv") as file:
    copied = file.read()
is_so = read == [13, 123, 2, "1, 3", 15, "0,25", 20241.0, "2024_10", 0.25]
kept = '"1,3"' in written and "2024_1\n" in written.replace("\r", "")
sys.exit(0 if is_so and kept and "M-0,13" in copied and "M-1,123" in copied else 1)
PYTHON
