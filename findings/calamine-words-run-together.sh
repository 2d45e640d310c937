#!/bin/sh
# python-calamine, which reads spreadsheets with Rust's calamine, runs words together that a spreadsheet in
# OpenDocument's format has on two lines or on both sides of a tabulator. "no late parcel\nrefund" as ezodf writes it,
# with `<text:line-break/>`, is read as "no late parcelrefund", "yes\tno" as "yesno" and the two labels "late\nlost" as
# the one "latelost". No error, no warning; runs of blanks, which the format also has as elements, are read rightly, and
# so are the paragraphs that other writers make of lines. Most would expect the texts, as odfdo and pyexcel-ods read
# them from the same file. What pandas writes has such elements too, and is read rightly because it has each text a
# second time, as an attribute. The manual says that cells come as Python's values. Public issues have the runs of
# blanks (2021, solved), not these.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet python-calamine==0.9.1 ezodf==0.3.2 lxml==6.1.3 odfdo==3.27.3 \
    pyexcel-ods==0.6.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(python-calamine|ezodf|odfdo|pyexcel-ods) '
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import ezodf
import odfdo
import pyexcel_ods
import python_calamine

TEXTS = ["no late parcel\nrefund", "yes\tno", "late\nlost", "a   b", "Thanks"]
book = ezodf.newdoc("ods", "answers.ods")
book.sheets += ezodf.Sheet("answers", size=(len(TEXTS), 1))
for row, text in enumerate(TEXTS):
    book.sheets[0][row, 0].set_value(text)
book.save()
found = [row[0] for row in python_calamine.load_workbook("answers.ods").get_sheet_by_index(0).to_python()]
others = {
    "odfdo": [row[0] for row in odfdo.Document("answers.ods").body.get_table(0).get_values()],
    "pyexcel-ods": [row[0] for row in pyexcel_ods.get_data("answers.ods")["answers"]],
}
for name, texts in others.items():
    print(f"expected, as {name} reads it: {texts}")
print(f"found by calamine: {found}")
is_so = all(texts == TEXTS for texts in others.values())
sys.exit(0 if is_so and found == ["no late parcelrefund", "yesno", "latelost", "a   b", "Thanks"] else 1)
PYTHON
