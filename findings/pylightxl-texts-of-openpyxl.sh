#!/bin/sh
# pylightxl reads every text of a workbook that openpyxl has written as an empty cell. openpyxl, which pandas uses for
# workbooks as well where XlsxWriter is not installed, puts each text into its cell since version 3.1, as the format
# allows (`inlineStr`), and not into a list of all texts; pylightxl looks at that list only. Numbers and yes/no answers
# are read rightly, so that a table of answers comes out with its probabilities, and without the names of its columns,
# the references and the labels; no error, no warning. XlsxWriter's `constant_memory` writes so as well. Most would
# expect the texts, as calamine reads them from the same file, or an error. The manual says that texts are read and
# lists its limitations, without this one.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pylightxl==1.61 openpyxl==3.1.5 \
    xlsxwriter==3.2.9 python-calamine==0.5.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(pylightxl|openpyxl|xlsxwriter|python-calamine) '
cd "$folder"
echo "expected: the rows that were written"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import openpyxl
import pylightxl
import xlsxwriter
from python_calamine import CalamineWorkbook

ROWS = [["ref", "topic", "probability", "angry"], ["M-1", "Billing", 0.75, True], ["M-2", "Refund", 0.5, False]]


def by_openpyxl(name):
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.save(name)


def by_xlsxwriter(name, **options):
    book = xlsxwriter.Workbook(name, options)
    sheet = book.add_worksheet()
    for number, row in enumerate(ROWS):
        sheet.write_row(number, 0, row)
    book.close()


by_openpyxl("openpyxl.xlsx")
by_xlsxwriter("constant_memory.xlsx", constant_memory=True)
by_xlsxwriter("xlsxwriter.xlsx")
without_texts = [["" if isinstance(cell, str) else cell for cell in row] for row in ROWS]
is_so = True
for name in ("xlsxwriter", "openpyxl", "constant_memory"):
    workbook = pylightxl.readxl(f"{name}.xlsx")
    read = [list(row) for row in workbook.ws(workbook.ws_names[0]).rows]
    other = CalamineWorkbook.from_path(f"{name}.xlsx").get_sheet_by_index(0).to_python()
    print(f"{name}: {read}")
    is_so = is_so and other == ROWS and read == (ROWS if name == "xlsxwriter" else without_texts)
sys.exit(0 if is_so else 1)
PYTHON
