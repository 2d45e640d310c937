"""Checks the packed clients against a server with faults in between. See .ci/gate/check-clients."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults import Faults
from model import Handler, Model
from server import PRISM, Refract

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
STEP_SECONDS = 120


class SlowModel(Handler):
    """The model of the checks, which takes two seconds for a text that begins with `slow: `."""

    def answer(self, status, value):
        if self.is_slow:
            time.sleep(2)
        super().answer(status, value)

    def do_POST(self):
        body = self.rfile.peek()
        self.is_slow = b'"slow: ' in body
        super().do_POST()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binary, work, typescript = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    for file in ("check_python.py", "check.ts"):
        shutil.copy(HERE / file, work / "work")
    (work / "work" / "package.json").write_text('{"type": "module"}')
    mypy = [Path(sys.executable).with_name("mypy"), "--strict", "--cache-dir", work / "mypy"]
    run(work, [*mypy, "--python-version", "3.10", "-p", "refract_client"])
    run(work, [*mypy, "check_python.py"])
    if typescript:
        options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--erasableSyntaxOnly"]
        target = ["--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "--types", ""]
        run(work, [typescript, *options, *target, "--outDir", ".", "check.ts"])
    print(f"type-checked: {'Python, TypeScript' if typescript else 'Python'}", flush=True)
    with tempfile.TemporaryDirectory(prefix="refract-check-clients.") as folder, Model() as model:
        model.server.RequestHandlerClass = SlowModel
        refract = Refract(binary, folder)
        refract.run("prism", "create", ROOT / "docs" / "examples" / f"{PRISM}.json")
        with refract.serve(model.url) as server:
            older = [{"PYTHONPATH": str(packages)} for packages in sorted((work / "httpx").iterdir(), reverse=True)]
            calls = [([sys.executable, "check_python.py"], environment) for environment in [{}, *older]]
            if typescript:
                calls.append((["node", "check.js"], {}))

            def call(command, environment):
                with Faults(server.url) as faults:
                    run(work, command, {"REFRACT_URL": f"{faults.url}/v1", "REFRACT_KEY": refract.key, **environment})

            # most of their time they wait
            with ThreadPoolExecutor(3) as threads:
                for done in [threads.submit(call, *arguments) for arguments in calls]:
                    done.result()


def run(work, command, environment=None):
    """Runs a command, which must end with status 0."""
    done = subprocess.run(
        list(map(str, command)), cwd=work / "work", env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=STEP_SECONDS,
    )
    words = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise SystemExit(f"check-clients: {command[0]} ended with {done.returncode}:\n{words}")
    if environment:
        # Node ends with 0 too where a promise is never settled
        if not words.endswith("as it says\n"):
            raise SystemExit(f"check-clients: not all was checked:\n{words}")
        print(words, end="", flush=True)


if __name__ == "__main__":
    main()
