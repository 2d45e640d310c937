#!/bin/sh
# One chat template, two prompts, without an error: transformers.js renders with @huggingface/jinja what Python renders
# with Jinja2. The former ignores the characters given to `strip`, `lstrip` and `rstrip` and takes off any blank space:
# `lstrip('\n')`, as in Qwen3's template, takes the indentation off a text. Its `==` is JavaScript's, for which 0 is an
# empty text and one empty list is not another: level 0 of a scale is taken for no answer. `True`, `None` and 1.0 print
# differently too. Most would expect the same prompt, and so the same probabilities, from a template of one model.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet Jinja2==3.1.6 || exit 2
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @huggingface/jinja@0.5.11 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -i '^jinja2 '
npm ls --depth=0 2>/dev/null | grep jinja || exit 2
cat >render.js <<'JS'
import { readFileSync } from "node:fs";
import { Template } from "@huggingface/jinja";
const cases = JSON.parse(readFileSync("cases.json", "utf8"));
console.log(JSON.stringify(cases.map(([template, values]) => new Template(template).render(values))));
JS
echo "expected: the same text from both"
"$folder/venv/bin/python" - <<'PYTHON'
import json, subprocess, sys

from jinja2.sandbox import ImmutableSandboxedEnvironment

LEVEL = "Urgency: {% if level == '' %}no answer{% else %}{{ level }}{% endif %}"
CASES = [
    ("{{ content.lstrip('\\n') }}", {"content": "\n    - a charge\n    - a refund"}),
    ("{{ content.split('</think>')[-1].lstrip('\\n') }}", {"content": "<think>Hm.</think>\n\n    - a\n    - b"}),
    ("{{ content.strip('*') }}", {"content": "**urgent**"}),
    (LEVEL, {"level": 0}),
    (LEVEL, {"level": 2}),
    ("{% if chosen == [] %}none{% else %}{{ chosen | length }} chosen{% endif %}", {"chosen": []}),
    ("{{ angry }}, {{ probability }}, {{ note }}", {"angry": True, "probability": 1.0, "note": None}),
]
environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)  # as transformers does
by_jinja2 = [environment.from_string(template).render(values) for template, values in CASES]
with open("cases.json", "w") as file:
    json.dump(CASES, file)
rendered = subprocess.run(["node", "render.js"], check=True, capture_output=True, text=True).stdout
by_javascript = json.loads(rendered)
for (template, values), python, javascript in zip(CASES, by_jinja2, by_javascript):
    print(f"{template} of {values}\n    Jinja2 {python!r}, @huggingface/jinja {javascript!r}")
expected = ["- a charge\n    - a refund", "- a\n    - b", "**urgent**", "Urgency: no answer", "Urgency: 2", "0 chosen",
            "true, 1, "]
same = [python == javascript for python, javascript in zip(by_jinja2, by_javascript)]
sys.exit(0 if by_javascript == expected and same == [False] * 4 + [True] + [False] * 2 else 1)
PYTHON
