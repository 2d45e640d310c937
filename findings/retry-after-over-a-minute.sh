#!/bin/sh
# The Python clients of Groq and Together wait as long as `Retry-After` asks, up to a minute; asked for more, they
# retry after a second or two. A server that asks for seven minutes, as a limit per day does, gets all retries at once,
# and the caller an error after three seconds. Most would expect a longer wait for a longer `Retry-After`, or an error
# without a retry, as OpenAI's client gives since July 2026, until when it did the same.
# Exits 0 while that is so, 1 once it changes, 2 if it could not be tried.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet groq==1.7.0 together==3.1.1 openai==3.57.0 || exit 2
"$folder/venv/bin/pip" list 2>/dev/null | grep -E '^(groq|openai|together) '
echo "expected: no request before the time that the server asked for"
"$folder/venv/bin/python" - <<'PYTHON'
import http.server, sys, threading, time

from groq import APIStatusError as GroqError, Groq
from openai import APIStatusError as OpenAIError, OpenAI
from together import APIStatusError as TogetherError, Together


class BusyServer(http.server.BaseHTTPRequestHandler):
    retry_after, times = 0, []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.times.append(time.monotonic())
        self.send_response(429)
        self.send_header("Retry-After", str(BusyServer.retry_after))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BusyServer)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
found = {}
for BusyServer.retry_after in (2, 432):
    for kind, error in ((Groq, GroqError), (Together, TogetherError), (OpenAI, OpenAIError)):
        BusyServer.times.clear()
        try:
            client = kind(api_key="none", base_url=url)
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Is the writer angry?"}])
        except error as answer:
            assert answer.status_code == 429
        waits = [after - before for before, after in zip(BusyServer.times, BusyServer.times[1:])]
        found[kind.__name__, BusyServer.retry_after] = waits
        shown = ", ".join(f"{wait:.1f} s" for wait in waits) or "none"
        print(f"Retry-After: {BusyServer.retry_after}, {kind.__name__}: waits before retries {shown}", flush=True)
patient = all(len(found[name, 2]) == 2 and min(found[name, 2]) > 1.9 for name in ("Groq", "Together", "OpenAI"))
hasty = all(len(found[name, 432]) == 2 and max(found[name, 432]) < 10 for name in ("Groq", "Together"))
sys.exit(0 if patient and hasty and found["OpenAI", 432] == [] else 1)
PYTHON
