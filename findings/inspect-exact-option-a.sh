#!/bin/sh
# inspect-ai's `exact` scorer marks the answer "A" as wrong where "A" is right, and "-2" as right where "2" is. It takes
# articles and punctuation off both texts as SQuAD's measure does, so that nothing is left of option A, which it then
# never finds; the minus of "-2" goes as well, and the signs of "B+" and "B-". A model that gives all the right letters
# of choices from A to D has 0.75, and one that turns the sign of every level from -2 to 2 has 1. `f1` does the same; no
# error, no warning. Most would expect an exact match, as the reference has it: it says that texts are normalized, and
# not how. `match(location="exact")` finds A, and takes -2 for 2 as well, unless answers are declared as numbers: a
# change of May 2026 has that right, and left `exact` as it was.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet inspect-ai==0.3.285 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^inspect[-_]ai '
cd "$folder"
echo "expected: 1 for right answers, and less for wrong ones"
HOME="$folder" "$folder/venv/bin/python" - <<'PYTHON'
import asyncio, sys

from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, exact, f1, match
from inspect_ai.solver import TaskState


async def mean(scorer, right, answers):
    """The mean of what `scorer` gives to these answers of a model, one for each text."""
    total = 0
    for number, (target, answer) in enumerate(zip(right, answers)):
        output = ModelOutput.from_content("mockllm/model", answer)
        state = TaskState(ModelName("mockllm/model"), number, 1, f"text {number}", [], output=output)
        value = (await scorer(state, Target(target))).value
        total += {"C": 1, "I": 0}.get(value, value)
    return total / len(right)


letters = ["A", "B", "C", "D"]
levels = ["-2", "-1", "0", "1", "2"]
turned = [str(-int(level)) for level in levels]
grades = ["B+", "B-", "C+", "C-"]
swapped = [grade.translate(str.maketrans("+-", "-+")) for grade in grades]
scorers = {
    "exact": exact(),
    "f1": f1(),
    "match exact": match(location="exact"),
    "match exact, numeric": match(location="exact", numeric=True),
}
found = {}
for name, right, answers in [
    ("letters, all right", letters, letters),
    ("levels, all signs turned", levels, turned),
    ("grades, all signs turned", grades, swapped),
]:
    found[name] = {scorer: asyncio.run(mean(it, right, answers)) for scorer, it in scorers.items()}
    print(f"{name}: {found[name]}")
expected = [[0.75, 0.75, 1, 1], [1, 1, 1, 0.2], [1, 1, 1, 1]]
sys.exit(0 if [list(values.values()) for values in found.values()] == expected else 1)
PYTHON
