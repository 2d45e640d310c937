"""Asks every query of the dashboards and every metric of the alerts of a real Prometheus.

    queries.py BINARY FOLDER      FOLDER is docs/deploy

HAProxy, with the folder's configuration, leads to two nodes. The model of one reports tokens and a cost,
the model of the other cannot be reached. The database has results of ten days, so that drift is measured,
and the key of the calls ends soon; nodes look at both a minute after their start. Prometheus scrapes all of them and a node exporter,
with the folder's configuration, while calls are made. A query without an answer is a mistake in its names
or labels, unless it is listed below. Everything listens on free ports of 127.0.0.1.
"""

import contextlib
import http.server
import json
import os
import re
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PRISM = "support-triage"
# what healthy nodes do not show, and why
EMPTY = {
    'refract_http_requests_total{status="500"}': "a 500 needs a database that is away",
    'kube_deployment_status_replicas_available{deployment="refract"}': "it needs a cluster",
}
WINDOW = "10s"
PATIENCE = 150
DAYS, RESULTS_A_DAY = 10, 48
# what Prometheus must have seen before the queries are asked, and how many series of it
SEEN = {"rate(refract_model_calls_total[10s]) > 0": 2, "refract_watch_psi": 1, "refract_key_days_left": 2, "refract_budget_used_ratio": 1}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binary, folder = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="refract-check-deploy.") as work, contextlib.ExitStack() as running:
        prometheus = start(running, binary, folder, Path(work))
        wrong = ask_all(prometheus, folder)
    if wrong:
        raise SystemExit("REFUSED  queries:\n" + "\n".join(f"         {words}" for words in wrong))


