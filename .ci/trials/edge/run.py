"""Makes many calls with real HTTP clients, straight and through real proxies. See .ci/trials/check-edge."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from model import Model
from server import PRISM, Refract, free_port

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# calls of a client straight, and of each of two clients through a proxy
STRAIGHT, PROXIED = 1000, 1000
CLIENT_SECONDS = 600
START_SECONDS = 20

NGINX = """daemon off; pid nginx.pid; error_log error.log; worker_processes 1; events {{}}
http {{
  access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' close; }}
  upstream refract {{ server {node}; keepalive 16; }}
  server {{ listen 127.0.0.1:{port}; location / {{ {lines} }} }}
}}
"""
FORWARDED = "proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
# what guides and generators write
NGINX_LINES = {
    "nginx, proxy_pass alone": "proxy_pass http://{node};",
    "nginx, kept connections": 'proxy_pass http://refract; proxy_http_version 1.1; proxy_set_header Connection "";' + FORWARDED,
    "nginx, lines for websockets": 'proxy_pass http://refract; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";' + FORWARDED,
    "nginx, websockets by a map": "proxy_pass http://refract; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;",
}
HAPROXY_DEFAULTS = """global
  maxconn 100
defaults
  mode http
  timeout connect 5s
  timeout client 50s
  timeout server 50s
"""
HAPROXY = (
    HAPROXY_DEFAULTS
    + """  {lines}
frontend in
  bind 127.0.0.1:{port}
  default_backend nodes
backend nodes
  server node {node}
"""
)
HAPROXY_LINES = {"HAProxy": "option forwardfor", "HAProxy, connections shared": "http-reuse always"}
CADDY = "{{\n\tadmin off\n\tauto_https off\n}}\nhttp://127.0.0.1:{port} {{\n\treverse_proxy {node}\n}}\n"


# HAProxy as docs/deploy configures it, by which a body that is too large must get an answer over HTTP/2 too
DEPLOYED = (ROOT / "docs" / "deploy" / "haproxy.cfg").read_text(encoding="utf-8")
LARGE = (
    HAPROXY_DEFAULTS
    + """frontend in
  bind 127.0.0.1:{port} proto {protocol}
{rules}
  default_backend nodes
backend nodes
  server node {node}
