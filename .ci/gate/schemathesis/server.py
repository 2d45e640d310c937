"""Refract servers for the checks: SQLite in a temporary folder, free ports, any model."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

PRISM = "support-triage"
# no errors may be logged; actix logs requests that are not HTTP, which are sent on purpose
LOG = "error,actix_http=off"
START_SECONDS = 30
STOP_SECONDS = 30


class Refract:
    """A database with an API key, on which `serve` runs servers."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REFRACT_")}
        self.environment = {**kept, "DATABASE_URL": f"sqlite://{folder}/refract.db", "REFRACT_LOG": LOG}
        self.key = self.run("key", "create")["key"]

    def run(self, *arguments):
        """Runs a command and returns the JSON that it prints."""
        command = [self.binary, *map(str, arguments)]
        done = subprocess.run(command, env=self.environment, capture_output=True)
        if done.returncode != 0:
            raise SystemExit(f"refract {arguments[0]} {arguments[1]}: {done.stderr.decode()}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def serve(self, model_url):
        """Starts a server."""
        return Server(self, model_url)


class Server:
    """A running server for a `with` block, which fails unless the server ends with status 0."""

    def __init__(self, refract, model_url):
        self.refract, self.model_url = refract, model_url

    def __enter__(self):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/v1"
        self.log = open(os.path.join(self.refract.folder, "server.log"), "ab")
        self.process = subprocess.Popen(
            [self.refract.binary, "serve", "--ops-listen", "off"],
            env={**self.refract.environment, "REFRACT_LISTEN": f"127.0.0.1:{port}", "REFRACT_MODEL_URL": self.model_url},
            stderr=self.log,
        )
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise
        return self

    def wait(self):
        """Waits until the server answers."""
        last = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < last:
            try:
                urllib.request.urlopen(self.url, timeout=5)
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"the server did not start:\n{self.words()}")

    def create(self, count, prism=PRISM):
        """Makes results and returns their ids."""
        return [self.create_one(prism) for _ in range(count)]

    def create_one(self, prism):
        request = urllib.request.Request(
            f"{self.url}/prisms/{prism}/results",
            data=b'{"text": "Where is my order?"}',
            headers={"Authorization": f"Bearer {self.refract.key}", "Content-Type": "application/json"},
        )
        try:
            response = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as failed:
            response = failed
        return json.load(response)["id"]

    def __exit__(self, kind, *_):
        self.process.terminate()
        try:
            status = self.process.wait(STOP_SECONDS)
        except BaseException:
            self.kill()
            raise
        self.log.close()
        if kind is None and (status != 0 or self.words()):
            raise SystemExit(f"the server ended with {status} and said:\n{self.words()}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def words(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            return log.read()[-4000:]


def free_port():
    """A port that is free at this moment."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