def start(running, binary, folder, work):
    """Starts everything and makes calls until Prometheus has seen a window of them. Returns its address."""
    ports = free_ports(9)
    api, app, shown, exporter, prometheus = ports[4:]
    nodes = [(ports[0], ports[1], model_server(running)), (ports[2], ports[3], "http://127.0.0.1:1/v1")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REFRACT_")}
    environment = {**kept, "DATABASE_URL": f"sqlite://{work}/refract.db", "REFRACT_LOG": "warn"}

    def command(*arguments):
        done = subprocess.run([binary, *arguments], env=environment, capture_output=True, check=True)
        return json.loads(done.stdout)

    end = datetime.now(UTC) + timedelta(days=20)
    key = command("key", "create", "--expires", end.isoformat())["key"]
    command("prism", "create", str(EXAMPLES / f"{PRISM}.json"))
    command("account", "set", "--budget", "200", "--model-prices", "1,1,1", "--json")
    add_old_results(work / "refract.db")
    for listen, ops, model in nodes:
        settings = {
            "REFRACT_LISTEN": f"127.0.0.1:{listen}",
            "REFRACT_OPS_LISTEN": f"127.0.0.1:{ops}",
            "REFRACT_APP_LISTEN": "off",
            "REFRACT_MODEL_URL": model,
        }
        spawn(running, work, [binary, "serve"], {**environment, **settings})
    (work / "haproxy.cfg").write_text(haproxy_config(folder, nodes, api, app, shown), encoding="utf-8")
    spawn(running, work, ["haproxy", "-q", "-db", "-f", work / "haproxy.cfg"], kept)
    spawn(running, work, ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporter}"], kept)
    targets = {
        "refract": [f"127.0.0.1:{ops}" for _, ops, _ in nodes],
        "haproxy": [f"127.0.0.1:{shown}"],
        "machine": [f"127.0.0.1:{exporter}"],
        "prometheus": [f"127.0.0.1:{prometheus}"],
    }
    count = sum(len(of_job) for of_job in targets.values())
    (work / "prometheus.yml").write_text(prometheus_config(folder, targets), encoding="utf-8")
    options = [
        f"--config.file={work}/prometheus.yml",
        f"--storage.tsdb.path={work}/data",
        f"--web.listen-address=127.0.0.1:{prometheus}",
        "--log.level=warn",
    ]
    spawn(running, work, ["prometheus", *options], kept)
    address = f"http://127.0.0.1:{prometheus}"
    last = time.monotonic() + PATIENCE
    while not all_seen(address, count):
        if time.monotonic() > last:
            raise SystemExit("REFUSED  queries: Prometheus did not see every target and metric: " + words_of(work))
        for node in nodes:
            call(f"http://127.0.0.1:{node[0]}", key)
        call(f"http://127.0.0.1:{api}", key)
        time.sleep(0.2)
    return address


class SystemOne(http.server.BaseHTTPRequestHandler):
    """A model that gives every question the same answer, and reports what the request cost."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers = {key: self.answer(question) for key, question in asked["questions"].items()}
        usage = {"input_tokens": 90, "cached_tokens": 60, "output_tokens": 30, "cost": 0.0002}
        body = json.dumps({"model": "model-1", "answers": answers, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def answer(question):
        if question["type"] == "noul":
            return {"type": "noul", "noul": 0.8}
        criteria = question["criteria"]
        keys = list(criteria) if question["type"] == "choice" else [str(level) for level in range(len(criteria))]
        probabilities = {key: 1 / len(keys) for key in keys}
        if question["type"] == "choice":
            return {"type": "choice", "choice": keys[0], "confidence": 0.6, "probabilities": probabilities}
        legend = dict(zip(keys, criteria))
        return {"type": "score", "score": 0, "confidence": 0.6, "legend": legend, "probabilities": probabilities}

    def log_message(self, *_):
        pass


def model_server(running):
    """Serves the model until the end. Returns its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SystemOne)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    running.callback(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/v1"


def add_old_results(path):
    """Adds results of the last days to the database; the newest is too young to be counted."""
    outcomes = ["billing", "delivery", "product", "other", "insufficient_information"]
    now = int(time.time() * 1000)
    count = DAYS * RESULTS_A_DAY
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        account, prism = database.execute("SELECT account_id, id FROM prisms").fetchone()
        for number in range(count):
            at = now - (count - number) * 86_400_000 // RESULTS_A_DAY
            bits = secrets.randbits(74)
            uuid = (at << 80) | (7 << 76) | ((bits >> 62) << 64) | (2 << 62) | (bits & (2**62 - 1))
            chosen = outcomes[number % len(outcomes)]
            answers = {
                "topic": {
                    "type": "choice",
                    "value": chosen,
                    "probabilities": {key: 0.84 if key == chosen else 0.04 for key in outcomes},
                    "confidence": 0.8,
                },
                "angry": {"type": "yes_no", "probability": number * 37 % 1000 / 1000},
                "urgency": {
                    "type": "scale",
                    "level": "today",
                    "probabilities": {"can_wait": 0.1, "this_week": 0.2, "today": 0.7},
                },
            }
            database.execute(
                "INSERT INTO results (id, account_id, prism_id, version, status, answers, fields, took_ms, "
                "created_at, model_name) VALUES (?, ?, ?, 1, 'ok', ?, '{}', 40, ?, 'model-0')",
                (uuid.to_bytes(16, "big"), account, prism, json.dumps(answers), at),
            )


def haproxy_config(folder, nodes, api, app, shown):
    """The folder's configuration with the addresses of this run. Nodes have no app here."""
    text = (folder / "haproxy.cfg").read_text(encoding="utf-8")
    for own, free in ((":8080", api), (":8081", app), (":8404", shown)):
        text = replaced(text, f"bind {own}\n", f"bind 127.0.0.1:{free}\n")
    for number, (listen, ops, _) in enumerate(nodes, 1):
        for port in (8080, 8081):
            server = f"server node{number} node{number}:{port}\n"
            text = replaced(text, server, f"server node{number} 127.0.0.1:{listen} port {ops}\n")
    return text


def prometheus_config(folder, targets):
    """The folder's configuration with the addresses of this run, asking ten times as often."""
    config = yaml.safe_load((folder / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    config["rule_files"] = [str((folder / "prometheus" / name).resolve()) for name in config["rule_files"]]
    for job in config["scrape_configs"]:
        job["static_configs"] = [{"targets": targets.pop(job["job_name"])}]
    assert not targets, f"no job asks {targets}"
    return yaml.safe_dump(config)


def all_seen(address, targets):
    """Whether every target was scraped a few times, and calls and drift were seen."""
    try:
        seen = ask(address, "count_over_time(up[1m]) > 6 and up == 1")
        return len(seen) == targets and all(len(ask(address, query)) >= least for query, least in SEEN.items())
    except OSError:
        return False


def ask_all(address, folder):
    """The queries that Prometheus refuses or has no answer to."""
    wrong, asked = [], 0
    for path in sorted((folder / "grafana").glob("*.json")):
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        for where, query in queries_of(dashboard):
            asked += 1
            wrong += problem(address, f"{path.name}: {where}", query)
    rules = yaml.safe_load((folder / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
    listed = set()
    for rule in (rule for group in rules["groups"] for rule in group["rules"]):
        asked += 1
        # a good day has no alerts, so the metrics are asked for one by one
        wrong += refused(address, rule["alert"], rule["expr"])
        for selector in re.findall(r'\b(?:refract|haproxy|node|kube|up)\w*(?:\{(?:[^}"]|"[^"]*")*\})?', rule["expr"]):
            listed.add(selector)
            if selector not in EMPTY:
                wrong += problem(address, rule["alert"], selector)
    wrong += [f"{selector} is listed as empty, and nothing asks for it" for selector in EMPTY.keys() - listed]
    if not wrong:
        print(f"good     {asked} queries of the dashboards and the alerts are answered from real metrics")
        for selector, reason in EMPTY.items():
            print(f"         but {selector}: {reason}")
    return wrong


def queries_of(dashboard):
    """Every query of a dashboard as Grafana sends it, with its place."""
    variables = [it for it in dashboard["templating"]["list"] if it["type"] == "query"]

    def filled(expression):
        for variable in variables:
            expression = expression.replace(f"${variable['name']}", variable["allValue"])
        return expression.replace("$__rate_interval", WINDOW)

    for variable in variables:
        selector, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"]).groups()
        yield f"variable {variable['name']}", f"count by ({label}) ({filled(selector)})"
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], filled(target["expr"])


def refused(address, where, expression):
    try:
        ask(address, expression)
        return []
    except urllib.error.HTTPError as error:
        return [f"{where}: {expression}: {json.load(error)['error']}"]


def problem(address, where, expression):
    try:
        answer = ask(address, expression)
    except urllib.error.HTTPError as error:
        return [f"{where}: {expression}: {json.load(error)['error']}"]
    if any(sample["value"][1] != "NaN" for sample in answer):
        return []
    return [f"{where}: {expression}: no answer"]


def ask(address, expression):
    query = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"{address}/api/v1/query?{query}", timeout=10) as answer:
        return json.load(answer)["data"]["result"]


def call(address, key):
    """Creates a result and reads it; a node whose model is away answers 502, with the result."""
    try:
        body = json.dumps({"text": "Where is my order?"}).encode()
        made = json.loads(send(f"{address}/v1/prisms/{PRISM}/results", key, body))
        send(f"{address}/v1/results/{made['id']}", key)
    except OSError:
        pass


def send(url, key, body=None):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        if error.code != 502:
            raise
        return error.read()


def spawn(running, work, command, environment):
    """Starts a process, which is stopped at the end."""
    log = running.enter_context(open(work / f"{Path(command[0]).name}.log", "ab"))
    process = subprocess.Popen(list(map(str, command)), env=environment, cwd=work, stdout=log, stderr=log)
    running.callback(process.wait)
    running.callback(process.terminate)


def words_of(work):
    """The last that the processes logged."""
    logs = sorted(work.glob("*.log"))
    return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-600:]}" for log in logs)


def replaced(text, old, new):
    assert text.count(old) == 1, f"haproxy.cfg has {text.count(old)} lines `{old.strip()}`"
    return text.replace(old, new)


def free_ports(count):
    """Ports that are free now; they differ, since all are held at once."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    main()
