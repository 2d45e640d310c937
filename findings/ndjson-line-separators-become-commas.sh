#!/bin/sh
# ndjson, for files with a JSON value in each line, reads a text with another comma than it has. It cuts the file with
# Python's `splitlines` and puts the pieces together with commas, to read one list; so each character that Python takes
# for a line end, but JSON does not, becomes a comma inside a text: U+2028 and U+2029, which come with texts that are
# pasted from word processors and chats, and U+0085. "stop<U+2028>refund" is read as "stop,refund", and a reference
# with U+0085 in it no longer equals the one that was sent. JavaScript's JSON.stringify and Python's json with
# ensure_ascii=False write all three as they are. No error, no warning. Most would expect the text, as Python's json has
# it for the same line, and as `ndjson.reader`, the other way to read in the same package, has it for the same file.
# The manual says that `load` and `loads` are as those of json; the format's own says that lines end in \n.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ndjson==0.3.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^ndjson '
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import sys

import ndjson

TEXTS = {"U+2028": "stop\u2028refund", "U+2029": "stop\u2029refund", "U+0085": "stop\x85refund", "none": "stop refund"}
rows = [{"ref": name, "text": text, "answer": "yes"} for name, text in TEXTS.items()]
with open("answers.ndjson", "w", encoding="utf-8", newline="\n") as file:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
with open("answers.ndjson", encoding="utf-8", newline="\n") as file:
    lines = [json.loads(line) for line in file]
with open("answers.ndjson", encoding="utf-8", newline="\n") as file:
    loaded = ndjson.load(file)
with open("answers.ndjson", encoding="utf-8", newline="\n") as file:
    one_by_one = list(ndjson.reader(file))
for row, line, found, single in zip(rows, lines, loaded, one_by_one):
    print(f"{row['ref']}: expected {row['text']!r}, json {line['text']!r}, ndjson.load {found['text']!r}, "
          f"ndjson.reader {single['text']!r}")
wanted = ["stop,refund"] * 3 + ["stop refund"]
is_so = lines == rows == one_by_one and [row["text"] for row in loaded] == wanted and len(loaded) == 4
sys.exit(0 if is_so else 1)
PYTHON
