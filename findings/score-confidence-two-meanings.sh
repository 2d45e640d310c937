#!/bin/sh
# `confidence` of a System One score means one thing to a server and another to a client. sparrow-decider's
# is one minus the standard deviation over its largest value; where a server leaves it out, the client
# system-one fills it in as one minus the mean distance from the likeliest level, over that of equal
# probabilities. Most would expect a field of one contract to be computed in one way: with a threshold of
# 0.9, whether an answer may act alone depends on who computed it. For a choice both agree.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sparrow-decider==0.2.0 system-one==0.4.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(sparrow-decider|system-one) '
cd "$folder"
echo "expected: the same confidence from the server and from the client, for the same probabilities"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from sparrow_decider import Decider
from system_one.schemas import ChoiceAnswer, ScoreAnswer

questions = {
    "urgency": {"type": "score", "instructions": "How urgent is it?", "criteria": ["can wait", "this week", "today"]},
    "topic": {"type": "choice", "instructions": "What is it about?",
              "criteria": {"billing": "charges", "delivery": "parcels", "hours": "opening hours"}},
}
answers = Decider.load().ask("Thanks, all is well.", questions)
found = {}
for name, kind in (("urgency", ScoreAnswer), ("topic", ChoiceAnswer)):
    sent = answers[name].pop("confidence")
    filled_in = kind.model_validate(answers[name]).confidence
    found[name] = abs(sent - filled_in)
    print(f"{name}: {answers[name]['probabilities']}, server {sent}, client {filled_in}")
sys.exit(0 if found["urgency"] > 0.1 and found["topic"] < 0.001 else 1)
PYTHON
