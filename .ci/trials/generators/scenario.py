"""The calls that every generated Python client makes, and the values that they must bring.

`scenario.ts` makes the same calls with the TypeScript clients. A client comes as an adapter with the methods of
`Client`, which return a status and plain values: a dict for JSON, a string for csv, tsv and jsonl.
"""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple, Protocol

PRISM, OTHER_PRISM = "support-triage", "support-triage-2"
FORMATS = ("json", "raw", "csv", "tsv", "jsonl")
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
TEXT = EXPECTED["text"]
COMPARED: list[str] = []


class Answer(NamedTuple):
    status: int
    value: Any


class Client(Protocol):
    def create(self, prism: str, call: dict[str, Any], format: str) -> Answer: ...

    def read(self, id: str, format: str) -> Answer: ...

    def retry(self, id: str, format: str) -> Answer: ...


def check(name: str, client: Client, stranger: Client) -> None:
    """Makes every call. `stranger` is a client with a key that does not exist."""
    for format in FORMATS:
        ref = f"{name} {format}"
        call = {"text": TEXT} if format == "json" else {"fields": {"text": TEXT}}
        created = client.create(PRISM, {**call, "ref": ref, "idempotency_key": ref}, format)
        id = check_result(client, created, 200, format, TEXT, ref)
        same("a read", client.read(id, format), created)
        same("a repeat", client.create(PRISM, {**call, "idempotency_key": ref}, format), created)

        text = f"fail once: {ref}"
        failed = client.create(PRISM, {"text": text, "ref": ref}, format)
        failed_id = check_result(client, failed, 502, format, text, ref)
        same("a read of a failed result", client.read(failed_id, format), Answer(200, failed.value))
        retried = client.retry(failed_id, format)
        assert check_result(client, retried, 200, format, text, ref) != failed_id
        refused(client.retry(id, format), 409, "conflict", "Only a failed result can be retried.")

    unknown = {"text": EXPECTED["unknown_option"]}
    same("no option", client.create(PRISM, unknown, "json").value["answers"]["topic"], None)
    same("no option", client.create(PRISM, unknown, "raw").value["answers"]["topic"]["value"], None)

    misspelt = {"fields": {"txet": TEXT}}
    refused(client.create(PRISM, misspelt, "json"), 400, "validation_failed", "Missing fields: text")
    refused(stranger.read(id, "json"), 401, "unauthorized", "Invalid API key")
    refused(client.create("no-such-prism", {"text": TEXT}, "raw"), 404, "not_found", "Prism not found")
    held = {"text": TEXT, "idempotency_key": f"{name} json"}
    another = "This idempotency key was already used for another prism."
    refused(client.create(OTHER_PRISM, held, "csv"), 409, "conflict", another)
    print(f"{len(COMPARED)} comparisons")


def check_result(client: Client, answer: Answer, status: int, format: str, text: str, ref: str) -> str:
    """Compares every value of a result, and returns its id."""
    same("status", answer.status, status)
    ok = status == 200
    if format in ("json", "raw"):
        result = dict(answer.value)
        id = str(result.pop("id"))
        saved = datetime.fromisoformat(str(result.pop("created_at")))
        assert timedelta() <= datetime.now(timezone.utc) - saved < timedelta(minutes=10), saved
        assert result.pop("took_ms") >= 0
        expected = {
            "ref": ref,
            "prism": PRISM,
            "version": 1,
            "status": "ok" if ok else "failed",
            "error": None if ok else EXPECTED["failed"],
            "answers": EXPECTED[format] if ok else None,
        }
        same(format, result, expected)
        return id
    id = result_id(answer.value, format)
    envelope = client.read(id, "json").value
    saved = datetime.fromisoformat(str(envelope["created_at"])).astimezone(timezone.utc)
    created_at = saved.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    error = None if ok else EXPECTED["failed"]
    columns = EXPECTED["json"]
    if format == "jsonl":
        answers = columns if ok else dict.fromkeys(columns)
        row = {"result_id": id, "ref": ref, "version": 1, "status": envelope["status"], "error": error}
        row |= {"created_at": created_at, "text": text, **answers}
        same(format, answer.value, json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    else:
        header = ["result_id", "ref", "version", "status", "error", "created_at", "text", *columns]
        cells = EXPECTED["cells"] if ok else [""] * len(columns)
        row_cells = [id, ref, "1", envelope["status"], error or "", created_at, text, *cells]
        separator, end = (",", "\r\n") if format == "csv" else ("\t", "\n")
        same(format, answer.value, "".join(separator.join(line) + end for line in (header, row_cells)))
    return id


def result_id(text: str, format: str) -> str:
    if format == "jsonl":
        return str(json.loads(text)["result_id"])
    return text.split("\n")[1].split("," if format == "csv" else "\t")[0]


def refused(answer: Answer, status: int, code: str, message: str) -> None:
    same("an error", answer, Answer(status, {"error": {"code": code, "message": message}}))


def same(what: str, value: object, expected: object) -> None:
    assert value == expected, f"{what}: {value!r} instead of {expected!r}"
    COMPARED.append(what)
