#!/bin/sh
# structured-logprobs adds the log-probabilities of the tokens to an OpenAI answer with structured outputs. It turns
# each yes/no answer into null: add_logprobs_inline writes `null` for `true` and for `false` alike into the answer's
# content, in the place of what the model said, and add_logprobs has no log-probability for it; no error, no warning.
# Its code has a case for true and one for false, which its grammar of JSON never calls. Texts and numbers get theirs.
# Most would expect the answer and its log-probability, as the manual promises for each value: with `null`, a yes/no
# question counts as not answered. The manual's examples have none. A public issue has proposed another grammar for
# such fields since 2025; the last release is from before it.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet structured-logprobs==0.1.5 openai==1.58.1 pydantic==2.10.6 lark==1.2.2 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(openai|structured-logprobs) '
echo "expected: true and false stay, each with the log-probability of its token"
"$folder/venv/bin/python" - <<'PYTHON'
import json, sys

from openai.types.chat import ChatCompletion
from structured_logprobs import add_logprobs
from structured_logprobs.main import add_logprobs_inline


def completion(answer, logprob):
    tokens = [('{"', 0), ("topic", 0), ('":"', 0), ("billing", -0.2), ('","', 0), ("level", 0), ('":', 0), ("3", -0.3)]
    tokens += [(',"', 0), ("angry", 0), ('":', 0), (answer, logprob), ("}", 0)]
    content = [{"token": text, "logprob": number, "top_logprobs": []} for text, number in tokens]
    message = {"role": "assistant", "content": "".join(text for text, _ in tokens)}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": content}}
    frame = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
    return ChatCompletion.model_validate({**frame, "choices": [choice]})


found = []
for answer, logprob in (("true", -0.1), ("false", -0.4)):
    beside = add_logprobs(completion(answer, logprob)).log_probs[0]
    inline = json.loads(add_logprobs_inline(completion(answer, logprob)).choices[0].message.content)
    print(f"the model said: {completion(answer, logprob).choices[0].message.content}")
    print(f"  add_logprobs:        {json.dumps(beside)}\n  add_logprobs_inline: {json.dumps(inline)}")
    found.append((beside, inline))
beside = {"topic": -0.2, "level": -0.3, "angry": None}
inline = {"topic": "billing", "topic_logprob": -0.2, "level": 3.0, "level_logprob": -0.3, "angry": None}
sys.exit(0 if found == [(beside, inline)] * 2 else 1)
PYTHON
