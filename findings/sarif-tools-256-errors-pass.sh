#!/bin/sh
# sarif-tools, a command for reports of findings in SARIF's format, has `--check error` to stop a run if a report has
# errors. It ends with the number of errors as its exit code, of which an operating system keeps the last eight bits:
# with 256 errors, or 512, or 768, the command ends with 0, which is what says that all is well, and with 257 like one
# error. `diff --check` is the same for 256 new kinds of errors. What it prints names an exit code of 256. The manual
# says that it exits with an error code if there are any issues of the level. Most would expect a code that is not 0,
# as with 255. A check of some hundred saved answers, with one entry for each that is wrong, passes when many are.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sarif-tools==3.0.5 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^sarif-tools '
cd "$folder"
python3 - <<'PYTHON'
import json


def write(name, rules):
    results = [
        {
            "ruleId": rule,
            "level": "error",
            "message": {"text": "the answer is not the mark"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "texts.csv"}, "region": {"startLine": row}}}],
        }
        for row, rule in enumerate(rules, 1)
    ]
    run = {"tool": {"driver": {"name": "marks"}}, "results": results}
    with open(name, "w") as file:
        json.dump({"version": "2.1.0", "runs": [run]}, file)


for count in (0, 1, 255, 256, 257, 512):
    write(f"{count}.sarif", ["angry"] * count)
write("kinds.sarif", [f"question-{number}" for number in range(256)])
PYTHON
echo "expected: 0 without an error, another exit code for any number of errors"
./venv/bin/sarif --help | grep -A 2 -E '^  --check' | tail -n 2
found=""
for report in 0 1 255 256 257 512; do
  code=0
  ./venv/bin/sarif --check error summary "$report.sarif" >printed.txt 2>said.txt || code=$?
  echo "$report errors: exit code $code; $(grep -E '^error' printed.txt); $(cat said.txt)"
  found="$found $report:$code"
done
code=0
./venv/bin/sarif --check error diff 0.sarif kinds.sarif >printed.txt 2>said.txt || code=$?
echo "256 new kinds: exit code $code; $(tail -n 1 printed.txt); $(cat said.txt)"
[ "$found new:$code" = " 0:0 1:1 255:255 256:0 257:1 512:0 new:0" ]
