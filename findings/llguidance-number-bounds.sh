#!/bin/sh
# llguidance, one of the engines for structured outputs in vLLM and SGLang, does not let a model write 0.9 where
# the JSON schema has a `maximum` of 0.99: after "0.9" another digit must follow. 0.8 may end there, and 0.90 is let
# through, but not 0.990; with a maximum of 0.75 it is 0.7. Its manual aims at a grammar that conforms to JSON
# Schema, or an error, and lists the exceptions, without this one. Most would expect each number within the bounds
# to be possible: a model that means 0.9 is made to add a digit, and with most digits states another probability.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet llguidance==1.9.1 jsonschema==4.26.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(jsonschema|llguidance) '
echo "expected: llguidance accepts what jsonschema finds valid"
"$folder/venv/bin/python" - <<'PYTHON'
import json, sys

import jsonschema
from llguidance import LLMatcher, LLTokenizer

tokenizer = LLTokenizer("byte")


def both(maximum, number):
    schema = {
        "type": "object",
        "properties": {"angry": {"type": "number", "minimum": 0, "maximum": maximum}},
        "required": ["angry"],
        "additionalProperties": False,
    }
    text = f'{{"angry": {number}}}'
    valid = jsonschema.Draft202012Validator(schema).is_valid(json.loads(text))
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(schema), log_level=0)
    if matcher.is_error():
        print(matcher.get_error())
        sys.exit(1)
    accepted = all(matcher.consume_token(byte) for byte in text.encode()) and matcher.is_accepting()
    print(f"maximum {maximum}, {text}: jsonschema {valid}, llguidance {accepted}")
    return valid, accepted


found = [both(0.99, number) for number in ("0.8", "0.9", "0.90", "0.99", "0.990", "1")]
found += [both(0.75, number) for number in ("0.6", "0.7", "0.75")] + [both(1, "0.9")]
differ = [(True, False)]
same = found == [(True, True), *differ, (True, True), (True, True), *differ, (False, False),
                 (True, True), *differ, (True, True), (True, True)]
sys.exit(0 if same else 1)
PYTHON
