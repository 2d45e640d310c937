#!/bin/sh
# Two tools that measure the calibration of a System One server find two errors in the same answers. jevcal, whose
# source asks adapters for the probability that an answer is right, takes the `confidence` of a choice for it, which
# the contract scales so that equal probabilities are 0; jevkit-calibrate takes the probability of the chosen option.
# Most would expect one expected calibration error for the same answers, and 0 if 75 % came true of what was given
# 0.75: jevcal says 0.25, and a calibrated model looks far too cautious. For yes/no questions both agree.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet jevcal==0.2.0 jevkit-calibrate==0.1.0 jevkit-core==0.2.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(jevcal|jevkit-calibrate|jevkit-core) '
cd "$folder"
echo "expected: an error of 0 from both, for yes/no questions and for choices"
"$folder/venv/bin/python" - <<'PYTHON'
import http.server, json, sys, threading
from typing import Literal

from jevcal import (DecisionInput, DecisionRouter, JevAdapter, JevAdapterConfig, JsonlStore, OutcomeLabel,
                    define_decision, get_calibration)
from jevkit_calibrate import calibrate, observations_from_records
from jevkit_core import Record
from pydantic import BaseModel, Field

ANSWERS = {
    "angry": {"type": "noul", "noul": 0.75},
    "topic": {"type": "choice", "choice": "billing", "probabilities": {"billing": 0.75, "delivery": 0.25},
              "confidence": 0.5},  # (0.75 - 1/2) / (1 - 1/2), as the contract computes it
}


class SystemOne(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = {"model": "calibrated", "answers": ANSWERS, "usage": {"input_tokens": 9, "output_tokens": 2}}
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Fields(BaseModel):
    angry: bool = Field(description="Is the writer angry?")
    topic: Literal["billing", "delivery"] = Field(description="What is it about?")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SystemOne)
threading.Thread(target=server.serve_forever, daemon=True).start()
config = JevAdapterConfig(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
store = JsonlStore("decisions.jsonl")
router = DecisionRouter(backend=JevAdapter(config), store=store)
decision = define_decision(name="triage", fields=Fields, confidence="none")
questions = {
    "angry": {"type": "noul", "instructions": "Is the writer angry?"},
    "topic": {"type": "choice", "instructions": "What is it about?",
              "criteria": {"billing": "billing", "delivery": "delivery"}},
}
records = []
for text in range(20):
    came_true = text < 15
    labels = {"angry": came_true, "topic": "billing" if came_true else "delivery"}
    result = router.decide(decision, DecisionInput(input=f"text {text}"))
    for field, value in labels.items():
        outcome = OutcomeLabel(field=field, actual_value=value, observed_at="2026-11-30T00:00:00Z")
        store.attach_outcome(result.request_id, outcome)
    records.append(Record(model="calibrated", state=f"text {text}", questions=questions, answers=ANSWERS, label=labels))
server.shutdown()
errors = {}
for field in ("angry", "topic"):
    errors["jevcal", field] = get_calibration(store, decision_name="triage", field=field).ece
    errors["jevkit-calibrate", field] = calibrate(observations_from_records(records, question_ids=[field])).ece
    for tool in ("jevcal", "jevkit-calibrate"):
        print(f"{field}, {tool}: expected calibration error {errors[tool, field]:.3f}")
differ = errors.pop(("jevcal", "topic"))
sys.exit(0 if differ > 0.2 and max(errors.values()) < 0.001 else 1)
PYTHON
