"""A model server for the checks: it speaks the System One format and always gives the same answers."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# a text that begins so gets no answer the first time it is asked about
FAILS_ONCE = "fail once: "
# this text gets an option that the prism does not have
UNKNOWN_OPTION = "unknown option"
ANSWERS = {
    "topic": {
        "type": "choice",
        "choice": "delivery",
        "confidence": 0.9,
        "probabilities": {"billing": 0.02, "delivery": 0.95, "product": 0, "other": 0.02, "insufficient_information": 0.01},
    },
    "angry": {"type": "noul", "noul": 0.12},
    "urgency": {"type": "score", "score": 0.7, "confidence": 0.5, "probabilities": {"0": 0.4, "1": 0.5, "2": 0.1}},
}


class Model:
    """A running model server for a `with` block; `url` is its address."""

    def __enter__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.failed = set()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = body["state"]["text"]
        topic = {**ANSWERS["topic"], "choice": "weather"} if text == UNKNOWN_OPTION else ANSWERS["topic"]
        fails = text.startswith(FAILS_ONCE) and text not in self.server.failed
        if fails:
            self.server.failed.add(text)
        # not 429 or 5xx, after which the call would be tried again at once
        self.answer(400 if fails else 200, {} if fails else {"model": "scripted", "answers": {**ANSWERS, "topic": topic}})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, *_):
        pass
