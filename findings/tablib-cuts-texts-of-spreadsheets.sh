#!/bin/sh
# tablib reads the texts of a spreadsheet in OpenDocument's format up to the first line break only, where pandas or
# pyexcel-ods has written it, and up to the first two blanks in a row, or the first tabulator, where ezodf has: of
# "Refund, please.\nOr I will go to court." it gives "Refund, please.", of "Late.  Again." the piece "Late. ", and of a
# text that begins with two blanks one blank. The format has a line break, a run of blanks, a tabulator, a link and a
# word in bold as elements of their own within a text, and tablib returns the first piece of each cell. No error, no
# warning; "booking" and "court" are then in no text. What tablib writes, it reads whole, as it leaves such characters
# as they are. Most would expect the texts, as odfdo reads them from the same files. Reading the format was called a bit
# experimental when it came; no limit of this kind is named. A public request of 2025 is about the several paragraphs
# that LibreOffice writes for a text of several lines, not about elements within one.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tablib==3.10.0 odfpy==1.4.1 pandas==3.1.1 pyexcel-ods==0.6.0 ezodf==0.3.2 \
    lxml==6.1.3 odfdo==3.27.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(tablib|odf|pandas|pyexcel-ods|ezodf)'
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from collections import OrderedDict
from pathlib import Path

import ezodf
import odfdo
import pandas
import pyexcel_ods
import tablib

TEXTS = ["Refund, please.\nOr I will go to court.", "Late.  Again.", "Name:\tAda", "  A booking", "All is well."]
ROWS = [["reference", "text"]] + [[f"M-{number}", text] for number, text in enumerate(TEXTS)]
CUT = ["Refund, please.", "Late. ", "Name:", " ", "All is well."]

book = ezodf.newdoc("ods", "ezodf.ods")
book.sheets += ezodf.Sheet("answers", size=(len(ROWS), 2))
for y, row in enumerate(ROWS):
    for x, value in enumerate(row):
        book.sheets[0][y, x].set_value(value)
book.save()
pandas.DataFrame(ROWS[1:], columns=ROWS[0]).to_excel("pandas.ods", engine="odf", index=False)
pyexcel_ods.save_data("pyexcel-ods.ods", OrderedDict(answers=ROWS))
Path("tablib.ods").write_bytes(tablib.Dataset(*ROWS[1:], headers=ROWS[0]).export("ods"))

print("expected:", TEXTS)
is_so = True
for name in ("tablib", "pandas", "pyexcel-ods", "ezodf"):
    with open(f"{name}.ods", "rb") as file:
        found = tablib.Dataset().load(file, format="ods")["text"]
    print(f"written by {name}, read by tablib: {found}")
    wanted = {"tablib": TEXTS, "ezodf": CUT}.get(name, CUT[:1] + TEXTS[1:])
    is_so &= found == wanted
others = [row[1] for row in list(odfdo.Document("ezodf.ods").body.get_table(0).get_values())[1:]]
print(f"written by ezodf, read by odfdo: {others}")
sys.exit(0 if is_so and others == TEXTS else 1)
PYTHON
