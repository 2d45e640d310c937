#!/bin/sh
# sarif-tools, a command for reports of findings in SARIF's format, cuts a message that begins with the name of its rule
# down to one letter: "refund: the answer is no" of the rule "refund" is described with " ", of which nothing is left,
# and "refund was answered no" with "w". It leaves out the rule's name at the start, takes one character after it and
# drops all that follows. So it is in `csv` and `codeclimate`, and `diff` takes two messages for one if
# they have that letter in common, and finds no change. No error, no warning; a message that begins otherwise is
# complete. The manual says that the description is the message of the issue. Most would expect the rest of the message.
# Tools that name the question or the rule first are many.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sarif-tools==3.0.5 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^sarif-tools '
cd "$folder"
cat >check.py <<'PYTHON'
import csv
import json
import subprocess
import sys

BEFORE = ["refund was answered no", "refund: the answer is no", "answer to refund is missing", "refund"]
AFTER = ["refund was written twice in two ways", *BEFORE[1:]]


def write(name, messages):
    results = [
        {
            "ruleId": "refund",
            "level": "error",
            "message": {"text": message},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "texts.csv"}, "region": {"startLine": row}}}],
        }
        for row, message in enumerate(messages, 1)
    ]
    run = {"tool": {"driver": {"name": "marks"}}, "results": results}
    with open(name, "w") as file:
        json.dump({"version": "2.1.0", "runs": [run]}, file)


def sarif(*arguments):
    return subprocess.run([sys.argv[1], *arguments], check=True, capture_output=True, text=True).stdout


write("before.sarif", BEFORE)
write("after.sarif", AFTER)
sarif("csv", "-o", "issues.csv", "before.sarif")
sarif("codeclimate", "-o", "issues.json", "before.sarif")
with open("issues.csv", newline="") as file:
    rows = sorted(csv.DictReader(file), key=lambda row: int(row["Line"]))
with open("issues.json") as file:
    issues = sorted(json.load(file), key=lambda issue: issue["location"]["lines"]["begin"])
descriptions = [row["Description"] for row in rows]
for message, of_csv, issue in zip(BEFORE, descriptions, issues):
    print(f"{message!r}: csv {of_csv!r}, codeclimate {issue['description']!r}")
change = sarif("diff", "before.sarif", "after.sarif").splitlines()[-1]
print(f"diff to {AFTER[0]!r}: {change}")
expected = ["w", "", "answer to refund is missing", "refund"]
as_said = descriptions == expected == [issue["description"] for issue in issues]
sys.exit(0 if as_said and change == "all levels: +0 +0" else 1)
PYTHON
echo "expected: each message without its rule's name at most, and a change of one issue"
./venv/bin/python check.py ./venv/bin/sarif
