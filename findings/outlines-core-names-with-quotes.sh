#!/bin/sh
# outlines-core, which restricts a model to a JSON schema for Outlines and others, lets no model write a name that needs
# an escape. A schema for the probability of each option, with the options' labels as names, and the label `say "hi"`:
# all that a model may write there is `"say "hi""`, which is no JSON, whatever the rest of its answer is. With a
# backslash, as in `path\new`, it is made to write JSON that reads as another name, with a line feed in it. The same
# labels as values of an `enum` are escaped and right. No error, no warning. Most would expect names to be escaped as
# values are: JSON allows any text as a name. The manual has nothing of names; a public report has had quotes around
# alternatives of a `pattern` since August 2026, not these.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet outlines-core==0.2.14 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^outlines.core '
echo "expected: a model may write each name and each value as JSON has it, and nothing that is no JSON"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import sys

from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

CHARACTERS = [chr(code) for code in range(32, 127)]
TOKENS = {character: number for number, character in enumerate(CHARACTERS, 1)}
END = 0


def may_write(schema, text):
    """Whether a model with a token for each character can write the text and end there."""
    vocabulary = Vocabulary(END, {character: [token] for character, token in TOKENS.items()})
    guide = Guide(Index(build_regex_from_schema(json.dumps(schema)), vocabulary))
    for character in text:
        if TOKENS[character] not in guide.get_tokens():
            return False
        guide.advance(TOKENS[character])
    return END in guide.get_tokens()


def reads_as(text):
    try:
        return json.loads(text)
    except ValueError:
        return "no JSON"


found = []
for label in ("billing", "a/b [x]", 'say "hi"', r"path\new"):
    names = {"type": "object", "properties": {label: {"type": "number"}}, "required": [label]}
    right, raw = json.dumps({label: 0.5}), '{"' + label + '": 0.5}'
    as_value = may_write({"enum": [label]}, json.dumps(label))
    found.append((may_write(names, right), may_write(names, raw), reads_as(raw) == {label: 0.5}, as_value))
    print(f"{label}: as a value {as_value}; as a name, {right} {found[-1][0]}, {raw} {found[-1][1]}"
          f" (reads as {reads_as(raw)})")
sys.exit(0 if found == [(True, True, True, True)] * 2 + [(False, True, False, True)] * 2 else 1)
PYTHON
