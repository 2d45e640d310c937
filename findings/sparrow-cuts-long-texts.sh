#!/bin/sh
# sparrow-decider's server answers about a long text from its first 512 tokens alone, some 2,000 characters,
# with status 200 and nothing in the answer that says so: `usage` counts 0 tokens for every text. Most would
# expect an error, a mark, or at least a count of tokens that stops growing. A request at the end of a long
# message changes no digit.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet sparrow-decider==0.2.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep '^sparrow-decider '
cd "$folder"
port=$("$folder/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$folder/venv/bin/sparrow-decider" serve --port "$port" 2>"$folder/log" &
server=$!
echo "expected: other answers, or a sign of the cut, when a request is added to a long message"
"$folder/venv/bin/python" - "$port" <<'PYTHON'
import json, sys, time, urllib.request

address = f"http://127.0.0.1:{sys.argv[1]}/v1/systemone"
question = {"refund": {"type": "noul", "instructions": "Is the user asking for money back?"}}


def ask(text):
    body = json.dumps({"state": text, "questions": question}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    for _ in range(100):
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.load(response)
        except OSError:
            time.sleep(0.1)  # the server starts
            continue
        del answer["latency_ms"]
        return response.status, answer
    sys.exit(2)


request = " I want my money back, please refund me."
changed = []
for length in (10, 400):
    message = "The bike came on Monday." + " The wheel is fine." * length
    before, after = ask(message), ask(message + request)
    print(f"{len(message)} characters: {before}\n  with the request: {after}")
    changed.append(before != after)
sys.exit(0 if changed == [True, False] else 1)
PYTHON
