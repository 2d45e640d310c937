#!/bin/sh
# distenum makes a distribution over the options of an enum from the log-probabilities of an answer in JSON. If the
# model writes a blank after the colon, `{"topic": "billing"}`, as SmolLM2 on llama.cpp does with a JSON schema,
# distenum reads the alternatives to the token before the option, the blank and the quote, and takes one that is a
# blank alone for a beginning of every option: all options get the same probability, 0.5 of two, however sure the
# model was; no error, no warning. Without such an alternative it is an error that advises other options. Most would
# expect what it finds for `{"topic":"billing"}`, where colon and quote are one token. Its manual asks for options
# that begin differently, and has nothing of the blank.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet distenum==0.1.1 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^distenum '
echo "expected: one distribution, with and without a blank after the colon"
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from types import SimpleNamespace

from distenum import parse_using_schema_and_logprobs

SCHEMA = {
    "type": "object",
    "properties": {"topic": {"type": "string", "enum": ["billing", "delivery"]}},
    "required": ["topic"],
}


def token(text, **others):
    alternatives = {text: -0.0001, **others}
    top = [SimpleNamespace(token=name, logprob=number) for name, number in alternatives.items()]
    return SimpleNamespace(token=text, logprob=-0.0001, top_logprobs=top)


def distribution(*before, likely, unlikely):
    option = token(likely, **{unlikely: -5.0})
    tokens = [token('{"'), token("topic"), *before, option, token('"}')]
    topic = parse_using_schema_and_logprobs(SCHEMA, SimpleNamespace(content=tokens))["topic"]
    shown = {name: round(number, 3) for name, number in topic.items()}
    print(f"{''.join(one.token for one in tokens):24} {shown}")
    return shown


# A server lists alternatives to each token. That of a blank without the quote is as llama.cpp had it for SmolLM2.
blank = [token('":'), token(' "', **{" ": -6.2})]
found = []
for likely, unlikely in (("billing", "delivery"), ("delivery", "billing")):
    found.append(distribution(token('":"'), likely=likely, unlikely=unlikely)[likely])
    found.append(distribution(*blank, likely=likely, unlikely=unlikely)[likely])
sys.exit(0 if found == [0.993, 0.5] * 2 else 1)
PYTHON
