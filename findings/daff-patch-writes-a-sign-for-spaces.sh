#!/bin/sh
# daff shows what changed between two tables, and puts the changes into another copy with `daff patch`. Where a text
# changed by added spaces alone, it writes the sign U+2423, which stands for a space in what people are shown, into
# the table. "e mail me now" in place of "email me now" becomes "e␣mail me now", and "yes " becomes "yes␣". The file of
# changes that `daff diff` wrote has the space; the sign comes in when it is read again. No error, no warning, and exit
# status 0. Other changes are right, also those that take spaces out or turn a line end into a space. Most would expect
# the second table, as the manual says that a file of changes can be applied as a patch; what is shown in a terminal
# is another matter. Three-way merging is right; daff 1.4.2 for JavaScript writes the sign as well. Answers and texts
# that are corrected in a spreadsheet and brought back in this way have a character afterwards that nobody typed, and no
# longer equal their option.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet daff==1.4.2 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^daff '
daff="$folder/venv/bin/daff"
cd "$folder"
printf 'ref,text,answer\n1,email me now,yes\n2,new york,no\n3,line,no\n4,a  gap,no\n' >first.csv
printf 'ref,text,answer\n1,e mail me now,yes \n2,newyork,yes\n3,two words,no\n4,a   gap,no\n' >second.csv
"$daff" diff --id ref --output changes.csv first.csv second.csv
"$daff" patch --output patched.csv first.csv changes.csv
"$daff" merge --id ref --output merged.csv first.csv first.csv second.csv
echo "expected, as second.csv has it:"
cat second.csv
echo "changes.csv:"
cat changes.csv
echo "first.csv with changes.csv applied:"
cat patched.csv
python3 - <<'PYTHON'
import csv
import sys

second, patched, merged = (list(csv.reader(open(f"{name}.csv", encoding="utf-8"))) for name in ("second", "patched", "merged"))
wanted = [list(row) for row in second]
wanted[1][1:] = ["e\u2423mail me now", "yes\u2423"]
wanted[4][1] = "a  \u2423gap"
changes = open("changes.csv", encoding="utf-8").read()
sys.exit(0 if patched == wanted and merged == second and "\u2423" not in changes else 1)
PYTHON
