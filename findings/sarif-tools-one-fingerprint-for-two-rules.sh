#!/bin/sh
# sarif-tools, a command for reports of findings in SARIF's format, writes them for GitLab and Code Climate with
# `codeclimate`, each with a fingerprint. It is made of the message, the file and the line, not of the rule: two rules
# that say the same about one line have one and the same. Two questions about one text, "angry" and "refund", which both
# say "the answer is not the mark", become two entries of one fingerprint; and so do two of one rule on one line at two
# columns. GitLab's manual says that a fingerprint is unique and identifies the violation, and Code Climate's format
# that it identifies an issue: readers keep one of them and drop the other. No error, no warning. In the report, the
# two differ by rule, and `csv` and `summary` have both. Most would expect as many fingerprints as findings.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sarif-tools==3.0.5 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^sarif-tools '
cd "$folder"
cat >check.py <<'PYTHON'
import json
import subprocess
import sys

FOUND = [("angry", 12, 1), ("refund", 12, 1), ("level", 12, 1), ("angry", 13, 1), ("angry", 13, 40)]
results = [
    {
        "ruleId": rule,
        "level": "error",
        "message": {"text": "the answer is not the mark"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "texts.csv"},
                    "region": {"startLine": row, "startColumn": column},
                }
            }
        ],
    }
    for rule, row, column in FOUND
]
with open("report.sarif", "w") as file:
    json.dump({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "marks"}}, "results": results}]}, file)
subprocess.run([sys.argv[1], "codeclimate", "-o", "issues.json", "report.sarif"], check=True, stdout=subprocess.PIPE)
with open("issues.json") as file:
    issues = json.load(file)
for issue in issues:
    print(issue["check_name"], issue["location"], issue["fingerprint"])
different = {issue["fingerprint"] for issue in issues}
print(f"{len(issues)} findings, {len(different)} fingerprints")
rules = {issue["check_name"] for issue in issues if issue["location"]["lines"]["begin"] == 12}
sys.exit(0 if len(issues) == 5 and len(rules) == 3 and len(different) == 2 else 1)
PYTHON
echo "expected: a fingerprint of its own for each of the five findings"
./venv/bin/python check.py ./venv/bin/sarif