"""
)
LARGE_CALLS = 20


def clients(folder):
    """The command of each client that is here, and why another is not."""
    python = sys.executable
    found = {f"Python {library}": [python, HERE / "calls.py", library] for library in ("requests", "httpx", "aiohttp", "http.client")}
    if shutil.which("node"):
        found["Node fetch (undici)"] = ["node", HERE / "calls.mjs"]
    if shutil.which("ruby"):
        found["Ruby net/http"] = ["ruby", HERE / "calls.rb"]
    if shutil.which("javac"):
        shutil.copy(HERE / "calls.java", folder / "Calls.java")
        subprocess.run(["javac", "-d", folder, folder / "Calls.java"], check=True)
        found["Java HttpClient"] = ["java", "-cp", folder, "Calls"]
    if shutil.which("go"):
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off", "GOCACHE": str(folder / "go")}
        subprocess.run(["go", "build", "-o", folder / "calls-go", HERE / "calls.go"], env=environment, check=True)
        found["Go net/http"] = [folder / "calls-go"]
    if shutil.which("curl"):
        found["curl"] = [python, HERE / "curl.py"]
        found["curl --http2"] = [python, HERE / "curl.py", "--http2"]
        found["curl with Expect"] = [python, HERE / "curl.py", "--header", "Expect: 100-continue"]
    return found


@contextlib.contextmanager
def proxy(command, port, folder):
    """A running proxy that listens at its port."""
    with open(folder / "proxy.log", "wb") as log:
        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        process = subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        last = time.monotonic() + START_SECONDS
        while time.monotonic() < last and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def proxies(node, folder):
    """Name, command and port of each proxy that is here."""
    for name, lines in NGINX_LINES.items():
        if program := shutil.which("nginx"):
            port = free_port()
            place = folder / str(port)
            place.mkdir()
            text = NGINX.format(node=node, port=port, lines=lines.format(node=node))
            (place / "nginx.conf").write_text(text)
            yield name, [program, "-p", place, "-c", place / "nginx.conf"], port
    for name, lines in HAPROXY_LINES.items():
        if program := shutil.which("haproxy"):
            port = free_port()
            (folder / f"haproxy-{port}.cfg").write_text(HAPROXY.format(node=node, port=port, lines=lines))
            yield name, [program, "-q", "-f", folder / f"haproxy-{port}.cfg"], port
    if program := shutil.which("caddy"):
        port = free_port()
        (folder / "Caddyfile").write_text(CADDY.format(node=node, port=port))
        yield "Caddy", [program, "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"], port


def run(name, command, arguments):
    """Runs a client and says how many of its calls failed."""
    begin = time.monotonic()
    done = subprocess.run(list(map(str, [*command, *arguments])), capture_output=True, text=True, timeout=CLIENT_SECONDS)
    lines = done.stdout.strip().splitlines() or [done.stderr.strip()[-300:]]
    is_good = done.returncode == 0 and lines[-1] == "0 failed"
    count = arguments[4]
    print(f"{'good  ' if is_good else 'FAILED'} {name}: {count} calls, {lines[-1]}, {time.monotonic() - begin:.1f} s", flush=True)
    for line in [] if is_good else lines[:3]:
        print(f"       {line}", flush=True)
    return is_good


def large_bodies(node, folder, key):
    """Sends bodies over the limit through HAProxy with the rules of docs/deploy, and returns whether each gets a 413."""
    if not (shutil.which("haproxy") and shutil.which("curl")):
        return True
    good = True
    rules = "\n".join(line for line in DEPLOYED.splitlines() if "return status 413" in line)
    body = folder / "large.json"
    body.write_text(json.dumps({"text": "x" * 3_000_000}))
    for protocol, option in (("h1", "--http1.1"), ("h2", "--http2-prior-knowledge")):
        port = free_port()
        file = folder / "large.cfg"
        file.write_text(LARGE.format(port=port, protocol=protocol, rules=rules, node=node))
        url = f"http://127.0.0.1:{port}/v1/prisms/{PRISM}/results"
        headers = ["-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json"]
        command = ["curl", "-s", option, "-o", os.devnull, "-w", "%{http_code}", *headers, "-d", f"@{body}", url]
        with proxy(["haproxy", "-f", str(file)], port, folder):
            statuses = {subprocess.run(command, capture_output=True, text=True).stdout for _ in range(LARGE_CALLS)}
        print(f"{'good  ' if statuses == {'413'} else 'FAILED'} HAProxy, {protocol}, 3 MB: {statuses}", flush=True)
        good &= statuses == {"413"}
    return good


def status_of_retry(url, key, result):
    """What a retry of a result that did not fail is answered with."""
    request = urllib.request.Request(f"{url}/results/{result}/retry", method="POST", headers={"Authorization": f"Bearer {key}"})
    try:
        return urllib.request.urlopen(request, timeout=30).status
    except urllib.error.HTTPError as refused:
        json.load(refused)
        return refused.code


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    good = True
    with tempfile.TemporaryDirectory(prefix="refract-check-edge.") as folder, Model() as model:
        folder = Path(folder)
        refract = Refract(sys.argv[1], str(folder))
        refract.run("prism", "create", ROOT / "docs" / "examples" / f"{PRISM}.json")
        with refract.serve(model.url) as server:
            result = server.create_one(PRISM)
            arguments = [refract.key, PRISM, result]
            retry = status_of_retry(server.url, refract.key, result)
            found = clients(folder)
            for name, command in found.items():
                good &= run(name, command, [server.url, *arguments, STRAIGHT, retry])
            node = server.url.removeprefix("http://").removesuffix("/v1")
            through = [name for name in ("Python http.client", "Java HttpClient") if name in found]
            good &= large_bodies(node, folder, refract.key)
            for name, command, port in proxies(node, folder):
                with proxy(command, port, folder):
                    for client in through:
                        url = f"http://127.0.0.1:{port}/v1"
                        good &= run(f"{name}, by {client}", found[client], [url, *arguments, PROXIED, retry])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
