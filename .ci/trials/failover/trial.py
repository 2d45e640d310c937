"""Replaces the leader of a PostgreSQL cluster again and again while results are saved through the API.

    trial.py BINARY POSTGRES_BINARIES PROMOTIONS ROUTE

Two members of Patroni run with docs/deploy/patroni/patroni.yml beside one etcd, and one node of Refract.
ROUTE is how it reaches the leader: `haproxy`, with docs/deploy/patroni/haproxy.cfg, or `hosts`, with both
members in its address. Writers create results without a pause; each repeats a call that failed,
with its idempotency key, until it is acknowledged. The leader is replaced in four ways, see WAYS. After
each, every acknowledged result is read by its id and compared with what was sent, and at the end the
database must hold exactly one result for each key. Everything listens on free ports of 127.0.0.1.
"""

import contextlib
import http.client
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[3]
CONFIGURATION = ROOT / "docs" / "deploy" / "patroni" / "patroni.yml"
BALANCER = ROOT / "docs" / "deploy" / "patroni" / "haproxy.cfg"
PRISM = "support-triage"
WRITERS = 8
# calls of each writer a second, at most: a steady load, not a benchmark
PACE = 1 / 25
# acknowledged results before a leader is replaced, and after it
ENOUGH = 200
# how long a member may take to follow
PATIENCE = 180
# how long writes may rest while the old leader is away
REST = 60
# a caller's own limit for a call, longer than the node's for a save
CALL = 60
PAUSE = 0.2


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binary, binaries, promotions, route = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    with contextlib.ExitStack() as running:
        folder = make_folder(running)
        if version := os.environ.get("PATRONI_VERSION"):
            install_patroni(folder, version)
        cluster = Cluster(running, folder, binaries)
        url = cluster.url() if route == "hosts" else cluster.balanced_url()
        node = Node(running, folder, binary, url)
        try:
            is_good = try_all(running, cluster, node, promotions)
        finally:
            # a second signal must not end the cleaning up
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(0 if is_good else 1)


def try_all(running, cluster, node, promotions):
    """Replaces leaders and prints a table. Returns whether writes went on and every result is there once."""
    rows, kept, lost, went_on = [], [], 0, True
    ways = [KILLED] * promotions + [SWITCHED, HUNG, ORPHANED]
    for number, way in enumerate(ways, 1):
        cluster.until_followed()
        load = Load(running, node, f"round-{number}")
        load.until_more(ENOUGH)
        leader = cluster.leader()
        began = time.monotonic()
        undo = way.replace(cluster, leader)
        cluster.until_led_by_another(leader)
        promoted = time.monotonic() - began
        went_on &= load.goes_on_within(REST)
        # the old leader comes back, and the load notices nothing of it
        undo()
        cluster.until_followed()
        load.until_more(ENOUGH)
        acknowledged = load.stop()
        kept += acknowledged
        wrong = node.missing(acknowledged)
        lost += wrong
        rows.append((way.name, promoted, load.longest_pause(began), load.failed, len(acknowledged), wrong))
        print(f"try-failover: {number} of {len(ways)}, {row(rows[-1])}", file=sys.stderr, flush=True)
    wrong = node.missing(kept)
    saved, keys = cluster.saved()
    print_table(rows, len(kept), wrong, saved, keys)
    # every writer repeats a key until it is acknowledged, so there are no other results
    return went_on and not lost and not wrong and saved == keys == len(kept)


def row(values):
    way, promoted, pause, failed, acknowledged, wrong = values
    return f"| {way} | {promoted:.1f} | {pause:.1f} | {failed} | {acknowledged:,} | {wrong} |"


def print_table(rows, kept, wrong, saved, keys):
    lines = [
        "| leader | s to a new leader | s without writes | failed calls | acknowledged | lost |",
        "|---|--:|--:|--:|--:|--:|",
        *map(row, rows),
        "",
        f"At the end: {kept:,} acknowledged, {wrong} of them missing or different, "
        f"{saved:,} results with {keys:,} keys in the database.",
    ]
    print("\n".join(lines), flush=True)
    if table := os.environ.get("FAILOVER_TABLE"):
        Path(table).write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_folder(running):
    """A folder that the servers' user can write to."""
    folder = Path(tempfile.mkdtemp(prefix="refract-failover.", dir="/tmp"))
    running.callback(shutil.rmtree, folder, ignore_errors=True)
    if os.geteuid() == 0:
        owner = unprivileged()
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    return folder


