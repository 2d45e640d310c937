#!/bin/sh
# srsly writes JSON and JSON lines with ten digits after the point at most, without a power of ten, so that a
# probability of 4e-11 is written as 0.0, one of 0.99999999996 as 1.0, and one of -1e-12 as -0.0. It reads with an error
# too: 0.1234567890123456, written by Python's json, is read as 0.12345678901234501, another number. Whether numbers
# are kept depends on an option that has nothing to do with it: `json_dumps(data, sort_keys=True)` writes all digits,
# `json_dumps(data)` does not; `write_jsonl` has no such option. No error, no warning. Most would expect the same number
# back, as Python's json gives it and as msgpack in the same package does. The manual calls the functions serializers
# and says that sorting "falls back to the json module for now", without a word on digits. UltraJSON, of which srsly
# carries an old copy, has written numbers in full since its version 2 of 2020. An answer that was nearly sure is
# certain afterwards, and its cross-entropy is infinite where it is wrong.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet srsly==2.5.6 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^srsly '
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import sys

import srsly

NUMBERS = {"rare": 4e-11, "sure": 0.99999999996, "third": 1 / 3, "small": 3.0517578125e-05, "tenth": 0.1}
srsly.write_jsonl("answers.jsonl", [NUMBERS])
written = open("answers.jsonl", encoding="utf-8").read().strip()
print("expected:", json.dumps(NUMBERS))
print("write_jsonl:", written)
found = json.loads(written)
by_option = json.loads(srsly.json_dumps(NUMBERS)), json.loads(srsly.json_dumps(NUMBERS, sort_keys=True))
print("json_dumps keeps the numbers:", by_option[0] == NUMBERS, "- with sort_keys:", by_option[1] == NUMBERS)
figure = 0.1234567890123456
read = srsly.json_loads(json.dumps(figure))
print(f"read: expected {figure!r}, srsly {read!r}, msgpack {srsly.msgpack_loads(srsly.msgpack_dumps(figure))!r}")
changed = {"rare": 0.0, "sure": 1.0, "third": 0.3333333333, "small": 3.05176e-05, "tenth": 0.1}
is_so = found == changed == by_option[0] and by_option[1] == NUMBERS and read != figure and abs(read - figure) < 1e-15
sys.exit(0 if is_so and srsly.msgpack_loads(srsly.msgpack_dumps(figure)) == figure else 1)
PYTHON
