#!/bin/sh
# sparrow-decider's model for robots reads the numbers of a state that is text (`battery: 50`), and none of
# a state that is a JSON object: its pattern for a pair wants the colon right after the key, and JSON has a
# quote between. Both kinds of state are accepted, also over HTTP. Most would expect the object, whose numbers
# need no parsing, to be read at least as well. A full battery in an object is called low.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sparrow-decider==0.2.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^sparrow-decider '
cd "$folder"
echo "expected: a lower probability that the battery is low at 94 than at 6, in text and in JSON"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from sparrow_decider import Decider

model = Decider.load("nano-robot")
print(model.name)
question = {"low": {"type": "noul", "instructions": "Is the battery low?"}}


def low(state):
    probability = model.ask(state, question)["low"]["noul"]
    print(f"{state!r}: {probability}")
    return probability


text = [low(f"battery: {level}%") for level in (6, 94)]
json = [low({"battery": f"{level}%"}) for level in (6, 94)]
gaps = [empty - full for empty, full in (text, json)]
print(f"6 % over 94 %: {gaps[0]:.2f} in text, {gaps[1]:.2f} in JSON")
sys.exit(0 if gaps[0] > 0.3 and gaps[1] < 0.1 else 1)
PYTHON
