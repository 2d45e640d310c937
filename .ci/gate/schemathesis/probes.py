"""Fixed calls beside the generated ones: every format and every error. All checks apply to the answers."""

import schemathesis

import description
from server import PRISM

CREATE = ("/prisms/{prism}/results", "POST")
READ = ("/results/{result_id}", "GET")
RETRY = ("/results/{result_id}/retry", "POST")
FORMATS = ("json", "raw", "csv", "tsv", "jsonl", "")
BODY_BYTES = 1_048_576
TEXT = {"text": "Where is my order?"}


class Caller:
    """Calls one server and checks its answers against the description."""

    def __init__(self, server):
        self.server, self.calls = server, 0
        self.schema = schemathesis.openapi.from_path(description.PATH)
        self.authorized = {"Authorization": f"Bearer {server.refract.key}"}

    def call(self, operation, target, status, words, headers=None, data=None, content_type=None, **parts):
        """Makes one call; `data` is sent unchanged, with this content type."""
        path, method = operation
        name = "prism" if operation == CREATE else "result_id"
        case = self.schema[path][method].Case(path_parameters={name: target}, **parts)
        sent = dict(self.authorized if headers is None else headers)
        if content_type is not None:
            sent["Content-Type"] = content_type
        raw = {} if data is None else {"data": data}
        response = case.call(base_url=self.server.url, headers=sent, **raw)
        case.validate_response(response)
        assert (response.status_code, words in response.text) == (status, True), (status, words, response.text)
        self.calls += 1

    def create(self, target, status, words, body, **parts):
        """Makes one call with a JSON body. The description must allow every body that is answered."""
        if status in (200, 502):
            faults = description.faults({"$ref": "#/components/schemas/CreateCall"}, body)
            assert not faults, faults
        self.call(CREATE, target, status, words, body=body, media_type="application/json", **parts)

    def json(self, operation, target, status, words, data):
        self.call(operation, target, status, words, data=data, content_type="application/json")


def every_format(server, failed, status, word):
    """Runs each operation in each format; needs a failed result for each format."""
    caller = Caller(server)
    for format, result in zip(FORMATS, failed, strict=True):
        caller.create(PRISM, status, word, TEXT, query={"format": format})
        caller.call(READ, result, 200, "failed", query={"format": format})
        caller.call(RETRY, result, status, word, query={"format": format})
    return caller.calls


def every_example(server):
    """Sends the example bodies of the description."""
    caller = Caller(server)
    body = description.DOCUMENT["paths"][CREATE[0]]["post"]["requestBody"]["content"]["application/json"]
    for example in body["examples"].values():
        caller.create(PRISM, 200, '"status":"ok"', example["value"])
    return caller.calls


def every_limit(server):
    """Sends values of the greatest allowed length, which Schemathesis does not generate."""
    caller = Caller(server)
    for body in (
        {"text": "x" * 100_000},
        {"text": "", "context": "x" * 100_000},
        {**TEXT, "ref": f"\u3000{'é' * 200}\r\n", "idempotency_key": f" {'🚲' * 200}\t"},
        {"fields": {"text": ""}, "context": " \n"},
    ):
        caller.create(PRISM, 200, '"status":"ok"', body)
    return caller.calls


def every_refusal(server, archived, other, failed, of_archived):
    """Provokes every error. `failed` and `of_archived` are failed results, one of the archived prism."""
    caller = Caller(server)

    keyed = {**TEXT, "idempotency_key": "probe"}
    caller.create(PRISM, 200, '"status":"ok"', keyed)
    caller.create(PRISM, 200, '"status":"ok"', keyed)
    caller.create(other, 409, "already used for another prism.", keyed)
    caller.create(archived, 404, "Prism not found", TEXT)
    caller.create(PRISM, 404, "Prism version not found", {**TEXT, "version": 2})
    caller.create(PRISM, 400, "Unknown fields: txet", {"fields": {"text": "", "txet": ""}})
    caller.create(PRISM, 400, "Missing fields: text", {"fields": {"txet": ""}})
    caller.create(PRISM, 400, "Request too large: about ", {"text": "x" * 60_000, "context": "x" * 60_000})
    caller.create(PRISM, 400, "at most 100000 character(s)", {"text": "é" * 100_001})
    caller.create(PRISM, 400, "fields.text: must not contain NUL", {"fields": {"text": "a\0"}})
    caller.create(PRISM, 400, "context: must not contain NUL", {**TEXT, "context": "\0"})
    caller.create(PRISM, 401, "Authentication required", TEXT, headers={})
    caller.create(PRISM, 401, "Invalid API key", TEXT, headers={"Authorization": f"Bearer rk_{'x' * 32}"})
    # the body is checked before the key (section 4.1)
    caller.create(PRISM, 400, "send either fields or text", {}, headers={})
    caller.json(CREATE, PRISM, 400, "Malformed request", data=b"{")
    caller.call(CREATE, PRISM, 400, "Malformed request", data=b"text", content_type="text/plain")
    caller.json(CREATE, PRISM, 413, "Malformed request", data=b" " * (BODY_BYTES + 1))
    caller.call(CREATE, PRISM, 415, "Malformed request", data=b"<text/>", content_type="text/xml")

    caller.call(READ, of_archived, 200, "failed")
    caller.call(RETRY, of_archived, 404, "This prism is archived")
    caller.json(RETRY, failed, 400, "Malformed request", data=b"")
    caller.call(RETRY, failed, 413, "Malformed request", data=b" " * (BODY_BYTES + 1), content_type="text/plain")
    caller.call(RETRY, failed, 415, "Malformed request", data=b"", content_type="text/xml")
    caller.call(RETRY, failed, 200, '"status":"ok"', data=b"ignored", content_type="text/plain")
    caller.call(RETRY, failed, 409, "was already retried as ")
    return caller.calls
