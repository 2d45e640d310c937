"""Asks jevcompat's mock server with each of its faults by the program. See .ci/trials/check-services.

docs/measurements/2026-11-25-model-server-faults.csv has the expected outcome of each fault: `same`, the
answer that the mock gives without the fault; `as sent`, other numbers, which are those that the mock sent;
or the sentence of the failure. `--write` writes the outcomes into the file.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from jevcompat import mock

TABLE = Path(__file__).parents[3] / "docs" / "measurements" / "2026-11-25-model-server-faults.csv"
COLUMNS = ["fault", "what the server does", "outcome"]
CALL_SECONDS = 60
KEY = "sk-check-services"
# what makes a fault show: a key that the mock demands, and settings of the program
SHOWN_BY = {
    "auth-rejects-header": (None, {"REFRACT_MODEL_API_KEY": KEY}),
    "auth-x-api-key": (KEY, {"REFRACT_MODEL_API_KEY": KEY, "REFRACT_MODEL_KEY_HEADER": "x-api-key"}),
    "auth-plain": (KEY, {}),
    "auth-invalid-403-text": (KEY, {"REFRACT_MODEL_API_KEY": "sk-another"}),
    "error-flat": (None, {"REFRACT_MODEL_NAME": "unknown"}),
}
# every type, with more options and levels than some faults allow
PRISM = {
    "name": "Faults",
    "fields": [{"key": "text", "label": "Message"}],
    "context": "We sell bicycles online.",
    "questions": [
        {
            "key": "topic",
            "type": "choice",
            "text": "What is the message about?",
            "options": [{"key": f"part_{number}", "label": f"Part {number}"} for number in range(66)],
        },
        {"key": "angry", "type": "yes_no", "text": "Is the writer angry?"},
        {
            "key": "urgency",
            "type": "scale",
            "text": "How urgent is it?",
            "levels": [{"key": f"level_{number}", "label": f"Level {number}"} for number in range(6)],
        },
    ],
}


def main():
    binary, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="refract-check-services.") as folder:
        program = Program(binary, folder)
        clean = program.outcome(None)
        seen = {fault: program.outcome(fault, clean) for fault in mock.FAULTS}
    if arguments == ["--write"]:
        write(seen)
    expected = {row["fault"]: row["outcome"] for row in csv.DictReader(TABLE.open(encoding="utf-8", newline=""))}
    wrong = [f"{fault}: {seen.get(fault)}, expected: {expected.get(fault)}" for fault in sorted({*seen, *expected}) if seen.get(fault) != expected.get(fault)]
    wrong += [f"{fault}: misread" for fault, outcome in seen.items() if outcome == "misread"]
    if wrong:
        raise SystemExit("\n".join(["faults of a model server with another outcome:", *wrong]))
    read = sum(outcome in ("same", "as sent") for outcome in seen.values())
    print(f"{len(seen)} faults of a System One server: {read} are answered, {len(seen) - read} fail with a sentence")


def write(seen):
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows([fault, mock.FAULTS[fault][1], outcome] for fault, outcome in seen.items())


class Program:
    """The program, and a database with the prism."""

    def __init__(self, binary, folder):
        self.binary = binary
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REFRACT_")}
        self.environment = {**kept, "DATABASE_URL": f"sqlite://{folder}/refract.db", "REFRACT_LOG": "off"}
        file = Path(folder) / "faults.prism.json"
        file.write_text(json.dumps(PRISM), encoding="utf-8")
        self.prism = json.loads(self.run({}, "prism", "create", file).stdout)["slug"]
        # the answers that the mock sent last
        self.sent = None
        respond = mock.respond

        def recording(*request):
            self.sent = respond(*request)
            return self.sent

        mock.respond = recording

    def run(self, settings, *arguments):
        return subprocess.run(
            [self.binary, *map(str, arguments)],
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CALL_SECONDS,
            encoding="utf-8",
        )

    def outcome(self, fault, clean=None):
        """Asks a mock with this fault; returns the answers without a fault, else the outcome."""
        key, settings = SHOWN_BY.get(fault, (None, {}))
        with mock.Running(mock.MockConfig(key=key, faults=frozenset({fault} - {None}))) as server:
            settings = {"REFRACT_MODEL_NAME": "jev-latest", "REFRACT_MODEL_URL": f"{server.url}/v1", **settings}
            done = self.run(settings, "try", self.prism, "--text", "Where is my order?", "--format", "raw")
        if KEY in done.stdout + done.stderr:
            raise SystemExit(f"{fault}: the key is shown")
        try:
            result = json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"{fault}: refract try ended with {done.returncode}: {done.stderr}") from None
        if result["status"] == "failed":
            return result["error"]
        if fault is None or result["answers"] == clean:
            return result["answers"] if fault is None else "same"
        return "as sent" if is_as_sent(result["answers"], self.sent["answers"]) else "misread"


def is_as_sent(answers, sent):
    """Whether every probability and every value is the one that the server sent."""
    for question in PRISM["questions"]:
        answer, original = answers[question["key"]], sent[question["key"]]
        if question["type"] == "yes_no":
            pairs = [(answer["probability"], original["noul"])]
        elif question["type"] == "choice":
            if answer["value"] != original["choice"]:
                return False
            pairs = list(paired(answer["probabilities"], original["probabilities"]))
        else:
            levels = [level["key"] for level in question["levels"]]
            by_key = {levels[int(index)] if index < str(len(levels)) else index: p for index, p in original["probabilities"].items()}
            pairs = list(paired(answer["probabilities"], by_key))
        if any(read is None or was is None or abs(read - was) > 1e-6 for read, was in pairs):
            return False
    return True


def paired(read, sent):
    return ((read.get(key), sent.get(key)) for key in {*read, *sent})


if __name__ == "__main__":
    main()