def install_patroni(folder, version):
    """Takes a version of Patroni from PyPI instead of that of the system."""
    environment = folder / "patroni"
    packages = [f"patroni[etcd3,psycopg3]=={version}", "psycopg[binary]>=3.2,<4"]
    try:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", *packages], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"try-failover: Patroni {version} cannot be installed: {error}", file=sys.stderr)
        raise SystemExit(75) from error
    os.environ["PATH"] = f"{environment / 'bin'}:{os.environ['PATH']}"


def unprivileged():
    """PostgreSQL refuses to run as root."""
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise SystemExit("try-failover: neither user postgres nor nobody exists")


def spawn(running, folder, command, environment, name):
    """Starts a process in a session of its own, as an unprivileged user if this is root. It is stopped at
    the end with all that it started and that is still there."""
    log = running.enter_context(open(folder / f"{name}.log", "ab"))
    user = {}
    if os.geteuid() == 0:
        owner = unprivileged()
        user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    process = subprocess.Popen(
        list(map(str, command)),
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        **user,
    )
    running.callback(stop, process)
    return process


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


class Member:
    """A member of the cluster: Patroni and its PostgreSQL."""

    def __init__(self, name, port, rest):
        self.name, self.port, self.rest = name, port, rest
        self.patroni = None

    def state(self):
        """What Patroni says of the cluster; `None` if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.rest}/cluster", timeout=2) as answer:
                return json.load(answer)["members"]
        except (OSError, ValueError, http.client.HTTPException):
            return None


class Cluster:
    def __init__(self, running, folder, binaries):
        self.running, self.folder, self.binaries = running, folder, binaries
        client, peer, *ports = free_ports(6)
        self.etcd = f"127.0.0.1:{client}"
        # the name `refract` has a password of its own, like every role
        names = ("superuser", "replication", "rewind", "restapi", "refract")
        self.passwords = {name: secrets.token_hex(16) for name in names}
        self.members = [Member("db1", ports[0], ports[1]), Member("db2", ports[2], ports[3])]
        self.start_etcd(client, peer)
        running.callback(self.stop_servers)
        for member in self.members:
            self.start(member)
            # the first one makes the cluster, the second one copies it
            wait("a leader", lambda: self.leader() is not None)
        self.psql(f"CREATE ROLE refract LOGIN PASSWORD '{self.passwords['refract']}'")
        self.psql("CREATE DATABASE refract OWNER refract")

    def url(self):
        password, (one, other) = self.passwords["refract"], self.members
        return (
            f"postgres://refract:{password}@127.0.0.1:{one.port},127.0.0.1:{other.port}/refract"
            "?target_session_attrs=read-write&sslmode=disable"
        )

    def balanced_url(self):
        """The address of HAProxy, which leads to the leader."""
        (port,) = free_ports(1)
        text = replaced(BALANCER.read_text(encoding="utf-8"), "bind 127.0.0.1:5432\n", f"bind 127.0.0.1:{port}\n")
        for number, member in enumerate(self.members, 1):
            server = f"server db{number} 10.0.0.{number}:5432\n"
            text = replaced(text, server, f"server db{number} 127.0.0.1:{member.port} port {member.rest}\n")
        configuration = self.folder / "haproxy.cfg"
        configuration.write_text(text, encoding="utf-8")
        spawn(self.running, self.folder, ["haproxy", "-db", "-f", configuration], {}, "haproxy")
        wait("HAProxy", lambda: listens(port))
        # the first checks decide which member leads
        time.sleep(3)
        return f"postgres://refract:{self.passwords['refract']}@127.0.0.1:{port}/refract?sslmode=disable"

    def start_etcd(self, client, peer):
        command = [
            "etcd",
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--logger=zap",
        ]
        spawn(self.running, self.folder, command, {}, "etcd")
        wait("etcd", lambda: listens(client))

    def environment(self, member):
        passwords = self.passwords
        return {
            "PATRONI_NAME": member.name,
            "PATRONI_POSTGRESQL_LISTEN": f"127.0.0.1:{member.port}",
            "PATRONI_POSTGRESQL_CONNECT_ADDRESS": f"127.0.0.1:{member.port}",
            "PATRONI_POSTGRESQL_DATA_DIR": str(self.data(member)),
            "PATRONI_POSTGRESQL_BIN_DIR": str(self.binaries),
            "PATRONI_POSTGRESQL_PGPASS": f"{self.folder}/{member.name}.pgpass",
            "PATRONI_RESTAPI_LISTEN": f"127.0.0.1:{member.rest}",
            "PATRONI_RESTAPI_CONNECT_ADDRESS": f"127.0.0.1:{member.rest}",
            "PATRONI_RESTAPI_USERNAME": "patroni",
            "PATRONI_RESTAPI_PASSWORD": passwords["restapi"],
            "PATRONI_ETCD3_HOSTS": self.etcd,
            "PATRONI_SUPERUSER_PASSWORD": passwords["superuser"],
            "PATRONI_REPLICATION_PASSWORD": passwords["replication"],
            "PATRONI_REWIND_PASSWORD": passwords["rewind"],
        }

    def data(self, member):
        return self.folder / member.name

    def start(self, member):
        configuration = self.folder / "patroni.yml"
        if not configuration.exists():
            shutil.copy(CONFIGURATION, configuration)
            configuration.chmod(0o644)
        command = ["patroni", configuration]
        member.patroni = spawn(self.running, self.folder, command, self.environment(member), member.name)

    def patronictl(self, *arguments):
        environment = {**self.environment(self.members[0]), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        command = ["patronictl", "-c", str(CONFIGURATION), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            raise SystemExit(f"try-failover: patronictl: {done.stdout}{done.stderr}")

    def psql(self, statement, database="postgres"):
        environment = {"PGPASSWORD": self.passwords["superuser"], "PATH": os.environ["PATH"]}
        server = f"host=127.0.0.1 port={self.leader().port} user=postgres dbname={database}"
        command = [self.binaries / "psql", "--no-psqlrc", "--quiet", "-At", "-d", server, "-c", statement]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    def saved(self):
        """How many results there are, and with how many idempotency keys."""
        counted = self.psql("SELECT count(*), count(DISTINCT idempotency_key) FROM results", "refract")
        return tuple(map(int, counted.strip().split("|")))

    def seen(self, role, state):
        """The member in this role and state, as one that answers knows it."""
        for member in self.members:
            for listed in member.state() or []:
                if listed["role"] == role and listed["state"] in state:
                    return next(it for it in self.members if it.name == listed["name"])
        return None

    def leader(self):
        return self.seen("leader", ("running",))

    def until_followed(self):
        """Waits until the leader's commits wait for the other member."""
        wait("a synchronous standby", lambda: self.leader() and self.seen("sync_standby", ("running", "streaming")))
        count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"
        wait("a synchronous connection", lambda: self.psql(count).strip() == "1")

    def until_led_by_another(self, old):
        other = next(it for it in self.members if it is not old)

        def is_led():
            states = other.state() or []
            return any(it["name"] == other.name and it["role"] == "leader" and it["state"] == "running" for it in states)

        wait(f"{other.name} to lead", is_led)

    def processes(self, member):
        """The postmaster of a member and its children."""
        try:
            postmaster = int((self.data(member) / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        except (OSError, ValueError, IndexError):
            return []
        found = [postmaster] if is_alive(postmaster) else []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                # the name, in brackets, may hold spaces
                if int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1]) == postmaster:
                    found.append(int(stat.parent.name))
        return found

    def signal(self, member, number, is_patroni=True, is_postgres=True):
        """Sends a signal to a member's Patroni first, then to its server and all of its children."""
        is_running = member.patroni is not None and member.patroni.poll() is None
        found = [member.patroni.pid] if is_patroni and is_running else []
        if is_postgres:
            found += self.processes(member)
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def until_gone(self, member):
        member.patroni.wait()
        wait(f"the end of {member.name}", lambda: not self.processes(member))

    def stop_servers(self):
        """Kills what a member that died left behind."""
        for member in self.members:
            self.signal(member, signal.SIGCONT)
        for member in self.members:
            if member.patroni is not None:
                stop(member.patroni)
            self.signal(member, signal.SIGKILL)


