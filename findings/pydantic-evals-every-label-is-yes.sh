#!/bin/sh
# pydantic-evals gives a model that has everything the wrong way round an area of 1 under its precision-recall curve,
# the best there is, if the truth is a label. Its reports take the truth from boolean assertions, labels or expected
# outputs; labels are texts there, and each text that is not empty counts as yes, "no" as well. With all texts yes,
# precision is 1 everywhere. Expected outputs "yes" and "no" do the same. No error, no warning; the areas under the ROC
# curve beside it are nan. The same truths as assertions have 0.18 and 0. Most would expect those, or an error for a
# text that is neither true nor false. The manual says that labels are cast to boolean for this, and has nothing of what
# becomes of "no": as labels are texts, none can ever be a no.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile pydantic-evals==2.62.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^pydantic.evals '
echo "expected: one pair of areas, far below 0.5, wherever the truth is"
"$folder/venv/bin/python" - <<'PYTHON'
import math
import sys
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, PrecisionRecallEvaluator, ROCAUCEvaluator

# Each text with the probability of yes that the model gave, and the truth.
TEXTS = {"M-1": (0.9, "no"), "M-2": (0.2, "yes"), "M-3": (0.7, "no"),
         "M-4": (0.6, "no"), "M-5": (0.1, "yes"), "M-6": (0.4, "no")}


@dataclass
class Answer(Evaluator):
    def evaluate(self, ctx):
        return {"probability": ctx.output, "label": TEXTS[ctx.inputs][1], "is_yes": TEXTS[ctx.inputs][1] == "yes"}


def areas(source, key=None):
    kinds = (PrecisionRecallEvaluator, ROCAUCEvaluator)
    data = Dataset(
        name="angry",
        cases=[Case(name=ref, inputs=ref, expected_output=truth) for ref, (_, truth) in TEXTS.items()],
        evaluators=[Answer()],
        report_evaluators=[kind(score_key="probability", positive_from=source, positive_key=key) for kind in kinds],
    )

    async def model(ref):
        return TEXTS[ref][0]

    report = data.evaluate_sync(model, progress=False)
    found = [analysis.value for analysis in report.analyses if analysis.title.endswith("AUC")]
    print(f"truth from {source}: precision-recall area {found[0]:.3f}, ROC area {found[1]:.3f}")
    return found


right, labels, outputs = areas("assertions", "is_yes"), areas("labels", "label"), areas("expected_output")
# Manually: recall is 0 until the fifth text, where one of five is yes, and ends at two of six.
reference = 0.5 * (0 + 1 / 5) / 2 + 0.5 * (1 / 5 + 2 / 6) / 2
print(f"manually: {reference:.3f}")
wrong = all(found[0] == 1 and math.isnan(found[1]) for found in (labels, outputs))
sys.exit(0 if wrong and abs(right[0] - reference) < 1e-9 and right[1] == 0 else 1)
PYTHON
