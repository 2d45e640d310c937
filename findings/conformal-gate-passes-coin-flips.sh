#!/bin/sh
# pydecide's ConformalGate is to accept an answer "only when one candidate survives the conformal cut". An answer
# that no candidate survives counts as one with a single survivor, and passes with confidence 1. The better the
# model, the higher the cut: fitted on one that is right 80 times of 100, the gate sends a coin flip on to a
# person; fitted on one that is right 95 times, it stops nothing at all. Most would expect a coin flip to be
# stopped by both, and by the second sooner.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pydecide==0.2.19 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^pydecide '
echo "expected: no gate passes a probability of 0.5"
"$folder/venv/bin/python" - <<'PYTHON'
import sys

from decide import ConformalGate, fit_conformal_quantile
from decide.types import Meta, NoulAnswer, Response

passed = {}
for right in (80, 95):
    # A calibrated model: it always gives its answer this probability.
    said = [1 - right / 100, right / 100]
    quantile = fit_conformal_quantile([(said, 1)] * right + [(said, 0)] * (100 - right), alpha=0.1)
    gate = ConformalGate(quantile=quantile)
    for probability in (0.5, 0.6, 0.95):
        answer = Response({"angry": NoulAnswer(probability)}, Meta(backend="none", model=None, latency_ms=0))
        passed[right, probability], reason = gate.passes(answer)
        survivors = sum(candidate >= 1 - quantile for candidate in (probability, 1 - probability))
        print(f"right {right} of 100, cut at {1 - quantile:.2f}: probability {probability}, {survivors} above the cut, "
              f"passes {passed[right, probability]} ({reason}), confidence {gate.confidence(answer)['angry']}")
stops = [passed[80, 0.5], passed[80, 0.6]] == [False, False] and passed[80, 0.95]
sys.exit(0 if stops and all(passed[95, probability] for probability in (0.5, 0.6, 0.95)) else 1)
PYTHON
