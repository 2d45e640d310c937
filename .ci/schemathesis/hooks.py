"""What Schemathesis has to know of Refract beside docs/openapi.json, and checks of our own."""

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


@schemathesis.deserializer("text/csv", "text/tab-separated-values", "application/x-ndjson")
def as_text(_, response):
    """Rows are described as strings."""
    return response.content.decode("utf-8")


@schemathesis.hook
def before_load_schema(_, raw_schema):
    """The description is of every prism; here it is narrowed to the fields of the one that is called.

    Where a body has examples, Schemathesis tries no lengths and numbers at the edge; probes.py sends them.
    """
    create = raw_schema["paths"]["/prisms/{prism}/results"]["post"]
    del create["requestBody"]["content"]["application/json"]["examples"]
    create_call = raw_schema["components"]["schemas"]["CreateCall"]["properties"]
    fields = create_call["fields"]
    fields["properties"] = {"text": fields["additionalProperties"]}
    fields["required"] = ["text"]
    fields["additionalProperties"] = False
    # a long text is slow to make from a pattern: NUL is left to `allow-x00` and to probes.py
    for long in (raw_schema["components"]["schemas"]["FieldValue"], create_call["context"]):
        del long["pattern"]


@schemathesis.check
def media_type_is_as_described(_, response, case):
    """The check that is built in does not look at the charset."""
    if case.method == case.operation.method.upper():
        assert answer(response, case) in DESCRIBED, answer(response, case)


@schemathesis.check
def json_line_is_as_described(_, response, case):
    """`contentSchema` is an annotation for most validators."""
    if content_type(response).startswith("application/x-ndjson"):
        name = {200: "Row" if case.operation.method == "get" else "OkRow", 502: "FailedRow"}[response.status_code]
        row = json.loads(response.content)
        faults = description.faults({"$ref": f"#/components/schemas/{name}"}, row)
        assert not faults, faults
        own = ["result_id", "ref", "version", "status", "error", "created_at"]
        assert list(row)[: len(own)] == own, list(row)


@schemathesis.check
def table_is_a_header_and_a_row(_, response, __):
    """Read by a reader that is not ours."""
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
    """Counts what was answered, for the comparison with what is described."""
    if case.method == case.operation.method.upper():
        SEEN[answer(response, case)] += 1


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
