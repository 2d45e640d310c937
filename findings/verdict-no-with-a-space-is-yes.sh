#!/bin/sh
# verdict judges texts with a language model, from the probabilities of the first token that it answers with, and takes
# an answer that it does not recognize for a sure one. A token counts if it is one of the options, letter by letter. If
# none of those that the server lists is, as with " no" for a model whose tokens begin with a space, or "Answer" where
# the model writes "Answer: no", all options have a probability of 0, and the first of them is returned: yes for a
# yes-or-no question, 1 on a scale from 1 to 5, and A of A and B. The weighted mean on that scale is 0, which is not on
# it. A model that says " no" with 0.97 comes out as True. No error, no warning. Most would expect False, as for "no", or
# an error, as there is where a server has no probabilities at all: the extractor's name says that it takes the option
# with the highest probability, and none has one. Servers of some open models list tokens with the space in front.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile verdict==0.2.7 litellm==1.80.0 openai==1.109.1 \
  pydantic==2.14.4 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(verdict|litellm) '
export HOME="$folder"
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import json
import math
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from verdict import Pipeline
from verdict.common.judge import JudgeUnit
from verdict.extractor import ArgmaxScoreExtractor, WeightedSummedScoreExtractor
from verdict.scale import BooleanScale, DiscreteScale, LikertScale
from verdict.schema import Schema


class Model(BaseHTTPRequestHandler):
    """A model server that answers each question with the tokens of `Model.tokens`, the most probable first."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        top = [{"token": token, "logprob": math.log(p), "bytes": None} for token, p in Model.tokens.items()]
        message, logprobs = {"role": "assistant", "content": top[0]["token"]}, {"content": [{**top[0], "top_logprobs": top}]}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
found = []
for name, scale, extractor, first, second, expected in (
    ("yes or no", BooleanScale, ArgmaxScoreExtractor, "no", "yes", False),
    ("1 to 5", LikertScale, ArgmaxScoreExtractor, "5", "4", 5),
    ("mean of 1 to 5", LikertScale, WeightedSummedScoreExtractor, "5", "4", 4.98),
    ("A or B", lambda: DiscreteScale(["A", "B"]), ArgmaxScoreExtractor, "B", "A", "B"),
):
    seen = []
    spaced = {f" {first}": 0.97, f" {second}": 0.02}
    for Model.tokens in ({first: 0.97, second: 0.02}, spaced, {"Answer": 0.9, "The": 0.05}):
        judge = JudgeUnit(scale()).prompt("Is it a complaint? {source.text}").extract(extractor())
        judge = judge.via("openai/m", api_base=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
        answers, _ = (Pipeline() >> judge).run(Schema.of(text="Thank you."), display=False)
        value = next(iter(answers.values()))
        seen.append(round(value, 2) if isinstance(value, float) else value)
    found.append(seen)
    print(f"{name}: expected {expected}; seen {seen[0]!r} for {first!r}, {seen[1]!r} for {' ' + first!r}, "
          f"{seen[2]!r} for 'Answer'", flush=True)
os._exit(0 if found == [[False, True, True], [5, 1, 1], [4.98, 0.0, 0.0], ["B", "A", "A"]] else 1)
PYTHON
