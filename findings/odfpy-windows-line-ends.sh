#!/bin/sh
# odfpy, with which pandas writes spreadsheets in OpenDocument's format, writes a carriage return as `&#12;`, where
# `&#13;` would be right: 13 is a carriage return, 12 a form feed, which XML forbids in any form. One text with the line
# ends of Windows, as letters and mails have them, makes a file that is no XML, so that readers take it for broken;
# pandas itself prints the whole document on its output, raises no error and gives the rows before that text, and its
# row without it: of six answers one is left, and of the second its reference. calamine gives all rows and a form feed
# in the text. No error and no warning on writing. Most would expect the texts, as from an .xlsx file of the same table.
# It happens in attributes, in which pandas has the value of a text; odfpy's manual has no word on it. A public issue of
# 2017 is about characters that XML forbids, which are written as they are; a carriage return is not one of them.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet odfpy==1.4.1 pandas==3.1.1 openpyxl==3.1.5 python-calamine==0.9.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(odfpy|pandas|openpyxl|python-calamine) '
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import contextlib
import io
import re
import sys
import zipfile

import pandas
import python_calamine

TEXTS = ["Thanks", "Refund, please.\r\nAda", "Late", "Lost", "Broken", "Again"]
table = pandas.DataFrame({"reference": [f"M-{number}" for number in range(1, 7)], "text": TEXTS})
table.to_excel("answers.ods", engine="odf", index=False)
table.to_excel("answers.xlsx", engine="openpyxl", index=False)
xml = zipfile.ZipFile("answers.ods").read("content.xml").decode()
written = re.findall(r'office:string-value="(Refund[^"]*)"', xml)
other = pandas.read_excel("answers.xlsx", engine="openpyxl").values.tolist()
printed = io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
    found = pandas.read_excel("answers.ods", engine="odf", keep_default_na=False).values.tolist()
rows = python_calamine.load_workbook("answers.ods").get_sheet_by_index(0).to_python()[1:]
print("written:                       ", written)
print("expected, as from .xlsx:       ", other)
print("read by pandas from .ods:      ", found)
print("printed by its reader:         ", printed.getvalue().split("\n")[0], f"and {len(xml)} characters of XML")
print("read by calamine from .ods:    ", rows)
is_so = (
    written == ["Refund, please.&#12;&#10;Ada"]
    and [row[0] for row in other] == table["reference"].tolist()
    and found == [["M-1", "Thanks"], ["M-2", ""]]
    and rows[1] == ["M-2", "Refund, please.\f\nAda"]
)
sys.exit(0 if is_so else 1)
PYTHON
