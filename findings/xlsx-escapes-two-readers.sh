#!/bin/sh
# Neither of pandas' readers of workbooks reads the texts that XlsxWriter escapes as Excel does (`_xHHHH_`
# for a control character, `_x005F_` for an underscore that begins what looks like one), and they differ:
# openpyxl undoes the escape of an underscore and leaves that of a vertical tab in the text; calamine leaves
# both. Most would expect the texts that were written, or at least one text whichever reader is chosen.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet XlsxWriter==3.2.9 openpyxl==3.1.5 python-calamine==0.5.3 pandas==2.3.3 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -i -E '^(xlsxwriter|openpyxl|python-calamine|pandas) '
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pandas
import xlsxwriter

written = ["first\x0bsecond", "_x0041_"]
with xlsxwriter.Workbook("texts.xlsx") as workbook:
    sheet = workbook.add_worksheet()
    for row, text in enumerate(["text", *written]):
        sheet.write_string(row, 0, text)
print("expected:", written)
found = {engine: pandas.read_excel("texts.xlsx", engine=engine)["text"].tolist() for engine in ("openpyxl", "calamine")}
for engine, texts in found.items():
    print(f"{engine}: {texts}")
same = found == {
    "openpyxl": ["first_x000B_second", "_x0041_"],
    "calamine": ["first_x000B_second", "_x005F_x0041_"],
}
sys.exit(0 if same else 1)
PYTHON
