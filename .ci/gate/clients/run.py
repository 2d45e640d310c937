"""Checks the packed clients against a server with faults in between. See .ci/gate/check-clients."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults import Faults
from model import Handler, Model
from server import PRISM, Refract

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
STEP_SECONDS = 120
# what docs/examples/notebook promises to do in so many lines
LINES_OF_NOTEBOOK = 25


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
    if find_spec("matplotlib"):
        with tempfile.TemporaryDirectory(prefix="refract-check-notebook.") as folder:
            run_notebook(binary, work, folder)


def run_notebook(binary, work, folder):
    """Runs the notebook's cells as a script, twice: the second time nothing is asked, marked or measured anew."""
    notebook = ROOT / "docs" / "examples" / "notebook" / "reliability.py"
    lines = notebook.read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line.strip() and not line.startswith("#")]
    if len(code) > LINES_OF_NOTEBOOK:
        raise SystemExit(f"check-clients: {notebook.name} has {len(code)} lines of code, {LINES_OF_NOTEBOOK} are allowed")
    refract = Refract(binary, folder)
    refract.run("prism", "create", ROOT / "docs" / "examples" / f"{PRISM}.json")
    shutil.copy(ROOT / "docs" / "examples" / "gold.csv", work / "work")
    (Path(folder) / "refract").symlink_to(binary)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    plot = work / "work" / "reliability.png"
    with refract.serve("builtin:lexical") as server:
        for changed in ("600 new or changed", "0 new or changed"):
            plot.unlink(missing_ok=True)
            environment = {**refract.environment, "REFRACT_URL": server.url, "REFRACT_KEY": refract.key, "PATH": path, "MPLBACKEND": "agg"}
            words = run(work, [sys.executable, notebook], environment, end=None)
            expected = ["[200 rows x ", f"600 marks on 200 results: {changed}", "urgency_today", "accuracy_low"]
            lacking = [part for part in expected if part not in words]
            if lacking or not plot.read_bytes().startswith(b"\x89PNG"):
                raise SystemExit(f"check-clients: the notebook does not print {lacking}:\n{words}")
    print("the notebook: runs, and again without asking", flush=True)


def run(work, command, environment=None, end="as it says\n"):
    """Runs a command, which must end with status 0 and, as a check of calls, with the words `end`; returns its output."""
    done = subprocess.run(
        list(map(str, command)), cwd=work / "work", env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=STEP_SECONDS,
    )
    words = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise SystemExit(f"check-clients: {command[0]} ended with {done.returncode}:\n{words}")
    if environment and end:
        # Node ends with 0 too where a promise is never settled
        if not words.endswith(end):
            raise SystemExit(f"check-clients: not all was checked:\n{words}")
        print(words, end="", flush=True)
    return words


if __name__ == "__main__":
    main()
