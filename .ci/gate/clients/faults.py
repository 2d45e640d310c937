"""A proxy between a client and a server, which does to each request what its plan says."""

import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# seconds until a late answer
LATE = 0.75
# what docs/API.md says of a node that is stopping
DRAINING = b'{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}'

DEEP = b"[" * 100_000 + b"]" * 100_000


class Faults:
    """A running proxy for a `with` block. `POST /plan` takes a list of what happens to the next requests.

    `lost` drops the connection before the server hears of the request, `dropped` when it has answered;
    `silent` keeps it open for ten seconds without an answer; `draining` is a node that stops, `broken` its
    bug, `proxy` the page of a proxy without a server, `dated` one that asks to wait until a date, `limited`
    one that takes no more for now, `page` a page of a network's own with the status 200; `gateway` is a
    proxy's error in JSON, `json` one with the status 200, `deep` JSON that no parser likes with the status 500 and
    `nested` with 200, `idle` a proxy that gave up an idle connection,
    `moved` one that sends to another address, `stalled` an answer that stops halfway, `late` one that comes late.
    Requests beyond the list pass. `GET /plan` is what is left of it, how many requests came, over how many connections
    and with which idempotency keys.
    """

    def __init__(self, server):
        self.target = server.removeprefix("http://").split("/")[0]

    def __enter__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.target, self.server.lock = self.target, threading.Lock()
        self.server.begin([])
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def begin(self, plan):
        self.plan, self.came, self.connections, self.keys = plan, 0, set(), []


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.handle_request(b"")

    def do_POST(self):
        self.handle_request(self.rfile.read(int(self.headers.get("content-length", 0))))

    def handle_request(self, body):
        server = self.server
        with server.lock:
            if self.path == "/plan":
                if self.command == "POST":
                    server.begin(json.loads(body))
                state = {"left": server.plan, "came": server.came, "connections": len(server.connections), "keys": server.keys}
                return self.answer(200, json.dumps(state).encode())
            server.came += 1
            server.connections.add(self.client_address)
            if self.path.split("?")[0].endswith("/results"):
                server.keys.append(json.loads(body).get("idempotency_key"))
            fault = server.plan.pop(0) if server.plan else "pass"
        if fault == "lost":
            return self.drop()
        if fault == "silent":
            time.sleep(10)
            return self.drop()
        if fault == "draining":
            return self.answer(503, DRAINING, {"retry-after": "0"})
        if fault == "broken":
            return self.answer(500, b'{"error":{"code":"internal_error","message":"Internal error"}}')
        if fault == "proxy":
            return self.answer(502, b"<h1>Bad Gateway</h1>", {"content-type": "text/html"})
        if fault == "dated":
            return self.answer(503, b"<h1>Later</h1>", {"content-type": "text/html", "retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"})
        if fault == "limited":
            return self.answer(429, b"<h1>Too many requests</h1>", {"content-type": "text/html", "retry-after": "0"})
        if fault == "page":
            return self.answer(200, b"<h1>Sign in</h1>", {"content-type": "text/html"})
        if fault == "gateway":
            return self.answer(502, b'{"message":"An invalid response was received from the upstream server"}')
        if fault == "json":
            return self.answer(200, b'{"message":"Sign in"}')
        if fault in ("deep", "nested"):
            return self.answer(500 if fault == "deep" else 200, DEEP)
        if fault == "idle":
            return self.answer(408, b"<h1>Request Time-out</h1>", {"content-type": "text/html"})
        if fault == "moved":
            return self.answer(301, b"", {"location": f"http://{self.headers['host']}/v1/moved"})
        if fault == "stalled":
            self.answer(200, b'{"id":', {"content-length": 600})
            time.sleep(10)
            return self.drop()
        if fault == "late":
            time.sleep(LATE)
        status, answered, headers = self.forward(body)
        if fault == "dropped":
            return self.drop()
        self.answer(status, answered, headers)

    def forward(self, body):
        connection = http.client.HTTPConnection(self.server.target, timeout=60)
        passed = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "accept-encoding")}
        connection.request(self.command, self.path, body or None, passed)
        answer = connection.getresponse()
        kept = {name: answer.headers[name] for name in ("content-type", "x-request-id") if name in answer.headers}
        status, answered = answer.status, answer.read()
        connection.close()
        return status, answered, kept

    def answer(self, status, body, headers=None):
        head = {"content-type": "application/json", "content-length": len(body), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        try:
            self.wfile.write(f"HTTP/1.1 {status} Proxied\r\n{lines}\r\n".encode() + body)
        except OSError:  # the client no longer waits
            self.close_connection = True

    def drop(self):
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_):
        pass
