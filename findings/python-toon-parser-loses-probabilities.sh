#!/bin/sh
# python-toon-parser writes data in TOON, a notation for language models, and reads it back, and loses columns and list
# items in it. A table's row whose text has a quotation mark comes back without the columns after it: the text
# 'size 5" screen' with the probability 0.5 is one text, 'size 5" screen,0.5', and no probability; the other rows are
# right. A list of two texts, of which one is written in quotes as it is empty, "true" or has a comma, comes back as a
# list of one. References change as well: "0012" is 12, "1_000" is 1000 and "NaN" is not a number. No error, no warning.
# Most would expect what was written: the manual's list of features has "Round-Trip", as reading what was written
# preserves the structure. toon-format, another package for the notation, has each of them right.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet python-toon-parser==0.1.1 toon-format==1.2.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E 'toon'
"$folder/venv/bin/python" - <<'PYTHON'
import json
import sys

import pytoon
import toon_format

DATA = {
    "a quotation mark": {"rows": [{"text": 'size 5" screen', "p": 0.5}, {"text": "size 6 screen", "p": 0.1}]},
    "an empty text": {"labels": ["", "refund"]},
    "a comma": {"labels": ["billing, other", "refund"]},
    "the text true": {"answers": ["true", "other"]},
    "references": {"refs": {"first": "0012", "second": "1_000"}},
    "none of these": {"rows": [{"text": "screen", "p": 0.5}], "labels": ["billing", "refund"]},
}
WRONG = {
    "a quotation mark": {"rows": [{"text": 'size 5" screen,0.5'}, {"text": "size 6 screen", "p": 0.1}]},
    "an empty text": {"labels": ['"", refund']},
    "a comma": {"labels": ['"billing, other", refund']},
    "the text true": {"answers": ['"true", other']},
    "references": {"refs": {"first": 12, "second": 1000}},
    "none of these": DATA["none of these"],
}
is_so = True
for name, data in DATA.items():
    written = pytoon.dumps(data)
    found = pytoon.loads(written)
    print(f"{name}: {written!r}\n  expected {json.dumps(data)}\n  read     {json.dumps(found)}")
    is_so = is_so and found == WRONG[name] and toon_format.loads(toon_format.dumps(data)) == data
sys.exit(0 if is_so else 1)
PYTHON
