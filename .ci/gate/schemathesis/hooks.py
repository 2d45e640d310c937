"""What Schemathesis needs to know besides docs/openapi.json, and additional checks."""

import atexit
import csv
import io
import json
import os
from collections import Counter

import schemathesis

import description

DESCRIBED = set(description.answers())
SEEN = Counter()
# idempotency keys that hold a result
HELD = set()


@schemathesis.deserializer("text/csv", "text/tab-separated-values", "application/x-ndjson")
def as_text(_, response):
    """Deserializes rows as text, since the description has them as strings."""
    return response.content.decode("utf-8")


@schemathesis.hook
def before_load_schema(_, raw_schema):
    """Makes the description exact, and narrows it from every prism to the fields of the one that is called.

    The examples are removed, since with examples Schemathesis tries no values at the edges of limits, and
    sends one idempotency key again and again; probes.py sends the examples.
    """
    description.exact(raw_schema)
    create = raw_schema["paths"]["/prisms/{prism}/results"]["post"]
    del create["requestBody"]["content"]["application/json"]["examples"]
    schemas = raw_schema["components"]["schemas"]
    for named in (schemas["Ref"], schemas["IdempotencyKey"]):
        del named["example"]
    fields = schemas["FieldsCall"]["properties"]["fields"]
    fields["properties"] = {"text": fields["additionalProperties"]}
    fields["required"] = ["text"]
    fields["additionalProperties"] = False
    # generating long texts from a pattern is slow; `allow-x00` and probes.py cover NUL instead
    for long in (schemas["FieldValue"], schemas["CallContext"]):
        del long["pattern"]


@schemathesis.hook
def before_call(_, case, __):
    """Takes a held idempotency key out of a call that shall be refused: for a held key the server ignores fields."""
    body = case.body
    refused = case.meta is not None and case.meta.generation.mode.is_negative
    if refused and isinstance(body, dict) and trimmed_key(body) in HELD:
        case.body = {name: value for name, value in body.items() if name != "idempotency_key"}


@schemathesis.check
def media_type_is_as_described(_, response, case):
    """Compares the whole media type: the built-in check ignores the charset."""
    if case.method == case.operation.method.upper():
        assert answer(response, case) in DESCRIBED, answer(response, case)


@schemathesis.check
def json_line_is_as_described(_, response, case):
    """Checks rows of jsonl against `contentSchema`, which most validators ignore."""
    if content_type(response).startswith("application/x-ndjson"):
        name = {200: "Row" if case.operation.method == "get" else "OkRow", 502: "FailedRow"}[response.status_code]
        row = json.loads(response.content)
        faults = description.faults({"$ref": f"#/components/schemas/{name}"}, row)
        assert not faults, faults
        own = ["result_id", "ref", "version", "status", "error", "created_at"]
        assert list(row)[: len(own)] == own, list(row)


@schemathesis.check
def table_is_a_header_and_a_row(_, response, __):
    """Reads rows with an independent CSV reader."""
    text = response.content.decode("utf-8")
    if content_type(response).startswith("text/csv"):
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    elif content_type(response).startswith("text/tab-separated-values"):
        rows = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    else:
        return
    assert len(rows) == 2 and len(rows[0]) == len(rows[1]), rows


@schemathesis.hook
def after_call(_, case, response):
    """Counts the answers, to find those that are described but never given, and keeps the keys that hold a result."""
    if case.method == case.operation.method.upper():
        SEEN[answer(response, case)] += 1
    if response.status_code in (200, 502) and isinstance(case.body, dict):
        HELD.add(trimmed_key(case.body))
        HELD.discard(None)


def trimmed_key(body):
    """The idempotency key of a body as the server keeps it; None where there is none."""
    key = body.get("idempotency_key")
    return key.strip() if isinstance(key, str) else None


@atexit.register
def write_seen():
    path = os.environ.get("CHECK_API_SEEN")
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(SEEN, file)


def answer(response, case):
    return f"{case.operation.label} {response.status_code} {content_type(response)}"


def content_type(response):
    return (response.headers.get("content-type") or [""])[0]
