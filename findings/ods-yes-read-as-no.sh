#!/bin/sh
# pandas reads every yes of a spreadsheet in OpenDocument's format as no, if odfdo, pyexcel-ods, pyexcel-ods3, ezodf or
# tablib has written it. Such a cell has its value twice, `office:boolean-value="true"` and a text for people to see;
# pandas' reader asks whether that text is "TRUE", and says False to all else. odfdo and both of pyexcel have "true"
# there, ezodf and tablib nothing, and both are valid, as the text is in the language of the person who saved the file.
# A table of answers comes out with its texts and references right and with no in each row; no error, no warning. What
# pandas has written itself, it reads rightly. Most would expect the value, as odfdo and calamine read it from each of
# the files. The manual says that what this engine does matches what is done for Excel's files. Public issues are about
# pandas' writer of such cells (2023, solved), none about its reader.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 odfpy==1.4.1 odfdo==3.27.3 pyexcel-ods==0.6.0 pyexcel-ods3==0.6.1 \
    ezodf==0.3.2 lxml==6.1.3 tablib==3.10.0 python-calamine==0.9.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(pandas|odf|pyexcel-ods|ezodf|tablib|python-calamine)'
cd "$folder"
echo "expected: late is True, True and False in each of the files"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from collections import OrderedDict
from pathlib import Path

import ezodf
import odfdo
import pandas
import pyexcel_ods
import pyexcel_ods3
import python_calamine
import tablib

ROWS = [["reference", "late"], ["M-1", True], ["M-2", True], ["M-3", False]]

document = odfdo.Document("spreadsheet")
document.body.clear()
table = odfdo.Table("answers")
for row in ROWS:
    table.append(odfdo.Row())
    table.set_row_values(table.height - 1, row)
document.body.append(table)
document.save("odfdo.ods")
pyexcel_ods.save_data("pyexcel-ods.ods", OrderedDict(answers=ROWS))
pyexcel_ods3.save_data("pyexcel-ods3.ods", OrderedDict(answers=ROWS))
book = ezodf.newdoc("ods", "ezodf.ods")
book.sheets += ezodf.Sheet("answers", size=(4, 2))
for y, row in enumerate(ROWS):
    for x, value in enumerate(row):
        book.sheets[0][y, x].set_value(value)
book.save()
Path("tablib.ods").write_bytes(tablib.Dataset(*ROWS[1:], headers=ROWS[0]).export("ods"))
pandas.DataFrame(ROWS[1:], columns=ROWS[0]).to_excel("pandas.ods", engine="odf", index=False)

is_so = True
for name in ("pandas", "odfdo", "pyexcel-ods", "pyexcel-ods3", "ezodf", "tablib"):
    found = pandas.read_excel(f"{name}.ods", engine="odf")["late"].tolist()
    sheet = odfdo.Document(f"{name}.ods").body.get_table(0)
    others = [[row[1] for row in list(sheet.get_values())[1:4]]]
    sheet = python_calamine.load_workbook(f"{name}.ods").get_sheet_by_index(0)
    others.append([row[1] for row in sheet.to_python()[1:]])
    print(f"written by {name}: {found} with pandas, {others[0]} with odfdo, {others[1]} with calamine")
    is_so &= others == [[True, True, False]] * 2 and found == [name == "pandas"] * 2 + [False]
sys.exit(0 if is_so else 1)
PYTHON