class Way:
    """A way in which a leader goes. `replace` returns what brings it back as a standby."""

    def __init__(self, name, replace):
        self.name, self.replace = name, replace


def killed(cluster, leader):
    cluster.signal(leader, signal.SIGKILL)
    cluster.until_gone(leader)
    return lambda: cluster.start(leader)


def switched(cluster, leader):
    other = next(it for it in cluster.members if it is not leader)
    cluster.patronictl("switchover", "--candidate", other.name, "--force")
    return lambda: None


def hung(cluster, leader):
    cluster.signal(leader, signal.SIGSTOP)
    # it wakes up as an old leader, and must not write
    return lambda: cluster.signal(leader, signal.SIGCONT)


def orphaned(cluster, leader):
    cluster.signal(leader, signal.SIGKILL, is_postgres=False)
    leader.patroni.wait()
    # its server goes on until Patroni is there again
    return lambda: cluster.start(leader)


KILLED = Way("killed, with its Patroni", killed)
SWITCHED = Way("switched over as planned", switched)
HUNG = Way("stands still, and wakes up later", hung)
ORPHANED = Way("loses its Patroni alone", orphaned)


class Node:
    """A node of Refract, with a prism and a key."""

    def __init__(self, running, folder, binary, url):
        self.api, ops = free_ports(2)
        environment = {"DATABASE_URL": url, "REFRACT_LOG": "warn", "PATH": os.environ["PATH"]}

        def command(*arguments):
            done = subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"try-failover: refract {arguments[0]}: {done.stderr}")
            return json.loads(done.stdout)

        example = ROOT / "docs" / "examples" / f"{PRISM}.json"
        command("migrate", "--json")
        command("prism", "create", str(example))
        self.key = command("key", "create")["key"]
        program = folder / "refract"
        # the servers' user may not be able to read the folder of the build
        shutil.copy(binary, program)
        program.chmod(0o755)
        settings = {
            "REFRACT_LISTEN": f"127.0.0.1:{self.api}",
            "REFRACT_OPS_LISTEN": f"127.0.0.1:{ops}",
            "REFRACT_APP_LISTEN": "off",
            "REFRACT_MODEL_URL": "builtin:lexical",
        }
        spawn(running, folder, [program, "serve"], {**environment, **settings}, "refract")
        wait("the node", lambda: listens(self.api))

    def call(self, connection, method, path, body=None):
        """The status and the JSON of an answer."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.api, timeout=CALL)

    def missing(self, acknowledged):
        """How many of these results are not there, or are not what was acknowledged."""
        connection, wrong = self.connection(), 0
        for expected in acknowledged:
            status, found = self.call(connection, "GET", f"/v1/results/{expected['id']}")
            if status != 200 or found != expected:
                wrong += 1
        connection.close()
        return wrong


class Load:
    """Writers that create results until they are stopped."""

    def __init__(self, running, node, name):
        self.node, self.name = node, name
        self.lock = threading.Lock()
        self.acknowledged, self.moments, self.failed = [], [], 0
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(writer,), daemon=True) for writer in range(WRITERS)]
        running.callback(self.ended.set)
        for thread in self.threads:
            thread.start()

    def write(self, writer):
        connection, number = self.node.connection(), 0
        while not self.ended.is_set():
            key = f"{self.name}-{writer}-{number}"
            body = {"text": f"Where is my order {key}?", "ref": key, "idempotency_key": key}
            due = time.monotonic() + PACE
            # a key is repeated even after the end, so that each has a result
            while True:
                try:
                    status, answer = self.node.call(connection, "POST", f"/v1/prisms/{PRISM}/results", body)
                except (OSError, ValueError, http.client.HTTPException):
                    connection.close()
                    connection, status = self.node.connection(), 0
                if status in (200, 201):
                    break
                with self.lock:
                    self.failed += 1
                time.sleep(PAUSE)
            with self.lock:
                self.acknowledged.append(answer)
                self.moments.append(time.monotonic())
            number += 1
            time.sleep(max(0, due - time.monotonic()))
        connection.close()

    def until_more(self, count):
        with self.lock:
            least = len(self.acknowledged) + count
        wait("acknowledged writes", lambda: len(self.acknowledged) >= least)

    def goes_on_within(self, seconds):
        with self.lock:
            least = len(self.acknowledged) + ENOUGH
        last = time.monotonic() + seconds
        while len(self.acknowledged) < least:
            if time.monotonic() > last:
                return False
            time.sleep(0.1)
        return True

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        return self.acknowledged

    def longest_pause(self, began):
        """The longest time between two acknowledged writes since a moment."""
        moments = [began, *sorted(it for it in self.moments if it > began)]
        return max(later - earlier for earlier, later in zip(moments, moments[1:]))


def replaced(text, old, new):
    assert text.count(old) == 1, f"haproxy.cfg has {text.count(old)} lines `{old.strip()}`"
    return text.replace(old, new)


def wait(what, is_there):
    last = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(subprocess.CalledProcessError, AttributeError):
            if is_there():
                return
        if time.monotonic() > last:
            raise SystemExit(f"try-failover: waited {PATIENCE} s for {what}")
        time.sleep(0.1)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def free_ports(count):
    """Ports that are free now; they differ, since all are held at once."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    main()
