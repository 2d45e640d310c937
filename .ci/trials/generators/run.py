"""Generates clients from docs/openapi.json, checks their types, and calls a server with each. See .ci/trials/check-generators."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from model import Model
from server import PRISM, Refract

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
STEP_SECONDS = 300
COMMANDS = {
    "openapi-typescript": "npx openapi-typescript openapi.json -o client.ts",
    "hey-api": "npx @hey-api/openapi-ts -i ./openapi.json -o client",
    "orval": "npx orval --config orval.config.mjs",
    "openapi-python-client": "openapi-python-client generate --path openapi.json",
    "openapi-generator-python": "openapi-generator-cli generate -g python -i openapi.json -o client",
    "openapi-generator-typescript-fetch": "openapi-generator-cli generate -g typescript-fetch -i openapi.json -o client",
}
# the folder and the name of a generated Python package, and what mypy is asked for beside it
PACKAGES = {
    "openapi-python-client": ("refract-client", "refract_client", ["--strict"]),
    "openapi-generator-python": ("client", "openapi_client", []),
}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    binary, tools, *names = sys.argv[1:]
    clients = Clients(Path(tools), names)
    clients.do("generated", clients.generate, names)
    python = [name for name in names if name in PACKAGES]
    typescript = ["TypeScript"] if len(python) < len(names) else []
    clients.do("type-checked", clients.check_types, typescript + python)
    with tempfile.TemporaryDirectory(prefix="refract-check-generators.") as folder, Model() as model:
        refract = Refract(binary, folder)
        for _ in range(2):
            refract.run("prism", "create", ROOT / "docs" / "examples" / f"{PRISM}.json")
        refract.run("lens", "set", PRISM, ROOT / ".ci" / "gate" / "schemathesis" / "lens.json")
        with refract.serve(model.url) as server:
            clients.environment |= {"REFRACT_URL": server.url, "REFRACT_KEY": refract.key}
            clients.do("called", clients.call, names)


class Clients:
    """Generated clients, each in a folder of its own under `work`."""

    def __init__(self, tools, names):
        self.tools, self.work = tools, tools / "work"
        path = f"{tools / 'venv' / 'bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
        shutil.rmtree(self.work, ignore_errors=True)
        for name in names:
            (self.work / name).mkdir(parents=True)
            shutil.copy(ROOT / "docs" / "openapi.json", self.work / name)
        scripts = [name for name in names if name not in PACKAGES]
        for name in scripts:
            shutil.copy(HERE / "clients" / f"{name}.ts", self.work / name / "check.ts")
            for settings in (HERE / "clients").glob(f"{name}.config.*"):
                shutil.copy(settings, self.work / name)
        for name in ("scenario.ts", "expected.json", "tsconfig.json"):
            shutil.copy(HERE / name, self.work)

    def do(self, what, step, names):
        """Takes a step for all clients, on all cores; every failure is printed before the end."""
        start, failed = time.monotonic(), 0
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, (status, output) in zip(names, pool.map(step, names), strict=True):
                if status != 0:
                    print(f"not {what}: {name}:\n{output}", flush=True)
                    failed += 1
                elif step == self.call:
                    print(f"{name}: {output.strip()}", flush=True)
        if failed:
            sys.exit(1)
        print(f"{what}: {', '.join(names)} ({time.monotonic() - start:.0f} s)", flush=True)

    def generate(self, name):
        return self.run(shlex.split(COMMANDS[name]), self.work / name)

    def check_types(self, name):
        """Compiles all TypeScript clients together, or checks one Python client; what calls them is checked too."""
        if name not in PACKAGES:
            return self.run(["npx", "tsc", "--project", "tsconfig.json"], self.work)
        folder, package, options = PACKAGES[name]
        source = self.work / name / folder
        compiled = self.run(["python", "-m", "compileall", "-q", source / package], self.work)
        if compiled[0] != 0:
            return compiled
        check = ["mypy", *options, "--cache-dir", self.tools / "mypy" / name]
        path = {"MYPYPATH": f"{HERE}:{source}"}
        return self.run([*check, HERE / "clients" / f"{name}.py", source / package], self.work, path)

    def call(self, name):
        if name in PACKAGES:
            path = {"PYTHONPATH": f"{HERE}:{self.work / name / PACKAGES[name][0]}"}
            status, output = self.run(["python", HERE / "clients" / f"{name}.py"], self.work, path)
        else:
            status, output = self.run(["node", f"js/{name}/check.js"], self.work)
        # the last line of a scenario: Node ends with 0 too where a promise is never settled
        return status or int(not output.endswith("comparisons\n")), output

    def run(self, command, folder, environment=None):
        """Runs a command and returns its status and what it printed."""
        try:
            done = subprocess.run(
                list(map(str, command)),
                cwd=folder,
                env=self.environment | (environment or {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=STEP_SECONDS,
            )
        except subprocess.TimeoutExpired as late:
            return 1, f"{(late.stdout or b'').decode(errors='replace')}\nnot done after {STEP_SECONDS} s"
        return done.returncode, done.stdout.decode(errors="replace")


if __name__ == "__main__":
    main()
